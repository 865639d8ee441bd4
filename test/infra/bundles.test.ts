import { execFileSync } from 'node:child_process';
import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Build,
  buildFunctions,
  bundleEntries,
  findEntries,
  omittedModules,
  projectDir,
  readBuilt,
} from '../../infra/build/build.ts';
import { projectContext } from '../../infra/build/projectContext.ts';
import { registeredAssets, registeredRoutes, registeredWorkers } from '../../infra/build/registry.ts';
import { synthesise } from '../../infra/build/synthesise.ts';
import { DEFAULT_FUNCTION } from '../../infra/constructs/names.ts';
import { cachedAssembly } from '../../infra/local/assembly/assemblyCache.ts';
import { assemblySettings } from '../../infra/local/assembly/assemblySettings.ts';
import type { Capability } from '../../lib/app/capability.ts';
import { endpointId } from '../../lib/app/endpoint.ts';
import type { Routed } from '../../lib/app/page.ts';
import { workerId } from '../../lib/app/worker.ts';
import { capabilitiesOf } from '../../lib/http/capabilities.ts';
import { workerCapabilities } from '../../lib/workers/capabilities.ts';
import { validationOptions } from '../support/templateViolations.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { ownFunctions, registered } from './endpoints.ts';

const MAX_BYTES = 555_000;
/**
 * The limit for workers in bytes. It is higher than for endpoints, because no caller waits for the start of a worker.
 * Some contain the SDK for SES or Bedrock, and one contains the steps of all jobs, all kinds of content and the
 * collection of entries.
 */
const MAX_WORKER_BYTES = 720_000;
/** The limit in bytes for functions that contain Yjs, which has 76 kB. Some also contain an XML parser of 28 kB. */
const MAX_EDITOR_BYTES = 590_000;
/**
 * The limit in bytes for functions that contain the SDK for Bedrock or SES, which has 220 kB. One also contains the readers of XLSX
 * and CSV, which have 67 kB.
 */
const MAX_SDK_BYTES = 590_000;
/** What the parser of HTML adds to a function, in bytes. A function loads it with the first markup. */
const MAX_PARSER_BYTES = 185_000;
const folder = temporaryFolder();
const entries = bundleEntries(registeredRoutes(), registeredWorkers());
const deployed = join(folder, 'deployed');

/** Runs the CDK app as the CDK CLI does. The output folder and the context are in environment variables. */
function runApp(outdir: string, context: Record<string, unknown>): void {
  const environment = { CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: JSON.stringify(context) };
  execFileSync(process.execPath, [...validationOptions, 'infra/app.ts'], {
    cwd: projectDir,
    env: { ...process.env, ...environment },
    stdio: 'pipe',
  });
}

let built: Build;
beforeAll(async () => {
  // All tests share the app's bundles, because bundling takes as long as ten tests.
  runApp(deployed, projectContext());
  built = await readBuilt('dist/functions');
});

/** Returns the size limit of a function's bundle in bytes. */
function budgetOf(id: string): number {
  return budgetWithoutParser(id) + (hasParser(id) ? MAX_PARSER_BYTES : 0);
}

const hasParser = (id: string) => bundleOf(id).files.some((file) => file.includes('node_modules/parse5/'));

function budgetWithoutParser(id: string): number {
  if (id.startsWith('worker.')) return MAX_WORKER_BYTES;
  if (id.startsWith('v2.crdt.')) return MAX_EDITOR_BYTES;
  return clientsIn(bundleOf(id).files).some((client) => /sesv2|bedrock/.test(client)) ? MAX_SDK_BYTES : MAX_BYTES;
}

/** Returns what esbuild reports about a function's bundle. */
function bundleOf(id: string) {
  const [output, ...more] = Object.entries(built.metafile.outputs).filter(([file]) =>
    file.endsWith(`/${basename(built.folder(id))}/index.mjs`),
  );
  if (!output || more.length > 0) throw new Error(`${id}: not exactly one bundle`);
  return { ...output[1], files: Object.keys(output[1].inputs) };
}

const clientsIn = (files: string[]) =>
  [...new Set(files.flatMap((file) => /@aws-sdk\/(client-[a-z0-9-]+)/.exec(file)?.[1] ?? []))].sort();

/** The SDK client that calls each kind of resource. The service publishes to live channels with `fetch`. */
const clientOfKind: Readonly<Record<string, string>> = {
  table: 'client-dynamodb',
  index: 'client-dynamodb',
  queue: 'client-sqs',
  secret: 'client-secrets-manager',
  mail: 'client-sesv2',
  model: 'client-bedrock-runtime',
};

/** Returns the SDK clients that capabilities need. */
function neededClients(capabilities: readonly Capability<unknown>[]): string[] {
  const kinds = capabilities.flatMap(({ grants }) => grants).map(({ resource }) => resource.split('/')[0]!);
  return [...new Set(kinds.flatMap((kind) => clientOfKind[kind] ?? []))].sort();
}

describe.each(Object.entries(entries))('the bundle of %s', (id, file) => {
  test('imports no module of Node, and does not read its WebSocket', () => {
    // Something that uses a whole module, such as `secure ? https : http`, would read all its exports.
    expect(bundleOf(id).imports.filter(({ kind }) => kind === 'import-statement')).toEqual([]);
    expect(readFileSync(join(built.folder(id), 'index.mjs'), 'utf8')).not.toContain('("WebSocket")');
  });

  test('contains one file of the functions folder: the file that defines the function', () => {
    expect(bundleOf(id).files.filter((name) => name.startsWith('functions/'))).toEqual([file]);
  });

  test('is below its size limit', () => {
    expect(bundleOf(id).bytes).toBeLessThanOrEqual(budgetOf(id));
  });

  test('exports a handler, and contains no other files except declared assets', () => {
    expect(bundleOf(id).exports).toContain('handler');
    const read = registeredAssets().find(({ path }) => endpointId(path) === id)?.files ?? [];
    expect(readdirSync(built.folder(id)).sort()).toEqual(['index.mjs', ...read].sort());
  });

  test('is an ES module without dynamic require', () => {
    expect(readFileSync(join(built.folder(id), 'index.mjs'), 'utf8')).not.toContain('Dynamic require of');
  });

  test('leaves out only the modules of the SDK that no function uses', () => {
    const left = bundleOf(id).imports.map(({ path }) => path);
    expect(left.filter((path) => !omittedModules.includes(path))).toEqual([]);
    expect(
      bundleOf(id).files.filter((name) =>
        /credential-provider-(http|ini|process|sso|web|imds)|nested-clients/.test(name),
      ),
    ).toEqual([]);
  });
});

const declared: [id: string, capabilities: Capability<unknown>[]][] = [
  ...ownFunctions.map(
    (endpoint: Routed) => [endpointId(endpoint.path), capabilitiesOf(endpoint)] as [string, Capability<unknown>[]],
  ),
  ...registeredWorkers().map(
    (worker) => [workerId(worker.name), workerCapabilities(worker)] as [string, Capability<unknown>[]],
  ),
];

describe.each(declared)('%s', (id, capabilities) => {
  test('contains exactly the clients of the AWS SDK that its capabilities need', () => {
    expect(clientsIn(bundleOf(id).files)).toEqual(neededClients(capabilities));
  });
});

describe.each(ownFunctions.map(({ path }) => endpointId(path)))('%s', (id) => {
  test('contains no code that only workers use, such as the queue message loop and delivery metrics', () => {
    expect(
      bundleOf(id).files.filter((file) =>
        /^lib\/(workers\/(lambda|handle\w+|runUntil)|app\/worker|observability\/(measures|deliveryMetrics))\.ts$|powertools\/batch/.test(
          file,
        ),
      ),
    ).toEqual([]);
  });
});

test('bundles contain each package as installed: the build replaces none by another file', () => {
  const imports = Object.values(built.metafile.inputs).flatMap((input) => input.imports);
  const packages = imports.flatMap(({ original = '', path, external }) => {
    const [name] = /^(@[^/]+\/)?[a-z][^/:]*(?=\/|$)/.exec(original) ?? [];
    return name && !external ? [{ name, path }] : [];
  });
  expect(packages.length).toBeGreaterThan(100);
  expect(packages.filter(({ name, path }) => !path.includes(`node_modules/${name}/`))).toEqual([]);
});

test("a bundle has the same exports of Node's modules as an import", async () => {
  const modules = ['node:crypto', 'node:dns/promises', 'node:fs', 'node:http', 'node:https', 'node:util', 'node:zlib'];
  const entry = join(folder, 'modules.ts');
  writeFileSync(entry, modules.map((name, index) => `export * as module${index} from '${name}';`).join('\n'));
  const { folder: folderOf } = await buildFunctions({ entries: { modules: entry }, outdir: join(folder, 'modules') });
  const bundle = (await import(join(folderOf('modules'), 'index.mjs'))) as Record<string, Record<string, unknown>>;
  for (const [index, name] of modules.entries()) {
    const imported = { ...((await import(name)) as Record<string, unknown>) };
    const names = Object.keys(imported);
    expect(Object.keys(bundle[`module${index}`]!).sort()).toEqual(names.sort());
    expect(names.filter((key) => bundle[`module${index}`]![key] !== imported[key])).toEqual([]);
  }
});

test('only functions that store markup of users or send mails contain the parser of HTML', () => {
  expect(Object.keys(entries).filter(hasParser).sort()).toEqual([
    'v2.commentannotations.add',
    'v2.commentannotations.comments.add',
    'v2.commentannotations.comments.update',
    'v2.commentannotations.update',
    'v2.livestate.broadcast',
    'worker.sendEmail',
  ]);
});

test('the bundle of unknown paths contains no zod, because it uses no module that needs zod', () => {
  expect(bundleOf(DEFAULT_FUNCTION).files.filter((file) => file.startsWith('node_modules/zod/'))).toEqual([]);
});

test('a bundle contains no schema of lib/shared/schema.ts that its function does not use', () => {
  const text = (id: string) => readFileSync(join(built.folder(id), 'index.mjs'), 'utf8');
  const message = 'must not be given together with documentId';
  expect(text('v2.organizations.get')).not.toContain(message);
  expect(text('v2.users.get')).toContain(message);
});

describe('the registry', () => {
  test('contains the same functions as the files in the functions folder', () => {
    expect(findEntries()).toEqual(entries);
  });

  test('has no two endpoints with the same path', () => {
    expect(new Set(registered.map(({ path }) => path)).size).toBe(registered.length);
  });

  test('has no two workers with the same name', () => {
    expect(new Set(registeredWorkers().map(({ name }) => name)).size).toBe(registeredWorkers().length);
    for (const { name } of registeredWorkers()) expect(name).toMatch(/^[a-z][a-zA-Z]+$/);
  });

  test('contains every file below functions/ except the registries', () => {
    const registries = ['index', 'pages', 'workers/index'].map((name) => `functions/${name}.ts`);
    expect(globSync('functions/{*.ts,*/**/*.*}', { cwd: projectDir }).sort()).toEqual(
      [...Object.values(entries), ...registries].sort(),
    );
  });
});

describe('the app', () => {
  test('writes a manifest with one root stack to the folder that the CLI expects', () => {
    const { artifacts } = JSON.parse(readFileSync(join(deployed, 'manifest.json'), 'utf8')) as {
      artifacts: Record<string, { type: string }>;
    };
    const stacks = Object.entries(artifacts)
      .filter(([, { type }]) => type === 'aws:cloudformation:stack')
      .map(([id]) => id);
    expect(stacks).toEqual(['CollaborationBackend']);
  });
});

describe('synthesise', () => {
  test('writes identical assemblies for identical sources, so that nothing unchanged is deployed', async () => {
    // The local run, which is another process, wrote the second assembly.
    const [first, second] = [join(folder, 'first'), await cachedAssembly(() => undefined)];
    await synthesise({ outdir: first, settings: assemblySettings({ hasHeartbeat: false }), built });
    const names = readdirSync(first).filter((name) => name.endsWith('.template.json') || name.startsWith('asset.'));
    expect(readdirSync(second)).toEqual(expect.arrayContaining(names));
    // The settings of this deployment have no heartbeat.
    const deployedIds = Object.keys(entries).filter((id) => id !== workerId('heartbeat'));
    expect(names.filter((name) => name.startsWith('asset.'))).toHaveLength(deployedIds.length);
    for (const name of names.filter((candidate) => candidate.endsWith('.json'))) {
      expect(readFileSync(join(second, name), 'utf8')).toBe(readFileSync(join(first, name), 'utf8'));
    }
  });

  test('uses given settings instead of those in cdk.json, and names invalid settings', async () => {
    const { assemblyDir } = await synthesise({
      outdir: join(folder, 'named'),
      settings: { serviceName: 'acme', workspaceCreation: 'open' },
      built,
    });
    const template = JSON.parse(readFileSync(join(assemblyDir, 'CollaborationBackend.template.json'), 'utf8'));
    expect(template.Resources.Unmatched.Properties.Environment.Variables).toEqual({ SERVICE_NAME: 'acme' });
    await expect(synthesise({ outdir: join(folder, 'wrong'), settings: { serviceName: 'A' }, built })).rejects.toThrow(
      'serviceName: must be',
    );
  });
});
