/** `npm run new:endpoint v2/comments/add`: writes the declaration of an endpoint, and registers it. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { sourceFile } from '../../lib/app/endpoint.ts';
import { pascal } from '../constructs/names.ts';
import { runCommand } from './operator.ts';

const USAGE = `Usage: npm run new:endpoint -- <path>

Writes the declaration of an endpoint, and adds it to the registry. The path is that of the endpoint, such as v2/comments/add:
v1 or v2, and two parts or more of lower-case letters, digits, _ and -.`;

const REGISTRY = 'functions/index.ts';

/** The template only lists the fields that a person must choose. The compiler reports them as missing. */
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
    //   impact   what is broken for whom when the endpoint fails, in lower case, for the text of its alarm
    //   example  { data, result }, for the reference
    //   cost     { calls, roundTrips, readUnits, writeUnits } of the example. The first run of its test prints them

    // The schema of the request's data. Its objects refuse fields that they do not declare.
    input: z.object({}),
    // The schema of the answer. Undeclared fields are removed. In tests they are an error.
    output: z.object({ data: z.object({}) }),
    // The statuses that the endpoint throws itself, such as 'NOT_FOUND'.
    errors: [],
    // The capabilities that the endpoint uses to read, write and call. Its IAM policy and environment derive from them.
    uses: {},
  },
  async ({ input, caller, deps, now }) => {},
);

export const handler = toLambda(endpoint);
`;
}

function checklistOf(declaration: string): string {
  return `Written:
  ${declaration}
  ${REGISTRY} (one line)

[ ] Fill in the declaration. npm run check names missing fields.
[ ] Put decisions into lib/<feature>/rules, and reads and writes into the store of the feature, with tests.
[ ] Add the calls that its example needs to infra/commands/smoke/examples.ts: npm test -- test/contract/examples -t ${declaration.slice('functions'.length, -'.ts'.length)}
[ ] Add a test below test/integration for each error and each rule.
[ ] Run npm run format and npm run readme, which writes the method of the typed client.
[ ] Describe a new family of endpoints in lib/openapi/tags.ts.
[ ] Run npm test.`;
}

function rootFrom(file: string): string {
  return '../'.repeat(file.split('/').length - 1);
}

/** Returns `usersDataGet` for `/v2/users/data/get`, and `usersDataGetV1` for `/v1/users/data/get`. */
function exportName(path: string): string {
  const [, version, ...segments] = path.split('/');
  const name = pascal(segments.join('/'));
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}${version === 'v1' ? 'V1' : ''}`;
}

function withEndpoint(registry: string, path: string): string {
  const file = `.${path}.ts`;
  const exports = [...registry.matchAll(/^export \{[^}]*\} from '(.+)';$/gm)];
  const insertAt = exports.find(([, other = '']) => other > file)?.index ?? registry.length;
  return `${registry.slice(0, insertAt)}export { endpoint as ${exportName(path)} } from '${file}';\n${registry.slice(insertAt)}`;
}

/**
 * Writes the declaration and the line in the registry. The declaration does not compile until it is filled in. Returns its
 * path. Throws for an invalid path, and if the declaration exists.
 */
export function createEndpoint(projectDir: string, route: string): string {
  const path = `/${route.replace(/^\//, '')}`;
  if (!/^\/v[12](\/[a-z][a-z0-9_-]*){2,}$/.test(path)) throw new Error(`${route} is not a path like v2/comments/add`);
  const declaration = sourceFile(path);
  const file = join(projectDir, declaration);
  if (existsSync(file)) throw new Error(`${declaration} exists already`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, declarationOf(path));
  const registry = join(projectDir, REGISTRY);
  writeFileSync(registry, withEndpoint(readFileSync(registry, 'utf8'), path));
  return declaration;
}

if (import.meta.main) {
  await runCommand(USAGE, ([path, ...more]) => {
    if (path === undefined || more.length > 0) throw new Error(USAGE);
    return checklistOf(createEndpoint(resolve(import.meta.dirname, '../..'), path));
  });
}
