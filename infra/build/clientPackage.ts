import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import ts from 'typescript';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import { SERVICE_NAME } from '../../lib/client/serviceName.ts';
import { LiveStateResponse } from '../../lib/liveState/rules.ts';
import { placeholders } from '../../lib/openapi/deployment.ts';
import { jsonSchemaOf } from '../../lib/openapi/jsonSchema.ts';
import { PresenceResponse, presenceStatuses } from '../../lib/presence/rules.ts';
import { errorCatalogue } from '../../lib/shared/errors.ts';
import { acceptsField } from '../../lib/shared/schema.ts';
import { allOrganizationsField } from '../../lib/userData/rules/userDataRequest.ts';
import { projectDir } from './build.ts';
import { clientMethods } from './client.ts';
import { typeOf } from './jsonSchemaType.ts';

/** `user` and `editor` import nothing of Node, so browsers can load them. */
const entryPoints = { index: 'index.ts', user: 'userClient.ts', editor: 'editorProvider.ts' } as const;

const typedFiles = [
  'calls',
  'editorProvider',
  'editorVersions',
  'emitter',
  'eventSocket',
  'index',
  'liveDocument',
  'liveView',
  'ownPresence',
  'pages',
  'seenThreads',
  'types',
  'userClient',
  'webhook',
  'webhookTypes',
];

export interface ClientPackageOptions {
  readonly serviceName?: string;
}

export interface ClientPackage {
  readonly name: string;
  readonly version: string;
  readonly modules: readonly PackageFile[];
}

export interface PackageFile {
  readonly name: string;
  readonly bytes: number;
  readonly gzipBytes: number;
}

/**
 * Writes the client as ES modules and types. Its only dependency is `yjs`, for the editor provider: a peer dependency,
 * because a document must be of the same `yjs` as the bindings of editors. Deletes the old contents of `outdir`.
 */
export async function buildClientPackage(
  endpoints: readonly (readonly [name: string, endpoint: Endpoint])[],
  outdir: string,
  { serviceName = SERVICE_NAME }: ClientPackageOptions = {},
): Promise<ClientPackage> {
  await rm(outdir, { recursive: true, force: true });
  await mkdir(join(outdir, 'types'), { recursive: true });
  const { outputFiles, metafile } = await build({
    entryPoints: Object.entries(entryPoints).map(([out, file]) => ({ in: join(projectDir, 'lib/client', file), out })),
    absWorkingDir: projectDir,
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2023',
    mainFields: ['module', 'main'],
    conditions: ['import', 'browser'],
    external: ['yjs', 'node:*'],
    legalComments: 'inline',
    metafile: true,
    write: false,
    plugins: [withServiceName(serviceName)],
  });
  for (const { path, contents } of outputFiles) await writeFile(path, contents);
  await writeTypes(endpoints, join(outdir, 'types'), serviceName);
  const contained = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
  );
  const fields = await manifest();
  const { name, version } = fields;
  await writeFile(join(outdir, 'package.json'), `${JSON.stringify(fields, null, 2)}\n`);
  await writeFile(join(outdir, 'README.md'), readme(name, serviceName));
  await writeFile(join(outdir, 'THIRD-PARTY-NOTICES.txt'), await notices(contained));
  const modules = outputFiles.map(({ path, contents }) => ({
    name: basename(path),
    bytes: contents.length,
    gzipBytes: gzipSync(contents).length,
  }));
  return { name, version, modules };
}

/**
 * Returns the path of the file that npm packed. An app installs this file, because through a link to the folder the
 * client would find another copy of `yjs`.
 */
export async function packClient(packageDir: string, outdir: string, npm = 'npm'): Promise<string> {
  const { stdout } = await promisify(execFile)(
    npm,
    ['pack', '--json', '--ignore-scripts', '--pack-destination', outdir],
    { cwd: packageDir },
  );
  const [packed] = JSON.parse(stdout) as { readonly filename: string }[];
  return join(outdir, (packed as { readonly filename: string }).filename);
}

function withServiceName(serviceName: string): Plugin {
  return {
    name: 'service-name',
    setup(builder) {
      builder.onLoad({ filter: /lib.client.serviceName\.ts$/ }, () => ({
        contents: `export const SERVICE_NAME = ${JSON.stringify(serviceName)};`,
      }));
    },
  };
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly [field: string]: unknown;
}

async function manifest(): Promise<Manifest> {
  const { name, version, license, repository, dependencies } = JSON.parse(
    await readFile(join(projectDir, 'package.json'), 'utf8'),
  ) as {
    name: string;
    version: string;
    license: string;
    repository?: unknown;
    dependencies: Record<string, string>;
  };
  const entry = (file: string, types: string) => ({ types: `./types/${types}.d.ts`, default: `./${file}.js` });
  return {
    name: `${name}-client`,
    version,
    description: 'Typed client of the API, for servers and for browsers of users',
    license,
    repository,
    type: 'module',
    exports: {
      '.': entry('index', 'index'),
      './user': entry('user', 'userClient'),
      './editor': entry('editor', 'editorProvider'),
    },
    peerDependencies: { yjs: `^${dependencies.yjs}` },
    peerDependenciesMeta: { yjs: { optional: true } },
    sideEffects: false,
  };
}

function readme(name: string, serviceName: string): string {
  return `# ${name}

Typed client of the API of the service \`${serviceName}\`. The guides of your deployment say more.

| Import | For |
|---|---|
| \`${name}\` | servers: \`createClient\`, \`pages\`, \`readWebhook\`. Needs Node.js 22 or later |
| \`${name}/user\` | browsers of users: \`createUserClient\`, live documents |
| \`${name}/editor\` | editors: \`EditorProvider\`. Needs \`yjs\` in your application |

\`\`\`ts
import { createUserClient } from '${name}/user';
import { EditorProvider } from '${name}/editor';
import * as Y from 'yjs';

const client = createUserClient({ baseUrl, token });
const doc = new Y.Doc();
const provider = new EditorProvider(doc, { client, organizationId: 'acme', documentId: 'nda', editorId: 'summary' });
provider.whenSynced.then(() => showEditor(doc, provider.awareness), showError);
\`\`\`

- Install the \`.tgz\` file of this package, not a link to its folder. Set \`resolve.dedupe: ['yjs']\` in the bundler. With two copies of \`yjs\`, bindings of editors delete stored text, so the provider throws.
- Give the document to the binding of your editor after \`whenSynced\`.

\`THIRD-PARTY-NOTICES.txt\` has the licences of the packages that the modules contain.
`;
}

async function notices(inputs: readonly string[]): Promise<string> {
  const folders = new Set(inputs.flatMap((file) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []));
  const texts = [...folders].toSorted().map(async (folder) => {
    const { name, version, license } = JSON.parse(
      await readFile(join(projectDir, folder, 'package.json'), 'utf8'),
    ) as Record<string, string>;
    return `${name} ${version} (${license})\n\n${await readFile(join(projectDir, folder, 'LICENSE'), 'utf8')}`;
  });
  return `The modules of this package contain code of the following packages.\n\n${(await Promise.all(texts)).join('\n---\n\n')}`;
}

async function writeTypes(
  endpoints: readonly (readonly [string, Endpoint])[],
  outdir: string,
  serviceName: string,
): Promise<void> {
  for (const name of typedFiles) {
    const source = await readFile(join(projectDir, 'lib/client', `${name}.ts`), 'utf8');
    const { outputText } = ts.transpileDeclaration(source, {
      fileName: `${name}.ts`,
      compilerOptions: { target: ts.ScriptTarget.ES2024, module: ts.ModuleKind.ESNext, strict: true },
    });
    const text = outputText
      .replace(/'\.\.\/(?:liveState|presence)\/rules\.ts'|'\.\.\/shared\/errors\.ts'/g, "'./shared.js'")
      .replace("'y-protocols/awareness'", "'./awareness.js'")
      .replace(/(from '\.\/\w+)\.ts'/g, "$1.js'")
      // Removes the types that derive methods from declarations. `methodTypes` writes plain types instead.
      .replace(/^import type \* as z from '[z]od';\n|^interface Typed \{[^]*$/gm, '');
    await writeFile(join(outdir, `${name}.d.ts`), text);
  }
  await writeFile(join(outdir, 'shared.d.ts'), sharedTypes());
  await writeFile(join(outdir, 'awareness.d.ts'), AWARENESS_TYPES);
  await writeFile(join(outdir, 'methods.d.ts'), methodTypes(endpoints, serviceName));
}

/**
 * The awareness of `y-protocols` with every member of its class: otherwise bindings of editors that take this class
 * would not compile. Only the editor provider needs `yjs`, so the file is separate.
 */
const AWARENESS_TYPES = `import type { Doc } from 'yjs';
export interface Awareness {
  doc: Doc;
  clientID: number;
  states: Map<number, Record<string, any>>;
  meta: Map<number, { clock: number; lastUpdated: number }>;
  _checkInterval: any;
  _observers: Map<string, any>;
  getLocalState(): Record<string, any> | null;
  setLocalState(state: Record<string, any> | null): void;
  setLocalStateField(field: string, value: unknown): void;
  getStates(): Map<number, Record<string, any>>;
  on(name: string, listener: Function): void;
  once(name: string, listener: Function): void;
  off(name: string, listener: Function): void;
  emit(name: string, args: any[]): void;
  destroy(): void;
}
`;

function sharedTypes(): string {
  const statuses = (values: readonly string[]) => values.map((value) => JSON.stringify(value)).join(' | ');
  return `export type ErrorStatus = ${statuses(Object.keys(errorCatalogue))};
export type PresenceStatus = ${statuses(presenceStatuses)};
export type PresenceResponse = ${typeOf(jsonSchemaOf(PresenceResponse))};
export type LiveStateResponse = ${typeOf(jsonSchemaOf(LiveStateResponse))};
export type PresenceMessage =
  | { readonly type: 'presence.update'; readonly at: number; readonly user: PresenceResponse }
  | { readonly type: 'presence.remove'; readonly at: number; readonly userId: string };
export type LiveStateMessage = LiveStateResponse & { readonly type: 'livestate.update'; readonly by?: string };
`;
}

function methodTypes(endpoints: readonly (readonly [string, Endpoint])[], serviceName: string): string {
  const namedField = allOrganizationsField(serviceName);
  const types = endpoints.map(([name, { input, output }]) => {
    const request = typeOf(jsonSchemaOf(input), true).replaceAll(placeholders.serviceName, serviceName);
    const isNamed = acceptsField(input, namedField) === true && acceptsField(input, 'other') !== true;
    const field = isNamed && !request.includes(namedField) ? ` & { "${namedField}"?: boolean | undefined }` : '';
    const result = `${typeOf(jsonSchemaOf(output))} & { readonly status?: 'success'; readonly message?: string }`;
    return `type ${name} = { input: ${request}${field}; output: ${result} };`;
  });
  const methods = clientMethods()
    .replace(/^import [^\n]*\n/gm, '')
    .replace(/Method<typeof registry\.(\w+)>/g, 'Method<$1>')
    .replace(/export const operations[^]*$/, 'export declare const operations: readonly Operation[];\n');
  return `import type { CallOptions } from './types.js';
${types.join('\n')}
type Method<E extends { input: unknown; output: unknown }> = (
  ...args: {} extends E['input'] ? [data?: E['input'], options?: CallOptions] : [data: E['input'], options?: CallOptions]
) => Promise<E['output']>;
${methods}`;
}
