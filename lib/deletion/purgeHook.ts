import type { DocumentScope } from '../content/documentScope.ts';
import type { PurgeBudget } from '../table/purgePartition.ts';
import type { Table } from '../table/table.ts';

/** Purges the items of one feature in a deleted document or organization. */
export interface PurgeHook<S> {
  /** The entities that the hook purges. A test checks that the hooks cover every entity. */
  readonly entities: readonly { readonly type: string }[];
  /**
   * Purges a few hundred items, or runs for about a second. Returns whether nothing remains. No request uses the items any more, so
   * the purge writes without conditions. It first removes the items that can be found only through a record, then the record. After
   * an interruption, the next run therefore finds these items again.
   */
  purge(table: Table, scope: S, budget: PurgeBudget): Promise<boolean>;
}

/** A deleted document. */
export interface DeletedDocument extends DocumentScope {
  /** The document id that the customer chose. */
  readonly documentId: string;
  /** Whether the organization is also deleted. Ids of the document's records can then not belong to a new document. */
  readonly withOrganization?: boolean | undefined;
}

/** Runs each hook at least once, until nothing remains or the budget is used up. Returns whether nothing remains. */
export async function runPurgeHooks<S>(
  hooks: readonly PurgeHook<S>[],
  table: Table,
  scope: S,
  budget: PurgeBudget,
): Promise<boolean> {
  let unfinished = hooks;
  do {
    const complete = await Promise.all(unfinished.map((hook) => hook.purge(table, scope, budget)));
    unfinished = unfinished.filter((_hook, index) => !complete[index]);
  } while (unfinished.length > 0 && budget.clock() < budget.deadline);
  return unfinished.length === 0;
}
