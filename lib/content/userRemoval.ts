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

/** Of one query of an erasure. */
export const RECORDS_PER_PAGE = 1_000;
const PARALLEL = 4;

/**
 * - `remove`: the customer removed the users. Their comments in threads of other users stay.
 * - `erase`: the users are erased (GDPR). Their comments in threads of other users are deleted.
 */
export type RemovalMode = 'remove' | 'erase';

export interface DocumentRemoval {
  readonly table: Table;
  readonly scope: DocumentScope;
  readonly removedUsers: RemovedUsers;
  readonly mode: RemovalMode;
  readonly clock: () => number;
}

/** `conflict`: another request changed a record since this try read it. */
export type Outcome = 'done' | 'conflict';

export interface EraseHook {
  /** A test checks that each entity with users has a hook. */
  readonly entities: readonly { readonly type: string }[];
  /**
   * Also in the first pass of an erasure. Presences end early, because other users see them, and notifications while
   * the comments that they quote still exist and say whose text it is.
   */
  readonly isEarly?: boolean;
  /**
   * The next page of records after the sort key `after`. Reads all records of the document, and does not rely on
   * involvements. Returns the sort key at which the page ends, or undefined after the last. Writes only records that
   * change, with an optimistic lock. Throws ABORTED if other requests change a record during every try.
   */
  erase(removal: DocumentRemoval, after: string | undefined): Promise<string | undefined>;
}

/**
 * Tries once, in one transaction that also deletes the user's involvement. `conflict` if a request has involved the
 * user again.
 */
export type RemoveInvolved = (removal: DocumentRemoval, involvement: Stored<Involvement>) => Promise<Outcome>;

/**
 * A removal must not delete records of a deleted document, because records of a new document with the same `documentId`
 * can use their ids. The purge deletes them.
 */
export async function isDocumentDeleted({ table, scope }: DocumentRemoval, documentId: string): Promise<boolean> {
  const document = await table.get(DocumentEntity, { ...scope, documentId });
  return document?.internalId !== scope.documentKey;
}

/** Leaves out extra removals of an item that `ops` removes. */
export function joinOps(ops: readonly WriteOp[], extraOps: readonly WriteOp[]): WriteOp[] {
  const keyOf = (op: WriteOp) => ('remove' in op ? JSON.stringify([op.remove.PK, op.remove.SK]) : undefined);
  // A transaction must not contain an item twice.
  const removed = new Set(ops.map(keyOf));
  return [...ops, ...extraOps.filter((op) => !('remove' in op) || !removed.has(keyOf(op)))];
}

/** Created before or at the time of the removal. */
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

/** Those that `changes` selects. `opsOf` is called again after a conflict, so it must read the record. */
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

/** One transaction each. `opsOf` is called again after a conflict, so it must read the record. */
export async function writeEachRecord<T>(
  { table }: DocumentRemoval,
  records: readonly T[],
  opsOf: (record: T) => Promise<readonly WriteOp[]>,
): Promise<void> {
  await inParallel(records, PARALLEL, (record) => retryOnConflict(async () => table.tryWrite(await opsOf(record))));
}
