import type { AgentLookup } from '../agents/agentRuns.ts';
import type { CommentAgent } from '../agents/rules/runs.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { claimRecordId, recordIdKey, type RecordPosition, releaseRecordId } from '../content/recordIds.ts';
import { joinOps } from '../content/userRemoval.ts';
import { ReactionEntity } from '../reactions/reactions.ts';
import type { Reaction } from '../reactions/rules.ts';
import type { Entity, Stored } from '../table/entity.ts';
import { insertOrReplace, inTransactions, remove, type Table, type WriteOp } from '../table/table.ts';
import { recordThreadDeletion } from './deletedThreads.ts';
import type { ContentChange } from './rules/commentEvents.ts';
import type { Change, ExistingThread, StoredParts } from './rules/threadParts.ts';
import type { Thread } from './rules/threads.ts';
import { accessOps } from './threadAccessChanges.ts';
import { involvementOps } from './threadInvolvements.ts';
import { CommentEntity, ThreadEntity } from './threads.ts';

export const MAX_OPERATIONS = 100;

export interface CommitTarget {
  readonly scope: DocumentScope;
  readonly now: number;
  /** Returns the operations of events and activities. Undefined for changes that report nothing. */
  readonly report?: ((changes: readonly ContentChange[]) => WriteOp[]) | undefined;
}

export interface LoadedParts extends StoredParts {
  /**
   * The stored positions of the ids that the change claims. They belong to deleted documents with the same document id.
   */
  readonly positions?: ReadonlyMap<string, Stored<RecordPosition> | undefined>;
  /** The thread has parts that were not read. Its id stays reserved after its deletion. */
  readonly isPartial?: boolean;
  /** If the first comment is deleted, the involvement of the assignee moves to the next one with its `since`. */
  readonly assignment?: { readonly since?: number | undefined } | undefined;
  readonly agents?: AgentLookup;
}

export type LoadedThread = LoadedParts & ExistingThread;

export interface ThreadChanges extends Change {
  readonly agents?: readonly CommentAgent[];
  /** Further operations. A deletion of an item that the change deletes too is left out. */
  readonly ops?: readonly WriteOp[] | undefined;
  /** The change removes or erases users, so it assigns nobody. */
  readonly isRemoval?: boolean;
}

export interface ThreadTransaction {
  readonly ops: readonly WriteOp[];
  readonly onWritten?: ((table: Table) => unknown) | undefined;
}

interface Difference<T> {
  readonly old: Stored<T> | undefined;
  readonly next: T | undefined;
  readonly op: WriteOp;
}

/**
 * Derives the transaction of a change of threads, comments or reactions. If no part differs, only `ops` are written.
 */
export function threadTransaction(
  { scope, now, report }: CommitTarget,
  before: LoadedParts,
  { after, events, agents = [], ops = [], isRemoval = false }: ThreadChanges,
): ThreadTransaction {
  const threads = differences(ThreadEntity, scope, listOf(before.thread), listOf(after.thread), now);
  const comments = differences(CommentEntity, scope, before.comments, after.comments, now);
  const reactions = differences(ReactionEntity, scope, before.reactions, after.reactions);
  if (threads.length + comments.length + reactions.length === 0) return { ops };
  const runs = before.agents?.recordRuns(agents, now);
  const assignedTo = before.thread?.assignedTo === after.thread?.assignedTo ? undefined : after.thread?.assignedTo;
  const derived = [
    // First, because `commitInParts` counts this operation once for all comments.
    ...threads.map(({ op }) => op),
    ...threads.flatMap((thread) => idOps(scope, 'thread', thread, before, now)),
    ...threads.flatMap(({ old, next }) => (old && !next ? [recordThreadDeletion(scope, old, now)] : [])),
    ...comments.map(({ op }) => op),
    ...involvementOps(scope, before, after, {
      since: before.assignment ? before.assignment.since : now,
      reassigned: isRemoval ? undefined : assignedTo?.userId,
    }),
    ...reactions.map(({ op }) => op),
    ...reactions.flatMap((reaction) => idOps(scope, 'reaction', reaction, before, now)),
    ...(before.thread && after.thread
      ? accessOps(scope, [before.thread, isRemoval ? before.thread : after.thread], comments, now)
      : []),
    ...(events.length > 0 ? (report?.(events) ?? []) : []),
    ...(runs?.ops ?? []),
  ];
  return { ops: joinOps(derived, ops), onWritten: runs?.onWritten };
}

/** Returns `conflict` if another request has changed a part. */
export async function commit(table: Table, { ops, onWritten }: ThreadTransaction): Promise<'done' | 'conflict'> {
  if ((await table.write(ops)) !== 'done') return 'conflict';
  await onWritten?.(table);
  return 'done';
}

export async function commitThread(
  table: Table,
  target: CommitTarget,
  before: LoadedParts,
  changes: ThreadChanges,
): Promise<'done' | 'conflict'> {
  return commit(table, threadTransaction(target, before, changes));
}

export function fitsTransaction(ops: readonly WriteOp[]): boolean {
  return (
    inTransactions(
      ops.map((op) => ({ ops: [op] })),
      { operations: MAX_OPERATIONS },
    ).length <= 1
  );
}

function listOf<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}

function differences<T extends K, K>(
  entity: Entity<T, DocumentScope, K>,
  scope: DocumentScope,
  before: readonly Stored<T>[],
  after: readonly T[],
  firstRevision?: number,
): Difference<T>[] {
  const keyOf = (part: T) => entity.key({ ...scope, ...part }).SK;
  const stored = new Map(before.map((part) => [keyOf(part), part]));
  const remaining = new Set(after.map(keyOf));
  return [
    ...after.flatMap((next) => {
      const old = stored.get(keyOf(next));
      return old === next
        ? []
        : [{ old, next, op: insertOrReplace(entity, { ...scope, ...next }, old, firstRevision) }];
    }),
    ...before.flatMap((old) =>
      remaining.has(keyOf(old)) ? [] : [{ old, next: undefined, op: remove(entity, { ...scope, ...old }, old._r) }],
    ),
  ];
}

function idOps(
  scope: DocumentScope,
  kind: 'thread' | 'reaction',
  { old, next }: Difference<Thread | Reaction>,
  { positions, isPartial = false }: LoadedParts,
  now: number,
): WriteOp[] {
  const part = next ?? old;
  if (!part || (old && next)) return [];
  const name = recordIdKey(kind, part.annotationId, part.documentId);
  if (next) return [claimRecordId(scope, name, next.createdAt, positions?.get(part.annotationId), now)];
  return kind === 'thread' && isPartial ? [] : [releaseRecordId(scope, name)];
}
