import * as registry from '../../functions/index.ts';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import { takesIdempotencyKey } from '../../lib/http/capabilities.ts';

export const clientMethodsFile = 'lib/client/methods.ts';

interface PathSegment {
  endpoint?: { readonly name: string; readonly declared: Endpoint };
  readonly children: Map<string, PathSegment>;
}

export function clientMethods(): string {
  const inOrder = Object.entries<Endpoint>(registry).sort(([, a], [, b]) => (a.path < b.path ? -1 : 1));
  const operations = inOrder.map(
    ([, declared]) =>
      `  { path: '${declared.path}', names: ${JSON.stringify(methodNames(declared.path)).replaceAll('"', "'").replaceAll(',', ', ')}, repeats: ${takesIdempotencyKey(declared)}, forUsers: ${isForUsers(declared)} },`,
  );
  return `/** The methods of the client. \`npm run readme\` writes this file. */
import type * as registry from '../../functions/index.ts';
import type { Method } from './types.ts';

/** A method for every endpoint: \`client.v2.users.add(data)\` calls \`/v2/users/add\`. */
export interface Methods ${typeOf(treeOf(inOrder), '')}

/** A method for every endpoint that is open to user tokens. */
export interface UserMethods ${typeOf(treeOf(inOrder.filter(([, declared]) => isForUsers(declared))), '')}

export interface Operation {
  readonly path: string;
  /** The names of the properties that lead to the method, such as \`v2\`, \`users\` and \`add\`. */
  readonly names: readonly [string, ...string[]];
  /** Whether a repeated call with the same \`Idempotency-Key\` gets the answer of the first call. */
  readonly repeats: boolean;
  /** Whether a call may have a user token. */
  readonly forUsers: boolean;
}

export const operations: readonly Operation[] = [
${operations.join('\n')}
];
`;
}

function isForUsers(endpoint: Endpoint): boolean {
  return (endpoint as { readonly user?: object }).user !== undefined;
}

function treeOf(endpoints: readonly (readonly [name: string, declared: Endpoint])[]): PathSegment {
  const root: PathSegment = { children: new Map() };
  for (const [name, declared] of endpoints) {
    let node = root;
    for (const part of methodNames(declared.path)) {
      const child: PathSegment = node.children.get(part) ?? { children: new Map() };
      node.children.set(part, child);
      node = child;
    }
    node.endpoint = { name, declared };
  }
  return root;
}

/** Returns `['v2', 'agents', 'groups', 'addAgents']` for `/v2/agents/groups/add-agents`. */
function methodNames(path: string): string[] {
  return path
    .slice(1)
    .split('/')
    .map((part) => part.replace(/-(.)/g, (_match, letter: string) => letter.toUpperCase()));
}

function typeOf({ endpoint, children }: PathSegment, indent: string): string {
  const method = endpoint && `Method<typeof registry.${endpoint.name}>`;
  if (children.size === 0) return method as string;
  const lines = [...children].flatMap(([name, node]) => [
    ...(node.endpoint ? [`${indent}  /** ${node.endpoint.declared.summary}. */`] : []),
    `${indent}  readonly ${name}: ${typeOf(node, `${indent}  `)};`,
  ]);
  const block = `{\n${lines.join('\n')}\n${indent}}`;
  return method ? `${method} & ${block}` : block;
}
