import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import ts from 'typescript';
import * as registry from '../../functions/index.ts';
import { projectDir } from '../../infra/build/build.ts';
import { buildClientPackage, type ClientPackage, packClient } from '../../infra/build/clientPackage.ts';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

const folder = temporaryFolder();
const outdir = join(folder, 'package');
let built: ClientPackage;
beforeAll(async () => {
  built = await buildClientPackage(Object.entries<Endpoint>(registry), outdir, { serviceName: 'acme-docs' });
  symlinkSync(join(projectDir, 'node_modules'), join(folder, 'node_modules'));
});

/** Returns the modules outside the package that a file imports. Follows imports of the package's own chunks. */
function importsOf(name: string): string[] {
  const text = readFileSync(join(outdir, name), 'utf8');
  const imports = [...text.matchAll(/(?:from|import)\s*"([^"]+)"/g)].map(([, module = '']) => module);
  return imports.flatMap((module) => (module.startsWith('./') ? importsOf(module.slice(2)) : [module]));
}

test('the user client imports nothing, the editor provider only yjs, and the server client only node:crypto', () => {
  expect(importsOf('user.js')).toEqual([]);
  expect(new Set(importsOf('editor.js'))).toEqual(new Set(['yjs']));
  expect(importsOf('index.js')).toEqual(['node:crypto']);
});

test('the user client also exports ServiceError and pages, because the server client does not run in browsers', async () => {
  const module = (await import(join(outdir, 'user.js'))) as object;
  expect(Object.keys(module).toSorted()).toEqual(['ServiceError', 'createUserClient', 'pages']);
});

test('the modules have less than 30 kB together when compressed', () => {
  const total = built.modules.reduce((sum, { gzipBytes }) => sum + gzipBytes, 0);
  expect(total).toBeLessThan(30_000);
});

test('the types need no other package than yjs', () => {
  const types = join(outdir, 'types');
  const imported = readdirSync(types).flatMap((name) =>
    [...readFileSync(join(types, name), 'utf8').matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(([, module]) => module),
  );
  expect(imported.filter((module) => !module?.startsWith('./')).filter((module) => module !== 'yjs')).toEqual([]);
});

test('the package has a README, the licence of the project, a version, and the licences of the code that it contains', () => {
  const read = (name: string) => readFileSync(join(outdir, name), 'utf8');
  const project = JSON.parse(readFileSync(join(projectDir, 'package.json'), 'utf8')) as Record<string, unknown>;
  expect(JSON.parse(read('package.json'))).toMatchObject({
    name: 'collaboration-backend-client',
    version: project.version,
    license: project.license,
    peerDependencies: { yjs: expect.any(String) },
  });
  expect(read('README.md')).toContain("resolve.dedupe: ['yjs']");
  const bundled = [...read('THIRD-PARTY-NOTICES.txt').matchAll(/^(\S+) [\d.]+ \(MIT\)\n\n[^]*?Copyright/gm)];
  expect(bundled.map(([, name]) => name)).toEqual(['lib0', 'y-protocols']);
});

test('a package for a service name sends the headers of this service', async () => {
  const { createClient } = (await import(join(outdir, 'index.js'))) as typeof import('../../lib/client/index.ts');
  const sent: unknown[] = [];
  const client = createClient({
    baseUrl: 'https://api.test',
    apiKey: 'key',
    fetch: (_url, request) => {
      sent.push(request?.headers);
      return Promise.resolve(new Response('{"result":{}}'));
    },
  });
  await client.v2.users.get({ organizationId: 'acme' });
  expect(sent).toMatchObject([{ 'x-acme-docs-api-key': 'key' }]);
});

test('npm installs the packed client as a folder of its own, not as a link', async () => {
  const app = join(folder, 'app');
  mkdirSync(app);
  writeFileSync(join(app, 'package.json'), '{}');
  const file = await packClient(outdir, folder);
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', file], { cwd: app });
  const installed = join(app, 'node_modules', built.name);
  expect(realpathSync(installed)).toBe(join(realpathSync(app), 'node_modules', built.name));
  expect(readdirSync(installed).toSorted()).toEqual(readdirSync(outdir).toSorted());
});

test('a program with strict types compiles against the package, and a call without a required field does not compile', () => {
  const programs = {
    'complete.ts': "client.v2.presence.get({ organizationId: 'acme', documentId: 'nda' })",
    'incomplete.ts': "client.v2.presence.get({ organizationId: 'acme' })",
  };
  for (const [name, call] of Object.entries(programs))
    writeFileSync(
      join(folder, name),
      `import { createUserClient, pages, ServiceError } from './package/types/userClient.js';
import { createClient, readWebhook } from './package/types/index.js';
import { EditorProvider } from './package/types/editorProvider.js';
import * as Y from 'yjs';
import type { Awareness } from 'y-protocols/awareness';
const client = createUserClient({ baseUrl: 'https://api.test', token: async () => 'token' });
const live = client.live({ organizationId: 'acme', documentId: 'nda' });
live.on('presence', (users) => users.map(({ userId, status }) => [userId.length, status === 'online']));
live.on('livestate', ({ data, at }) => [Object.keys(data), at + 1]);
export const threads = pages(client.v2.commentannotations.get, { organizationId: 'acme', documentId: 'nda' });
export const isRefused = (error: unknown) => error instanceof ServiceError && error.status === 'PERMISSION_DENIED';
export const provider = new EditorProvider(new Y.Doc(), { client, organizationId: 'acme', documentId: 'nda', editorId: 'e' });
export const cursors: Awareness = provider.awareness;
provider.whenSynced.then(() => provider.synced, (error: unknown) => error);
const server = createClient({ baseUrl: 'https://api.test', apiKey: 'key' });
export const data = server.v2.users.data.get({ userId: 'ada', 'acme-docsAllOrganizations': true });
const webhook = readWebhook({}, '', 'whsec_');
if (webhook.event === undefined) throw new Error('encodedPayload' in webhook ? webhook.encodedPayload : webhook.iv);
export const text: string | undefined =
  webhook.event === 'comment.add' ? webhook.data.targetComment?.commentText
  : webhook.event === 'endpoint.disabled' ? webhook.data.disabledAt
  : webhook.timestamp;
export const answer = ${call};
`,
    );
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
    types: [],
    skipDefaultLibCheck: true,
  };
  // One compilation checks both programs, because most of its time goes into the types of the package and of browsers.
  const compilation = ts.createProgram(
    Object.keys(programs).map((name) => join(folder, name)),
    options,
  );
  const problems = ts.getPreEmitDiagnostics(compilation).map(({ messageText, file }) => ({
    file: file && basename(file.fileName),
    text: ts.flattenDiagnosticMessageText(messageText, ' '),
  }));
  expect(problems).toEqual([{ file: 'incomplete.ts', text: expect.stringContaining('"documentId"\' is missing') }]);
});
