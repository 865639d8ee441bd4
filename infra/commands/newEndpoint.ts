/** `npm run new:endpoint v2/comments/add`: writes the declaration and the tests of an endpoint, and registers it. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { sourceFile } from '../../lib/app/endpoint.ts';
import { pascal } from '../constructs/names.ts';
import { runCommand } from './operator.ts';

const USAGE = `Usage: npm run new:endpoint -- <path>

Writes the declaration and the tests of an endpoint, and adds it to the registry. The path is that of the endpoint, such as
v2/comments/add: v1 or v2, and two parts or more of lower-case letters, digits, _ and -.`;

const REGISTRY = 'functions/index.ts';

/** The files of a new endpoint, from the root of the project. */
export interface NewEndpoint {
  readonly declaration: string;
  readonly tests: string;
}

/** Leaves out the fields without a default, so that the compiler asks for them. It also asks for the answer. */
function declarationOf(path: string): string {
  const lib = `${rootFrom(sourceFile(path))}lib`;
  return `import * as z from 'zod';
import { defineEndpoint } from '${lib}/app/endpoint.ts';
import { toLambda } from '${lib}/http/lambda.ts';

export const endpoint = defineEndpoint(
  {
    path: '${path}',
    // Replace this list by the fields:
    //   summary  what a call does, for the reference; no full stop
    //   auth     'apiKey', 'workspace' or 'none'
    //   kind     'read' or 'write'; a write takes an Idempotency-Key
    //   message  the message of a success
    //   impact   what is broken for whom when the endpoint fails, in lower case: the text of its alarm
    //   example  { data, result }, for the reference

    // The schema of the request's data. A deletion uses \`closedObject\` of lib/shared/schema.ts, and so does an update that
    // selects what it changes.
    input: z.object({}),
    // The schema of the answer. Other fields are dropped; in the tests they fail.
    output: z.object({ data: z.object({}) }),
    // The statuses that the endpoint throws itself, such as 'NOT_FOUND'.
    errors: [],
    // Capabilities: what the endpoint may read, write and call. Its IAM policy and environment derive from them.
    uses: {},
  },
  async ({ input, caller, deps, now }) => {},
);

export const handler = toLambda(endpoint);
`;
}

/** Leaves out the cases without a default, so that the compiler asks for them. */
function testsOf(path: string): string {
  return `import { describeEndpoint } from '${rootFrom(testFile(path)).replace('../', '')}support/describeEndpoint.ts';

describeEndpoint('${path}', {
  // Replace this list by the fields:
  //   data         (n) => the data of a request that succeeds; use \`n\` for ids that must be new
  //   foreignData  what another customer sends to reach what \`prepare\` made
  //   cost         { calls, roundTrips, readUnits, writeUnits } of a warm request; the first run prints them

  // Makes what the requests need, by calls of other endpoints with \`send\`. Put \`mark\` into names and texts.
  prepare: async (send, mark) => {},
});

// Add a test for each error and each rule of the endpoint.
`;
}

function checklistOf({ declaration, tests }: NewEndpoint): string {
  return `Written:
  ${declaration}
  ${tests}
  ${REGISTRY} (one line)

[ ] Fill in the declaration. npm run check says what is missing.
[ ] Put decisions into lib/<feature>/rules, and reads and writes into the store of the feature, with tests.
[ ] Fill in the tests, and add one for each error and each rule: npm test -- ${tests}
[ ] Run npm run format and npm run readme, which writes the method of the typed client.
[ ] Describe a new family of endpoints in lib/openapi/tags.ts.
[ ] Run npm test.`;
}

function testFile(path: string): string {
  return `test/endpoints${path}.test.ts`;
}

/** `../../` of `functions/v2/a.ts`: the way from the folder of a file to the root of the project. */
function rootFrom(file: string): string {
  return '../'.repeat(file.split('/').length - 1);
}

/** `usersDataGet` of `/v2/users/data/get`, and `usersDataGetV1` of `/v1/users/data/get`. */
function exportName(path: string): string {
  const [, version, ...rest] = path.split('/');
  const name = pascal(rest.join('/'));
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}${version === 'v1' ? 'V1' : ''}`;
}

/** Returns the registry with a line for the endpoint, in the order of the files. */
function withEndpoint(registry: string, path: string): string {
  const file = `.${path}.ts`;
  const exports = [...registry.matchAll(/^export \{[^}]*\} from '(.+)';$/gm)];
  const next = exports.find(([, other = '']) => other > file)?.index ?? registry.length;
  return `${registry.slice(0, next)}export { endpoint as ${exportName(path)} } from '${file}';\n${registry.slice(next)}`;
}

/**
 * Writes the declaration and the tests of a new endpoint, and its line in the registry. The files do not compile until they are filled in.
 * Throws for a path that is taken or not that of an endpoint.
 */
export function createEndpoint(projectDir: string, given: string): NewEndpoint {
  const path = `/${given.replace(/^\//, '')}`;
  if (!/^\/v[12](\/[a-z][a-z0-9_-]*){2,}$/.test(path)) throw new Error(`${given} is not a path like v2/comments/add`);
  const files = { declaration: sourceFile(path), tests: testFile(path) };
  for (const file of Object.values(files))
    if (existsSync(join(projectDir, file))) throw new Error(`${file} exists already`);
  write(join(projectDir, files.declaration), declarationOf(path));
  write(join(projectDir, files.tests), testsOf(path));
  const registry = join(projectDir, REGISTRY);
  writeFileSync(registry, withEndpoint(readFileSync(registry, 'utf8'), path));
  return files;
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

if (import.meta.main) {
  await runCommand(() => {
    const [path, ...more] = process.argv.slice(2);
    if (path === '--help') return USAGE;
    if (path === undefined || more.length > 0) throw new Error(USAGE);
    return checklistOf(createEndpoint(resolve(import.meta.dirname, '../..'), path));
  });
}
