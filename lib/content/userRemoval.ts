import { DocumentEntity } from '../directory/documents.ts';
import { inParallel } from '../shared/inParallel.ts';
import { isoTime } from '../shared/isoTime.ts';
import type { Entity, Stored } from '../table/entity.ts';
import { keyAfter } from '../table/keys.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import type { QueryPage, Table, WriteOp } from '../table/table.ts';
import type { DocumentScope } from './documentScope.ts';
import type { Involvement } from './involvements.ts';
import type { RemovedUsers } from './rules/removedUsers.ts';

/** The number of records that one query of an erasure reads. */
export const RECORDS_PER_PAGE = 1_000;
const PARALLEL = 4;

/**
 * Why users are removed.
 * - `remove`: the customer removed the users. Their comments in threads of other users stay.
 * - `erase`: the users are erased (GDPR). Their comments in threads of other users are deleted.
 */
export type RemovalMode = 'remove' | 'erase';

/** The users to remove, and the document from which they are removed. */
export interface DocumentRemoval {
  readonly table: Table;
  readonly scope: DocumentScope;
  readonly removedUsers: RemovedUsers;
  readonly mode: RemovalMode;
  readonly clock: () => number;
}

/** The result of one try. `conflict` means that another request changed a record after this try had read it. */
export type Outcome = 'done' | 'conflict';

/** Erases users from the records that one feature stored in a document. */
export interface EraseHook {
  /** The entities from whose records the hook erases users. A test checks that each entity with users has a hook. */
  readonly entities: readonly { readonly type: string }[];
  /**
   * True if the first pass of an erasure calls the hook too. Presences end early, because other users see them. Notifications are
   * erased while the comments that they quote still exist and say whose text it is.
   */
  readonly isEarly?: boolean;
  /**
   * Erases users from the next page of records, after the sort key `after`. Reads all records of the document and does not rely
   * on the lists of records that involve a user. Returns the sort key at which the page ends, or undefined after the last page.
   * Writes only records that change, with an optimistic lock. Throws ABORTED if other requests change a record during every try.
   */
  erase(removal: DocumentRemoval, after: string | undefined): Promise<string | undefined>;
}

/**
 * Tries once to remove a user from a record in one transaction. Also deletes the user's involvement: the item which says that the
 * user is involved in the record. If a request has involved the user again, the result is `conflict`.
 */
export type RemoveInvolved = (removal: DocumentRemoval, involvement: Stored<Involvement>) => Promise<Outcome>;

/**
 * Returns whether the document of a removal is deleted. `documentId` is the id that the customer chose. A removal must not delete
 * records of such a document: it would also delete their ids, which records of a new document with the same document id can use.
 * The purge of the document deletes the records.
 */
export async function isDocumentDeleted({ table, scope }: DocumentRemoval, documentId: string): Promise<boolean> {
  const document = await table.get(DocumentEntity, { ...scope, documentId });
  return document?.internalId !== scope.documentKey;
}

/** Returns both lists in one. Leaves out extra operations that remove the same item as an operation of `ops`. */
export function joinOps(ops: readonly WriteOp[], extraOps: readonly WriteOp[]): WriteOp[] {
  const keyOf = (op: WriteOp) => ('remove' in op ? JSON.stringify([op.remove.PK, op.remove.SK]) : undefined);
  // A transaction must not contain an item twice.
  const removed = new Set(ops.map(keyOf));
  return [...ops, ...extraOps.filter((op) => !('remove' in op) || !removed.has(keyOf(op)))];
}

/** Returns a page of a document's records that were created before or at the time of the removal. */
export function recordsUpTo<T, K>(
  { table, scope, removedUsers }: DocumentRemoval,
  entity: Entity<T, DocumentScope, K>,
  after: string | undefined,
): Promise<QueryPage<T>> {
  return table.query(entity, scope, {
    between: [isoTime(0), keyAfter([isoTime(removedUsers.removedAt)])],
    limit: RECORDS_PER_PAGE,
    after,
  });
}

/**
 * Erases users from those records of a page that `changes` selects, as `EraseHook.erase`. `opsOf` is called again after a conflict,
 * so it must read the record.
 */
export async function erasePage<T, K>(
  removal: DocumentRemoval,
  entity: Entity<T, DocumentScope, K>,
  after: string | undefined,
  changes: (record: T) => boolean,
  opsOf: (record: T) => Promise<readonly WriteOp[]>,
): Promise<string | undefined> {
  const page = await recordsUpTo(removal, entity, after);
  await writeEachRecord(removal, page.values.filter(changes), opsOf);
  return page.next;
}

/**
 * Writes the operations of each record in a transaction of its own. After a conflict, calls `opsOf` again. `opsOf` must therefore
 * read the record.
 */
export async function writeEachRecord<T>(
  { table }: DocumentRemoval,
  records: readonly T[],
  opsOf: (record: T) => Promise<readonly WriteOp[]>,
): Promise<void> {
  await inParallel(records, PARALLEL, (record) => retryOnConflict(async () => table.tryWrite(await opsOf(record))));
}
