import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import ts from 'typescript';
import * as registry from '../../functions/index.ts';
import { projectDir } from '../../infra/build/build.ts';
import { buildClientPackage, type PackageFile } from '../../infra/build/clientPackage.ts';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

const folder = temporaryFolder();
const outdir = join(folder, 'package');
let files: PackageFile[];
beforeAll(async () => {
  files = await buildClientPackage(Object.entries<Endpoint>(registry), outdir);
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
  const total = files.reduce((sum, { gzipBytes }) => sum + gzipBytes, 0);
  expect(total).toBeLessThan(30_000);
});

test('the types need no other package than yjs', () => {
  const types = join(outdir, 'types');
  const imported = readdirSync(types).flatMap((name) =>
    [...readFileSync(join(types, name), 'utf8').matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(([, module]) => module),
  );
  expect(imported.filter((module) => !module?.startsWith('./')).filter((module) => module !== 'yjs')).toEqual([]);
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
export const answer = ${call};
`,
    );
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
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
