import { StartError } from '../startError.ts';

/** What a policy allows: these actions on these resources, a `*` at a resource's end standing for anything. */
export interface Statement {
  readonly actions: ReadonlySet<string>;
  readonly resources: readonly string[];
}

const understood = new Set(['Sid', 'Effect', 'Action', 'Resource']);

/**
 * The statements of a policy document. Only what the local run can judge as AWS would: anything else stops the start,
 * naming the resource (`owner`) that has it, because guessing would let through here what fails in the cloud.
 */
export function readStatements(document: unknown, owner: string): Statement[] {
  return listOf((document as { Statement?: unknown }).Statement).map((raw) => {
    const statement = raw as Record<string, unknown>;
    const strange = Object.keys(statement).find((key) => !understood.has(key));
    if (strange) throw refusal(owner, `has ${strange}`);
    if (statement.Effect !== 'Allow') throw refusal(owner, `has the effect ${String(statement.Effect)}`);
    const actions = listOf(statement.Action).map(String);
    const wildcard = actions.find((action) => /[*?]/.test(action));
    if (wildcard) throw refusal(owner, `allows ${wildcard}: name each action`);
    const resources = listOf(statement.Resource).map(String);
    const pattern = resources.find((resource) => /\*.|\?/.test(resource));
    if (pattern) throw refusal(owner, `names ${pattern}: a * may stand at the end only`);
    return { actions: new Set(actions), resources };
  });
}

/** Whether any of the statements allows the action on the resource. */
export function allows(statements: readonly Statement[], action: string, resource: string): boolean {
  return statements.some(
    ({ actions, resources }) => actions.has(action) && resources.some((pattern) => matches(pattern, resource)),
  );
}

function matches(pattern: string, resource: string): boolean {
  return pattern.endsWith('*') ? resource.startsWith(pattern.slice(0, -1)) : resource === pattern;
}

function listOf(value: unknown): unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

function refusal(owner: string, problem: string): StartError {
  return new StartError(`A policy statement of ${owner} ${problem}. The local run cannot enforce that as AWS does.`);
}
