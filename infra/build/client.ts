import type { Endpoint } from '../../lib/app/endpoint.ts';
import { takesIdempotencyKey } from '../../lib/http/capabilities.ts';
import * as registry from '../../functions/index.ts';

/** Where the client has what it needs of the endpoints. */
export const clientMethodsFile = 'lib/client/methods.ts';

/** What lies under a name of a path: an endpoint, further names, or both. */
interface Node {
  endpoint?: { readonly name: string; readonly declared: Endpoint };
  readonly beneath: Map<string, Node>;
}

/** That file as the registry gives it: a method for every endpoint, where its path says, and how each is called. */
export function clientMethods(): string {
  const inOrder = Object.entries<Endpoint>(registry).sort(([, a], [, b]) => (a.path < b.path ? -1 : 1));
  const root: Node = { beneath: new Map() };
  for (const [name, declared] of inOrder) {
    const node = namesOf(declared.path).reduce(
      ({ beneath }, part) => beneath.get(part) ?? beneath.set(part, { beneath: new Map() }).get(part)!,
      root,
    );
    node.endpoint = { name, declared };
  }
  const operations = inOrder.map(
    ([, declared]) =>
      `  { path: '${declared.path}', names: ${JSON.stringify(namesOf(declared.path)).replaceAll('"', "'").replaceAll(',', ', ')}, repeats: ${takesIdempotencyKey(declared)} },`,
  );
  return `/** What the client needs of the endpoints. \`npm run readme\` writes it. */
import type * as registry from '../../functions/index.ts';
import type { Method } from './types.ts';

/** A method for every endpoint: \`client.v2.users.add(data)\` calls \`/v2/users/add\`. */
export interface Methods ${typeOf(root, '')}

export interface Operation {
  readonly path: string;
  /** Those that lead to its method. */
  readonly names: readonly [string, ...string[]];
  /** Whether a repetition under the same Idempotency-Key is answered like the first call. */
  readonly repeats: boolean;
}

export const operations: readonly Operation[] = [
${operations.join('\n')}
];
`;
}

/** `['v2', 'agents', 'groups', 'addAgents']` of `/v2/agents/groups/add-agents`. */
function namesOf(path: string): string[] {
  return path
    .slice(1)
    .split('/')
    .map((part) => part.replace(/-(.)/g, (_match, letter: string) => letter.toUpperCase()));
}

function typeOf({ endpoint, beneath }: Node, indent: string): string {
  const method = endpoint && `Method<typeof registry.${endpoint.name}>`;
  if (beneath.size === 0) return method as string;
  const lines = [...beneath].flatMap(([name, node]) => [
    ...(node.endpoint ? [`${indent}  /** ${node.endpoint.declared.summary}. */`] : []),
    `${indent}  readonly ${name}: ${typeOf(node, `${indent}  `)};`,
  ]);
  const block = `{\n${lines.join('\n')}\n${indent}}`;
  return method ? `${method} & ${block}` : block;
}
