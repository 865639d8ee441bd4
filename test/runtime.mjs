import { fileURLToPath } from 'node:url';
import Runtime from 'jest-runtime';

/** Loads packages once for all test files of a worker. They share a context too, see `environment.mjs`. */
export default class SharingRuntime extends Runtime {
  constructor(...parts) {
    super(...parts);
    packages ??= openPackages(parts);
    this.registries.esModuleRegistry = new Modules();
  }

  /** A mock applies to packages too, so this file loads packages of its own from now on. */
  setModuleMock(...parts) {
    this.registries.esModuleRegistry.sharesPackages = false;
    super.setModuleMock(...parts);
  }

  /** Loads modules of Jest: `expect` and what it needs are shared, jest-circus itself is not. */
  requireInternalModule(from, to) {
    return to ? packages.requireInternal(from, to) : super.requireInternalModule(from);
  }
}

/** The loader of packages of this worker. It is never torn down, because packages import some of their files late. */
let packages;

function openPackages([config, environment, resolver, transformer, , ...rest]) {
  const runtime = new Runtime(config, environment, resolver, transformer, new Map(), ...rest);
  const context = environment.getVmContext();
  return {
    load(path) {
      return runtime.unstable_shouldLoadAsEsm(path)
        ? runtime.esmLoader.tryLoadGraphSync(path, '', 'sync-required')
        : runtime.esmLoader.loadCjsAsEsm(path, path, '', context);
    },
    requireInternal: (from, to) => runtime.requireInternalModule(from, to),
  };
}

/** The ES modules of a test file, by URL. */
class Modules extends Map {
  sharesPackages = true;

  get(url) {
    if (this.sharesPackages && !this.has(url) && isPackage(url)) this.set(url, packages.load(fileURLToPath(url)));
    return super.get(url);
  }
}

function isPackage(url) {
  return url.startsWith('file:') && url.includes('/node_modules/') && !url.endsWith('.json');
}
