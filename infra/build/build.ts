import { globSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import type { Asset } from '../../lib/app/asset.ts';
import { endpointId, sourceFile } from '../../lib/app/endpoint.ts';
import { isTwin, type Routed } from '../../lib/app/page.ts';
import { type Worker, workerFile, workerId } from '../../lib/app/worker.ts';
import { DEFAULT_FUNCTION } from '../constructs/names.ts';

/** The root folder of the project. Paths of entries, and paths in the metafile, are relative to this folder. */
export const projectDir = resolve(import.meta.dirname, '../..');

/** The source file of each function, by function id. */
export type Entries = Readonly<Record<string, string>>;

export interface Build {
  /** esbuild's report of the files in each bundle. */
  readonly metafile: Metafile;
  /** Returns the folder to upload for a function. */
  folder(id: string): string;
}

/**
 * Returns the source files to bundle: one for each endpoint, one for each worker, and the function of the `$default`
 * route. A twin is the same operation in the other version of the API. It has no file, because the endpoint's function
 * answers it too.
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

/**
 * Returns the same as `bundleEntries` for all endpoints and workers. It derives them from the names of files, and loads
 * no modules.
 */
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
 * Bundles each function into `<outdir>/<id>/index.mjs`. Dots in the id become hyphens. One esbuild call bundles all functions,
 * so shared files are parsed once. Writes the files of assets next to their bundles. Deletes the old contents of `outdir`.
 */
export async function buildFunctions({
  entries,
  assets = [],
  fileText = noFile,
  outdir,
}: {
  entries: Entries;
  assets?: readonly Pick<Asset, 'path' | 'files'>[] | Promise<readonly Pick<Asset, 'path' | 'files'>[]>;
  /** Returns the text of a generated file, such as the OpenAPI document. It is written beside the bundle of each asset that needs it. */
  fileText?: (name: string) => Promise<string>;
  outdir: string;
}): Promise<Build> {
  const target = targetOf(outdir);
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  // esbuild is a Go program, and needs nearly all of its memory until its end. Garbage collection would take a quarter
  // of its time and save a tenth of its memory, so it is switched off.
  process.env.GOGC ??= 'off';
  const { metafile } = await build({
    absWorkingDir: projectDir,
    entryPoints: Object.entries(entries).map(([id, file]) => ({ in: file, out: `${folderName(id)}/index` })),
    outdir: target,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    minify: true,
    // This option makes bundles 6 % larger, but keeps the names of functions in stack traces.
    keepNames: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // This option selects the ESM build of packages that also have a CommonJS build. The ESM build has half the size
    // and half the load time.
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
  // The metafile is not in a function's folder, because it would change the hash of the upload.
  await writeFile(join(target, METAFILE), JSON.stringify(metafile));
  return { metafile, folder: (id) => join(target, folderName(id)) };
}

/**
 * Modules that the AWS SDK loads with `import()` at their first use, and that no function uses. Lambda puts credentials into the
 * environment, where the SDK looks first. Its other sources (profiles, SSO, web identity, metadata of instances) do not exist in
 * Lambda. No call of the service has a stream of events.
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

/** Leaves `omittedModules` out of bundles. The `import()` stays, and would fail if a function reached it. */
const omitUnusedModules: Plugin = {
  name: 'omit-unused-modules',
  setup(bundler) {
    bundler.onResolve({ filter: /^@(aws-sdk|smithy)\// }, ({ path, kind }) =>
      kind === 'dynamic-import' && omittedModules.includes(path) ? { path, external: true } : undefined,
    );
  },
};

/**
 * Makes bundles load the modules of Node with `getBuiltinModule`, and read only the exports that they use. An `import`
 * reads all exports, and reading some of them loads further modules. For example, reading `WebSocket` of `node:http`
 * loads undici.
 */
const loadBuiltinModules: Plugin = {
  name: 'load-builtin-modules',
  setup(bundler) {
    const namespace = 'builtin';
    bundler.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace, sideEffects: false } : undefined,
    );
    bundler.onLoad({ filter: /^node:/, namespace }, ({ path }) => ({ contents: builtinExports(path) }));
    // The SDK loads `node:http` with `import()`. esbuild reads the exports of a CommonJS module one by one, at their use.
    const onDemand = 'builtin-on-demand';
    bundler.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path, namespace: onDemand } : undefined,
    );
    bundler.onLoad({ filter: /^node:/, namespace: onDemand }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}');`,
    }));
  },
};

/**
 * Returns the source of an ES module with the same exports as a module of Node. esbuild drops each export that a bundle
 * does not use. A bundle reads the other exports once, when it is loaded.
 */
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

/** Returns the build in `outdir`. This process or an earlier one wrote it. */
export async function readBuilt(outdir: string): Promise<Build> {
  const target = targetOf(outdir);
  const metafile = JSON.parse(await readFile(join(target, METAFILE), 'utf8')) as Metafile;
  return { metafile, folder: (id) => join(target, folderName(id)) };
}

const METAFILE = 'metafile.json';

function targetOf(outdir: string): string {
  return isAbsolute(outdir) ? outdir : join(projectDir, outdir);
}

/** Returns the id with hyphens instead of dots, because CDK would take the text after the last dot for a file extension. */
function folderName(id: string): string {
  return id.replaceAll('.', '-');
}
