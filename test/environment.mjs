import { createRequire } from 'node:module';
import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

/**
 * V8's code cache of each module, by its path. Jest compiles each module again for each test file of a worker. A module
 * gets its cache when it is compiled for the second time, because making one takes as long as compiling. The cache is a
 * copy, because the original belongs to the context of a test file and would keep all of its memory.
 */
const codeCaches = new Map();

const { compileFunction, SourceTextModule } = vm;
vm.compileFunction = (code, parameters, options) => {
  const cache = codeCacheOf(options.filename, code);
  const compiled = compileFunction(code, parameters, {
    ...options,
    cachedData: cache.data,
    produceCachedData: cache.isMissing,
  });
  if (cache.isMissing) cache.data = copyOf(compiled.cachedData);
  return compiled;
};
vm.SourceTextModule = function (code, options) {
  const cache = codeCacheOf(options.identifier, code);
  const compiled = new SourceTextModule(code, { ...options, cachedData: cache.data });
  if (cache.isMissing) cache.data = copyOf(compiled.createCachedData());
  return compiled;
};
vm.SourceTextModule.prototype = SourceTextModule.prototype;

/** Files of packages that Jest has read, by their path. Jest itself reads them again for each test file. */
const packageFiles = new Map();
const gracefulFs = createRequire(import.meta.url)('graceful-fs');
const { readFileSync } = gracefulFs;
gracefulFs.readFileSync = (path, options) => {
  if (options !== undefined || !/\/node_modules\/.*\.[cm]?js$/.test(path)) return readFileSync(path, options);
  if (!packageFiles.has(path)) packageFiles.set(path, readFileSync(path));
  return packageFiles.get(path);
};

/**
 * A Jest environment for Node whose global object is an ordinary object. In Jest's own environment, each use of a
 * global name such as `Array` calls a proxy. That takes half of the time of busy code such as the AWS SDK.
 */
export default class Environment extends TestEnvironment {
  constructor(config, context) {
    const { createContext } = vm;
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(config, context);
    } finally {
      vm.createContext = createContext;
    }
    this.global.requireShared = createRequire(import.meta.url);
    if (process.env.JUMPING_CLOCK) letClockJump(this.global);
  }

  async setup() {
    await super.setup();
    // Jest sets 100. The CDK formats a stack trace for each construct, and runs outside of the test's context.
    Error.stackTraceLimit = 10;
    // Jest's own formatting looks for a source map of each file in the trace. No file has one: types become blanks.
    Error.prepareStackTrace = undefined;
  }
}

const copyOf = (data) => data && Buffer.from(data);

/** Returns the cache of a module. `isMissing` tells the caller to make it. */
function codeCacheOf(path, code) {
  const cache = codeCaches.get(path);
  if (cache?.code === code) return Object.assign(cache, { isMissing: cache.data === undefined });
  const added = { code, data: undefined, isMissing: false };
  codeCaches.set(path, added);
  return added;
}

/**
 * Each reading of the clock is up to a second later than the one before, as on a machine that is suspended again and
 * again. A test that passes here does not need two readings in the same second.
 */
function letClockJump(global) {
  let ahead = 0;
  global.Date = class extends global.Date {
    static now() {
      return super.now() + Math.floor((ahead += Math.random() * 1_000));
    }

    constructor(...parts) {
      super(...(parts.length > 0 ? parts : [global.Date.now()]));
    }
  };
}
