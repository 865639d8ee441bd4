/** `npm run new:endpoint v2/comments/add`: starts the file of an endpoint and puts it into the registry. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { sourceFile } from '../../lib/app/endpoint.ts';
import { pascal } from '../constructs/names.ts';
import { endWith } from './operator.ts';

const USAGE = `Usage: npm run new:endpoint -- <path>

Starts the file of an endpoint and puts it into the registry. The path is the endpoint's, such as v2/comments/add: v1 or v2,
and two parts or more of lower-case letters, digits, _ and -.`;

const REGISTRY = 'functions/index.ts';

/** What has no default is left out, so that the compiler asks for it; it asks for the answer of `run` as well. */
function template(path: string): string {
  const up = '../'.repeat(sourceFile(path).split('/').length - 1);
  return `import * as z from 'zod';
import { defineEndpoint } from '${up}lib/app/endpoint.ts';
import { toLambda } from '${up}lib/http/lambda.ts';

export const endpoint = defineEndpoint({
  path: '${path}',
  input: z.object({}),
  output: z.object({ data: z.object({}) }),
  errors: [],
  uses: {},
}, async ({ input, caller, deps, now }) => {
});

export const handler = toLambda(endpoint);
`;
}

/** `usersDataGet` of `/v2/users/data/get`; the older version, of which there is little, says so at the end. */
function exportName(path: string): string {
  const [, version, ...rest] = path.split('/');
  const name = pascal(rest.join('/'));
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}${version === 'v1' ? 'V1' : ''}`;
}

/** The registry with a line for the endpoint, before the first one whose file comes later. */
function registered(registry: string, path: string): string {
  const moduleOf = (line: string) => /^export \{ endpoint as \w+(?:, twin as \w+)? \} from '(.+)';$/.exec(line)?.[1];
  const own = `.${path}.ts`;
  const lines = registry.trimEnd().split('\n');
  const next = lines.findIndex((line) => (moduleOf(line) ?? '') > own);
  return `${lines.toSpliced(next < 0 ? lines.length : next, 0, `export { endpoint as ${exportName(path)} } from '${own}';`).join('\n')}\n`;
}

/**
 * Writes the file of a new endpoint and its line in the registry; gives the file's name. The file does not compile until
 * it is filled in. Refuses a path that is no endpoint's, and one that is taken.
 */
export function createEndpoint(projectDir: string, given: string): string {
  const path = `/${given.replace(/^\//, '')}`;
  if (!/^\/v[12](\/[a-z][a-z0-9_-]*){2,}$/.test(path)) throw new Error(`${given} is not a path like v2/comments/add`);
  const file = sourceFile(path);
  if (existsSync(join(projectDir, file))) throw new Error(`${file} exists already`);
  mkdirSync(dirname(join(projectDir, file)), { recursive: true });
  writeFileSync(join(projectDir, file), template(path));
  const registry = join(projectDir, REGISTRY);
  writeFileSync(registry, registered(readFileSync(registry, 'utf8'), path));
  return file;
}

if (import.meta.main) {
  await endWith(async () => {
    const [path, ...more] = process.argv.slice(2);
    if (path === '--help') return USAGE;
    if (path === undefined || more.length > 0) throw new Error(USAGE);
    return `${createEndpoint(resolve(import.meta.dirname, '../..'), path)} waits to be filled in: npm run check says what is missing.`;
  });
}
