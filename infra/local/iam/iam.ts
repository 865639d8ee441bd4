import { StartError } from '../startError.ts';

/** A `*` at the end of a resource stands for any text. */
export interface Statement {
  readonly actions: ReadonlySet<string>;
  readonly resources: readonly string[];
}

const supportedKeys = new Set(['Sid', 'Effect', 'Action', 'Resource']);

/**
 * Throws a `StartError` for a statement that the local run cannot enforce: calls could succeed here and fail in AWS.
 * `owner` names the policy's resource.
 */
export function readStatements(document: unknown, owner: string): Statement[] {
  return listOf((document as { Statement?: unknown }).Statement).map((raw) => {
    const statement = raw as Record<string, unknown>;
    const unsupported = Object.keys(statement).find((key) => !supportedKeys.has(key));
    if (unsupported) throw unsupportedStatement(owner, `has ${unsupported}`);
    if (statement.Effect !== 'Allow') throw unsupportedStatement(owner, `has the effect ${String(statement.Effect)}`);
    const actions = listOf(statement.Action).map(String);
    const wildcard = actions.find((action) => /[*?]/.test(action));
    if (wildcard) throw unsupportedStatement(owner, `allows ${wildcard}: name each action`);
    const resources = listOf(statement.Resource).map(String);
    const pattern = resources.find((resource) => /\*.|\?/.test(resource));
    if (pattern) throw unsupportedStatement(owner, `names ${pattern}: a * is supported at the end only`);
    return { actions: new Set(actions), resources };
  });
}

export function isAllowed(statements: readonly Statement[], action: string, resource: string): boolean {
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

function unsupportedStatement(owner: string, problem: string): StartError {
  return new StartError(`A policy statement of ${owner} ${problem}. The local run cannot enforce that as AWS does.`);
}
