import type { Comment } from './rules/comments.ts';
import { type Refused, type Thread, changeComments } from './rules/threads.ts';
import type { Stored } from '../table/entity.ts';
import { inTransactions, replace, type Table, type WriteOp } from '../table/table.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { commentInvolvementOps } from './commentInvolvements.ts';
import { CommentEntity, ThreadEntity } from './threads.ts';

/** What one transaction takes besides the head of the thread: of the 100 operations of DynamoDB. */
export const OPS_BESIDE_HEAD = 99;

/** Whether one transaction holds these operations: 100 of them, and 4 MB. */
export function fitsTransaction(ops: readonly WriteOp[]): boolean {
  return (
    inTransactions(
      ops.map((op) => ({ ops: [op] })),
      { operations: OPS_BESIDE_HEAD + 1 },
    ).length <= 1
  );
}

/** A comment before and after a change, with what tells of it. */
export interface ChangedComment {
  readonly before: Stored<Comment>;
  readonly after: Comment;
  readonly told: readonly WriteOp[];
}

/** What became of changes: the head after all of them, `conflict` when somebody else changed it, or why it could not be. */
export type ChangesOutcome = Stored<Thread> | 'conflict' | Refused;

/** The operations that change a comment, and whose data it is part of. */
export function changeOps(scope: DocumentScope, thread: Thread, { before, after, told }: ChangedComment): WriteOp[] {
  return [
    replace(CommentEntity, { ...scope, ...after }, before._r),
    ...commentInvolvementOps(scope, { thread, comment: before }, { thread, comment: after }),
    ...told,
  ];
}

/** Writes changes of comments that belong to one thread: in as few transactions as hold them, each with the head, which follows them. */
export async function writeChanges(
  table: Table,
  scope: DocumentScope,
  thread: Stored<Thread>,
  changes: readonly ChangedComment[],
  now: number,
): Promise<ChangesOutcome> {
  let head = thread;
  for (const group of inTransactions(
    changes.map((change) => ({ change, ops: changeOps(scope, thread, change) })),
    { operations: OPS_BESIDE_HEAD },
  )) {
    const next = changeComments(
      head,
      group.map(({ change }) => change.before),
      group.map(({ change }) => change.after),
      now,
    );
    if ('refused' in next) return next;
    if (
      (await table.write([
        replace(ThreadEntity, { ...scope, ...next }, head._r),
        ...group.flatMap(({ ops }) => ops),
      ])) !== 'done'
    )
      return 'conflict';
    head = { ...next, _r: head._r + 1 };
  }
  return head;
}
