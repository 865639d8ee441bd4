import { inParallel } from '../shared/inParallel.ts';
import { isoTime } from '../shared/isoTime.ts';
import type { Entity } from '../table/entity.ts';
import { keyPrefix } from '../table/keys.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import type { QueryPage, Table, WriteOp } from '../table/table.ts';
import type { DocumentScope } from './documentScope.ts';
import type { Involvement } from './involvements.ts';
import type { RemovedUsers } from './rules/removedUsers.ts';

/** Records per query of an erasure. */
export const RECORDS_PER_PAGE = 1_000;
const PARALLEL = 4;

/**
 * `remove`: the user was removed by the customer, and comments in threads of other users stay. `erase`: GDPR deletion,
 * and these comments are removed too.
 */
export type RemovalMode = 'remove' | 'erase';

/** The users to remove, and the document to remove them from. */
export interface DocumentRemoval {
  readonly table: Table;
  readonly scope: DocumentScope;
  readonly removedUsers: RemovedUsers;
  readonly mode: RemovalMode;
  readonly clock: () => number;
}

/** The result of one try. `conflict`: another request changed a record since the read. */
export type Outcome = 'done' | 'conflict';

/** Removes users from what one feature stored in a document. */
export interface EraseHook {
  /** The entities that it removes users from. A test checks that every entity is covered or has no users. */
  readonly entities: readonly { readonly type: string }[];
  /**
   * Erases users from a page of records after a sort key, whether or not an involvement leads to them. Returns the next
   * sort key; undefined at the end. Writes only records that change, at the revision that was read (optimistic lock).
   * Throws ABORTED if other requests keep changing a record.
   */
  erase(removal: DocumentRemoval, after: string | undefined): Promise<string | undefined>;
}

/** Tries once to remove an involvement, and the user from its record, in one transaction. */
export type RemoveInvolved = (removal: DocumentRemoval, involvement: Involvement) => Promise<Outcome>;

/** Writes operations once. */
export async function writeOnce(table: Table, ops: readonly WriteOp[]): Promise<Outcome> {
  return (await table.write(ops)) === 'done' ? 'done' : 'conflict';
}

/** Whether two removals have the same key. A transaction must not contain an item twice. */
export function isSameKey(one: WriteOp, other: WriteOp): boolean {
  return 'remove' in one && 'remove' in other && one.remove.PK === other.remove.PK && one.remove.SK === other.remove.SK;
}

/** Returns a page of the records of a document that were created up to the removal. */
export function recordsUpTo<T, K>(
  { table, scope, removedUsers }: DocumentRemoval,
  entity: Entity<T, DocumentScope, K>,
  after: string | undefined,
): Promise<QueryPage<T>> {
  // The upper bound is the separator plus one. It includes all keys that start with the time.
  return table.query(entity, scope, {
    between: [isoTime(0), `${keyPrefix([isoTime(removedUsers.removedAt)]).slice(0, -1)}$`],
    limit: RECORDS_PER_PAGE,
    after,
  });
}

/** Writes the operations of each record. `opsOf` reads the record again on each retry after a conflict. */
export async function writeEachRecord<T>(
  { table }: DocumentRemoval,
  records: readonly T[],
  opsOf: (record: T) => Promise<readonly WriteOp[]>,
): Promise<void> {
  await inParallel(records, PARALLEL, async (record) => {
    await retryOnConflict(async () => writeOnce(table, await opsOf(record)));
  });
}
