import { globSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import type { Asset } from '../../lib/app/asset.ts';
import { endpointId, sourceFile } from '../../lib/app/endpoint.ts';
import { isTwin, type Routed } from '../../lib/app/page.ts';
import { type Worker, workerFile, workerId } from '../../lib/app/worker.ts';
import { DEFAULT_FUNCTION } from '../constructs/names.ts';

/** Paths of entries, and paths in the metafile, are relative to this folder. */
export const projectDir = resolve(import.meta.dirname, '../..');

/** Source files by function id. */
export type Entries = Readonly<Record<string, string>>;

export interface Build {
  /** esbuild's report of the files in each bundle. */
  readonly metafile: Metafile;
  folder(id: string): string;
}

/**
 * Includes the function of the `$default` route. A twin has no file, because the function of its endpoint answers it
 * too.
 */
export function bundleEntries(endpoints: readonly Routed[], workers: readonly Pick<Worker, 'name'>[] = []): Entries {
  return {
    [DEFAULT_FUNCTION]: 'functions/default.ts',
    ...Object.fromEntries(
      endpoints.filter((endpoint) => !isTwin(endpoint)).map(({ path }) => [endpointId(path), sourceFile(path)]),
    ),
    ...Object.fromEntries(workers.map(({ name }) => [workerId(name), workerFile(name)])),
  };
}

/** Derives the entries of all functions from the names of files, and loads no modules. */
export function findEntries(): Entries {
  const registries = ['index', 'pages', 'workers/index'];
  const names = globSync('**/*.ts', { cwd: join(projectDir, 'functions') }).map((file) => file.slice(0, -'.ts'.length));
  return Object.fromEntries(
    names
      .filter((name) => !registries.includes(name))
      .sort()
      .map((name) => [
        name
          .replace(/^workers\//, 'worker/')
          .split('/')
          .join('.'),
        `functions/${name}.ts`,
      ]),
  );
}

/**
 * Bundles each function into `<outdir>/<id>/index.mjs`, with hyphens for the dots of the id. One esbuild call bundles
 * all, so shared files are parsed once. Deletes the old contents of `outdir`.
 */
export async function buildFunctions({
  entries,
  assets = [],
  fileText = noFile,
  outdir,
}: {
  entries: Entries;
  assets?: readonly Pick<Asset, 'path' | 'files'>[] | Promise<readonly Pick<Asset, 'path' | 'files'>[]>;
  /** Returns the text of a generated file, which is written beside the bundle of each asset that needs it. */
  fileText?: (name: string) => Promise<string>;
  outdir: string;
}): Promise<Build> {
  const target = targetOf(outdir);
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  // Garbage collection of esbuild, a Go program, would take a quarter of its time and save a tenth of its memory.
  process.env.GOGC ??= 'off';
  const { metafile } = await build({
    absWorkingDir: projectDir,
    entryPoints: Object.entries(entries).map(([id, file]) => ({ in: file, out: `${folderName(id)}/index` })),
    outdir: target,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    minify: true,
    // Makes bundles 6 % larger, but keeps the names of functions in stack traces.
    keepNames: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // The ESM builds of the AWS SDK are smaller and load faster than its CommonJS builds.
    mainFields: ['module', 'main'],
    plugins: [loadBuiltinModules, omitUnusedModules],
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  const assetFiles = (await assets).flatMap(({ path, files }) =>
    files.map((name) => ({ name, folder: join(target, folderName(endpointId(path))) })),
  );
  await Promise.all(assetFiles.map(async ({ name, folder }) => writeFile(join(folder, name), await fileText(name))));
  // In a function's folder, the metafile would change the hash of the upload.
  await writeFile(join(target, METAFILE), JSON.stringify(metafile));
  return { metafile, folder: (id) => join(target, folderName(id)) };
}

/**
 * Modules that the AWS SDK imports at their first use, and that no function uses. Lambda puts credentials into the
 * environment, where the SDK looks first. The SDK's other sources of credentials do not exist in Lambda. No AWS call of
 * the service streams events.
 */
export const omittedModules: readonly string[] = [
  '@aws-sdk/credential-provider-http',
  '@aws-sdk/credential-provider-ini',
  '@aws-sdk/credential-provider-process',
  '@aws-sdk/credential-provider-sso',
  '@aws-sdk/credential-provider-web-identity',
  '@aws-sdk/nested-clients/sso-oidc',
  '@smithy/core/event-streams',
  '@smithy/credential-provider-imds',
];

/** The `import()` of an omitted module stays, and would fail if a function reached it. */
const omitUnusedModules: Plugin = {
  name: 'omit-unused-modules',
  setup(bundler) {
    bundler.onResolve({ filter: /^@(aws-sdk|smithy)\// }, ({ path, kind }) =>
      kind === 'dynamic-import' && omittedModules.includes(path) ? { path, external: true } : undefined,
    );
  },
};

/**
 * An `import` of a module of Node reads all exports, and reading some of them loads further modules: `WebSocket` of
 * `node:http` loads undici. With `getBuiltinModule`, bundles read only the exports that they use.
 */
const loadBuiltinModules: Plugin = {
  name: 'load-builtin-modules',
  setup(bundler) {
    const namespace = 'builtin';
    bundler.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace, sideEffects: false } : undefined,
    );
    bundler.onLoad({ filter: /^node:/, namespace }, ({ path }) => ({ contents: builtinExports(path) }));
    // The SDK loads `node:http` with `import()`, which keeps all exports of an ES module and so reads all of them. For
    // a CommonJS module, esbuild makes a getter of each export, so only the exports that the SDK uses are read.
    const onDemand = 'builtin-on-demand';
    bundler.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path, namespace: onDemand } : undefined,
    );
    bundler.onLoad({ filter: /^node:/, namespace: onDemand }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}');`,
    }));
  },
};

/** Returns the source of an ES module with the same exports. esbuild drops each export that a bundle does not use. */
function builtinExports(path: string): string {
  const names = Object.keys(process.getBuiltinModule(path) as object);
  return [
    `const $module = /* @__PURE__ */ process.getBuiltinModule('${path}');`,
    'const $read = (name) => $module[name];',
    'export default $module;',
    ...names.map((name) => `export const ${name} = /* @__PURE__ */ $read('${name}');`),
  ].join('\n');
}

function noFile(name: string): Promise<string> {
  throw new Error(`There is no function that makes the file ${name}`);
}

/** Returns a build that this process or an earlier process wrote. */
export async function readBuilt(outdir: string): Promise<Build> {
  const target = targetOf(outdir);
  const metafile = JSON.parse(await readFile(join(target, METAFILE), 'utf8')) as Metafile;
  return { metafile, folder: (id) => join(target, folderName(id)) };
}

const METAFILE = 'metafile.json';

function targetOf(outdir: string): string {
  return isAbsolute(outdir) ? outdir : join(projectDir, outdir);
}

/** The CDK would take the text after the last dot for a file extension. */
function folderName(id: string): string {
  return id.replaceAll('.', '-');
}
