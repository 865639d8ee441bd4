import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import ts from 'typescript';
import type * as z from 'zod';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import { LiveStateResponse } from '../../lib/liveState/rules.ts';
import { type JsonSchema, jsonSchemaOf } from '../../lib/openapi/jsonSchema.ts';
import { PresenceResponse, presenceStatuses } from '../../lib/presence/rules.ts';
import { errorCatalogue } from '../../lib/shared/errors.ts';
import { projectDir } from './build.ts';
import { clientMethods } from './client.ts';

/** The entry points of the package. `user` imports nothing of Node, so browsers can load it. */
const entryPoints = { index: 'index.ts', user: 'userClient.ts', editor: 'editorProvider.ts' } as const;

/** The files in `lib/client` whose types are part of the package. */
const typedFiles = [
  'calls',
  'editorProvider',
  'emitter',
  'eventSocket',
  'index',
  'liveDocument',
  'liveView',
  'ownPresence',
  'pages',
  'types',
  'userClient',
  'webhook',
];

/** A file of the package. `gzipBytes` is its size after compression by gzip. */
export interface PackageFile {
  readonly name: string;
  readonly bytes: number;
  readonly gzipBytes: number;
}

/**
 * Writes the client as a package of ES modules and types. The package depends only on `yjs`, which only the editor provider
 * needs. Deletes the old contents of `outdir`. Returns the modules with their sizes.
 */
export async function buildClientPackage(
  endpoints: readonly (readonly [name: string, endpoint: Endpoint])[],
  outdir: string,
): Promise<PackageFile[]> {
  await rm(outdir, { recursive: true, force: true });
  await mkdir(join(outdir, 'types'), { recursive: true });
  const { outputFiles } = await build({
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
    write: false,
  });
  for (const { path, contents } of outputFiles) await writeFile(path, contents);
  await writeTypes(endpoints, join(outdir, 'types'));
  await writeFile(join(outdir, 'package.json'), `${JSON.stringify(await manifest(), null, 2)}\n`);
  return outputFiles.map(({ path, contents }) => ({
    name: basename(path),
    bytes: contents.length,
    gzipBytes: gzipSync(contents).length,
  }));
}

async function manifest(): Promise<object> {
  const { name, version, dependencies } = JSON.parse(await readFile(join(projectDir, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    dependencies: Record<string, string>;
  };
  const entry = (file: string, types: string) => ({ types: `./types/${types}.d.ts`, default: `./${file}.js` });
  return {
    name: `${name}-client`,
    version,
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

async function writeTypes(endpoints: readonly (readonly [string, Endpoint])[], outdir: string): Promise<void> {
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
  await writeFile(join(outdir, 'methods.d.ts'), methodTypes(endpoints));
}

/**
 * The text of `awareness.d.ts`: the awareness of `y-protocols`, with every member of its class. Otherwise, bindings of editors that
 * take this class would not compile. The file is separate because only the editor provider needs `yjs`.
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

/** Returns the text of `shared.d.ts`: types that the client imports from outside `lib/client`. */
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

/**
 * Returns the text of `methods.d.ts`: the methods of the client, with plain types instead of references to
 * declarations.
 */
function methodTypes(endpoints: readonly (readonly [string, Endpoint])[]): string {
  const types = endpoints.map(([name, { input, output }]) => {
    const result = `${typeOf(jsonSchemaOf(output))} & { readonly status?: 'success'; readonly message?: string }`;
    return `type ${name} = { input: ${typeOf(jsonSchemaOf(input))}; output: ${result} };`;
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

/** Returns the TypeScript type of a JSON Schema. An unsupported schema becomes `unknown`. */
function typeOf(schema: z.core.JSONSchema._JSONSchema | JsonSchema): string {
  if (typeof schema === 'boolean') return schema ? 'unknown' : 'never';
  const {
    const: value,
    enum: values,
    anyOf,
    oneOf,
    allOf,
    type,
    items,
    properties,
    required = [],
    additionalProperties,
  } = schema;
  if (value !== undefined) return JSON.stringify(value);
  if (values) return values.map((element) => JSON.stringify(element)).join(' | ');
  const alternatives = anyOf ?? oneOf;
  if (alternatives && !properties) return alternatives.map((alternative) => `(${typeOf(alternative)})`).join(' | ');
  if (allOf && !properties) return allOf.map((part) => `(${typeOf(part)})`).join(' & ');
  if (Array.isArray(type))
    return (type as string[]).map((typeName) => typeOf({ ...schema, type: typeName } as JsonSchema)).join(' | ');
  const name = String(type);
  switch (name) {
    case 'string':
    case 'boolean':
    case 'null':
      return name;
    case 'number':
    case 'integer':
      return 'number';
    case 'array':
      return `(${items === undefined || Array.isArray(items) ? 'unknown' : typeOf(items)})[]`;
    case 'object': {
      const fields = Object.entries(properties ?? {}).map(
        ([name, field]) => `${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(field)}`,
      );
      if (fields.length === 0)
        return `Record<string, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'}>`;
      return `{ ${fields.join('; ')} }`;
    }
    default:
      return 'unknown';
  }
}
