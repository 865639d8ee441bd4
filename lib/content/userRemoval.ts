import { DocumentEntity } from '../directory/documents.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { inParallel } from '../shared/inParallel.ts';
import { isoTime } from '../shared/isoTime.ts';
import type { Entity, Stored } from '../table/entity.ts';
import { keyAfter } from '../table/keys.ts';
import { pages } from '../table/pages.ts';
import type { PurgeBudget } from '../table/purgePartition.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { type QueryPage, remove, replace, type Table, type WriteOp } from '../table/table.ts';
import type { DocumentScope } from './documentScope.ts';
import type { Involvement } from './involvements.ts';
import type { RemovedUsers } from './rules/removedUsers.ts';

export const RECORDS_PER_PAGE = 1_000;
const PARALLEL = 4;
const PARALLEL_IN_ORGANIZATION = 8;

/** `remove` keeps a user's comments in threads of others, `erase` (GDPR) deletes them. */
export type RemovalMode = 'remove' | 'erase';

export interface DocumentRemoval {
  readonly table: Table;
  readonly scope: DocumentScope;
  readonly removedUsers: RemovedUsers;
  readonly mode: RemovalMode;
  readonly clock: () => number;
}

export type Outcome = 'done' | 'conflict';

export interface EraseHook {
  readonly entities: readonly { readonly type: string }[];
  /** The first pass of an erasure runs the hook too, for example because other users see presences. */
  readonly isEarly?: boolean;
  /**
   * Erases users from the next page of records after the sort key `after`. Returns where the page ends, or undefined if
   * it is the last one. Throws ABORTED if others keep changing a record.
   */
  erase(removal: DocumentRemoval, after: string | undefined): Promise<string | undefined>;
}

/**
 * Tries once to remove a user from a record, and the involvement with it. `conflict` if another request has changed one
 * of them.
 */
export type RemoveInvolved = (removal: DocumentRemoval, involvement: Stored<Involvement>) => Promise<Outcome>;

/**
 * A removal must not delete records of a deleted document: their ids can belong to records of a new document. The purge
 * deletes them.
 */
export async function isDocumentDeleted({ table, scope }: DocumentRemoval, documentId: string): Promise<boolean> {
  const document = await table.get(DocumentEntity, { ...scope, documentId });
  return document?.internalId !== scope.documentKey;
}

export function joinOps(ops: readonly WriteOp[], extraOps: readonly WriteOp[]): WriteOp[] {
  const keyOf = (op: WriteOp) => ('remove' in op ? JSON.stringify([op.remove.PK, op.remove.SK]) : undefined);
  const removed = new Set(ops.map(keyOf));
  return [...ops, ...extraOps.filter((op) => !('remove' in op) || !removed.has(keyOf(op)))];
}

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

/** Calls `opsOf` again after a conflict, so it must read the record. */
export async function writeEachRecord<T>(
  { table }: DocumentRemoval,
  records: readonly T[],
  opsOf: (record: T) => Promise<readonly WriteOp[]>,
): Promise<void> {
  await inParallel(records, PARALLEL, (record) => retryOnConflict(async () => table.tryWrite(await opsOf(record))));
}

/**
 * For a kind with one partition for the organization. `change` returns the same record if nothing of it changes, and
 * undefined if it is deleted. Returns `done`, or the position for the next call at the end of the budget. Idempotent.
 * Throws ABORTED if other writers keep changing the same record.
 */
export async function changeInOrganization<T extends K, K>(
  table: Table,
  entity: Entity<T, OrganizationScope, K>,
  scope: OrganizationScope,
  { from, clock, deadline }: PurgeBudget & { readonly from: string | undefined },
  change: (record: Stored<T>) => T | undefined,
): Promise<{ readonly after: string } | 'done'> {
  const read = (after = from) => table.query(entity, scope, { limit: RECORDS_PER_PAGE, after });
  for await (const { values, next } of pages(read)) {
    const affected = values.filter((record) => change(record) !== record);
    await inParallel(affected, PARALLEL_IN_ORGANIZATION, (record) =>
      retryOnConflict(async () => {
        const key = { ...scope, ...record };
        const stored = await table.get(entity, key);
        const changed = stored && change(stored);
        if (!stored || changed === stored) return 'done';
        return table.tryWrite([
          changed ? replace(entity, { ...key, ...changed }, stored._r) : remove(entity, key, stored._r),
        ]);
      }),
    );
    if (next !== undefined && clock() > deadline) return { after: next };
  }
  return 'done';
}
