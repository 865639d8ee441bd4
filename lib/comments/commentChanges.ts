import type { DocumentScope } from '../content/documentScope.ts';
import type { Stored } from '../table/entity.ts';
import { inTransactions, replace, type Table, type WriteOp } from '../table/table.ts';
import { commentInvolvementOps } from './commentInvolvements.ts';
import type { Comment } from './rules/comments.ts';
import { changeComments, type Refused, type Thread } from './rules/threads.ts';
import { commentAccessOps } from './threadAccessChanges.ts';
import { CommentEntity, ThreadEntity } from './threads.ts';

/** The largest number of operations in a transaction besides the one that writes the thread. DynamoDB allows 100 in all. */
export const OPS_BESIDE_HEAD = 99;

/** Returns whether the operations fit into one transaction: at most 100 operations and 4 MB. */
export function fitsTransaction(ops: readonly WriteOp[]): boolean {
  const single = ops.map((op) => ({ ops: [op] }));
  return inTransactions(single, { operations: OPS_BESIDE_HEAD + 1 }).length <= 1;
}

/** A comment before and after a change, and the operations that write its events. */
export interface ChangedComment {
  readonly before: Stored<Comment>;
  readonly after: Comment;
  readonly eventOps: readonly WriteOp[];
}

/**
 * Returns the operations that write a changed comment, its events and its involvements: the items which say that the comment
 * involves a user.
 */
export function changeOps(
  scope: DocumentScope,
  thread: Thread,
  { before, after, eventOps }: ChangedComment,
  now: number,
): WriteOp[] {
  return [
    replace(CommentEntity, { ...scope, ...after }, before._r),
    ...commentAccessOps(scope, thread, before, after, now),
    ...commentInvolvementOps(scope, { thread, comment: before }, { thread, comment: after }, now),
    ...eventOps,
  ];
}

/**
 * Writes changes of a thread's comments in as few transactions as possible. Each transaction also writes the thread. Returns the
 * thread after all changes. Returns `conflict` if another request changed the thread, or the reason if a change is refused.
 */
export async function writeChanges(
  table: Table,
  scope: DocumentScope,
  thread: Stored<Thread>,
  changes: readonly ChangedComment[],
  now: number,
): Promise<Stored<Thread> | 'conflict' | Refused> {
  let head = thread;
  const units = changes.map((change) => ({ ...change, ops: changeOps(scope, thread, change, now) }));
  for (const group of inTransactions(units, { operations: OPS_BESIDE_HEAD })) {
    const [before, after] = [group.map((change) => change.before), group.map((change) => change.after)];
    const next = changeComments(head, before, after, now);
    if ('refused' in next) return next;
    const ops = [replace(ThreadEntity, { ...scope, ...next }, head._r), ...group.flatMap((change) => change.ops)];
    if ((await table.write(ops)) !== 'done') return 'conflict';
    head = { ...next, _r: head._r + 1 };
  }
  return head;
}
