import type { DocumentScope } from '../content/documentScope.ts';
import type { PurgeBudget } from '../table/purgePartition.ts';
import type { Table } from '../table/table.ts';

/** Purges the items of one feature in a deleted document or organization. */
export interface PurgeHook<S> {
  /** The entities that the hook purges. A test checks that the hooks cover every entity. */
  readonly entities: readonly { readonly type: string }[];
  /**
   * Purges some items, for about a second or a few hundred items. Returns whether nothing is left. Nobody reads or
   * writes the items any more, so the purge needs no conditions. It removes a record after the items that only this
   * record leads to, so that a run after an interruption finds these items again.
   */
  purge(table: Table, scope: S, budget: PurgeBudget): Promise<boolean>;
}

/** A deleted document. */
export interface DeletedDocument extends DocumentScope {
  /** The customer's id. */
  readonly documentId: string;
  /**
   * Whether the organization is deleted too. Then no new document can have taken over ids of the document's records.
   */
  readonly withOrganization?: boolean | undefined;
}

/** Runs hooks until nothing is left or the time is over, at least once each. Returns whether nothing is left. */
export async function runPurgeHooks<S>(
  hooks: readonly PurgeHook<S>[],
  table: Table,
  scope: S,
  budget: PurgeBudget,
): Promise<boolean> {
  let rest = hooks;
  do {
    const complete = await Promise.all(rest.map((hook) => hook.purge(table, scope, budget)));
    rest = rest.filter((_hook, index) => !complete[index]);
  } while (rest.length > 0 && budget.clock() < budget.deadline);
  return rest.length === 0;
}
