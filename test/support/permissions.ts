import { AsyncLocalStorage } from 'node:async_hooks';
import { dynamoDbAccesses } from '../../infra/local/iam/dynamoDbAccess.ts';
import { isAllowed, type Statement } from '../../infra/local/iam/iam.ts';
import { tableArn } from '../../infra/local/iam/identity.ts';
import { type Capability, mergeGrants } from '../../lib/app/capability.ts';
import { lazy } from '../../lib/shared/lazy.ts';

/** Runs the work of a function with the permissions of the function's role. */
export type RunWithRole = <T>(work: () => Promise<T>) => Promise<T>;

interface RunningFunction {
  readonly name: string;
  readonly statements: () => readonly Statement[];
}

const running = new AsyncLocalStorage<RunningFunction>();
const refusals = new Set<string>();

/**
 * Returns a runner for the work of a function. A table call fails, as in AWS, if no grant of the capabilities allows it. The test
 * then fails too, even if the work handles the error. Calls to other services are not checked.
 */
export function roleOf(name: string, capabilities: readonly Capability<unknown>[]): RunWithRole {
  const caller = { name, statements: lazy(() => tableStatements(capabilities)) };
  return async (work) => {
    const result = await running.run(caller, work);
    expectNoRefusals();
    return result;
  };
}

/** Throws the error of AWS if the role of the running function does not allow a table call. Tests themselves may make any call. */
export function requirePermission(operation: string, input: Record<string, unknown>): void {
  const caller = running.getStore();
  if (!caller) return;
  for (const { action, resource } of dynamoDbAccesses(operation, input)) {
    if (isAllowed(caller.statements(), action, resource)) continue;
    const refusal = `${caller.name} declares no grant for ${action} on ${resource}`;
    refusals.add(refusal);
    throw Object.assign(new Error(refusal), { name: 'AccessDeniedException', $metadata: { attempts: 1 } });
  }
}

/** Throws if functions made table calls that their roles do not allow since the last call of this function. */
export function expectNoRefusals(): void {
  const all = [...refusals];
  refusals.clear();
  if (all.length > 0) throw new Error(all.join('\n'));
}

function tableStatements(capabilities: readonly Capability<unknown>[]): Statement[] {
  const table = tableArn(process.env.TABLE_NAME!);
  return mergeGrants(capabilities.flatMap(({ grants }) => grants))
    .filter(({ resource }) => resource === 'table' || resource.startsWith('index/'))
    .map(({ resource, actions }) => ({
      actions: new Set(actions.map((action) => `dynamodb:${action}`)),
      resources: [resource === 'table' ? table : `${table}/${resource}`],
    }));
}
