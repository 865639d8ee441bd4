import * as z from 'zod';
import type { Comment } from '../comments/rules/comments.ts';
import { ReactionReference } from '../reactions/rules.ts';
import type { Thread } from '../comments/rules/threads.ts';
import { newId } from '../shared/ids.ts';
import { inParallel } from '../shared/inParallel.ts';
import { inSlices } from '../shared/inSlices.ts';
import { LeftEditor, removeLeftEditor } from '../editors/removeEditors.ts';
import type { Stored } from '../table/entity.ts';
import { beginJob, endJob } from '../jobs/jobStore.ts';
import { settle } from '../table/retryOnConflict.ts';
import { inTransactions, remove, type Table, type WriteOp } from '../table/table.ts';
import { type Decision, writeEach } from '../table/writeEach.ts';
import { recordDeletion } from '../comments/deletedThreads.ts';
import { forget } from './involvements.ts';
import type { DocumentPlace } from './documentScope.ts';
import { reactionRemovalOps, readReactionsOn } from '../reactions/reactions.ts';
import { findRecords, unnameRecord } from './recordIds.ts';
import { type Assigning, edgeOps } from '../comments/threadEdges.ts';
import { CommentEntity, headsOf, ThreadEntity, ThreadReader } from '../comments/threads.ts';

/** How long whoever began a removal has to end it, before the job worker does. */
const TIME_TO_END = 5 * 60 * 1000;
/** How many of a thread's comments, and how much of them, are removed together with it, in one transaction; all or none. */
const TOGETHER = 20;
const TOGETHER_BYTES = 300_000;
/** How many threads are removed at a time: so many are in memory, with these comments. */
const THREADS_AT_A_TIME = 50;
/** What DynamoDB takes in one transaction. */
const MOST_OPERATIONS = 100;
/** How many comments the rest of a removal takes at a time. */
const AT_A_TIME = 25;
const PARALLEL = 4;

/** What is left to remove of something that nobody sees any more. */
const Leftover = z.object({
  /** Internal ids. */
  organization: z.string(),
  document: z.string(),
  /** The customer's id of the document. */
  documentId: z.string(),
  /** A thread whose head is gone; its id stays taken until the last comment is gone, so that nobody gets a thread with old comments. */
  thread: z
    .object({
      annotationId: z.string(),
      createdAt: z.number(),
      first: z.object({ commentId: z.number(), createdAt: z.number() }),
      assignedTo: z.object({ userId: z.string() }).optional(),
    })
    .optional(),
  /** Reactions on comments that are gone. */
  reactions: z.array(ReactionReference).optional(),
  /** A collaborative editor whose head is gone. */
  editor: LeftEditor.optional(),
});
export type Leftover = z.output<typeof Leftover>;

/** A removal that goes on after its first transaction. */
export interface UnfinishedRemoval {
  readonly jobId: string;
  readonly leftover: Leftover;
}

/** Begins a removal that one transaction cannot hold: the operation goes into the first one, `endRemoval` does the rest. */
export function beginRemoval(
  place: DocumentPlace,
  left: Omit<Leftover, 'organization' | 'document'>,
  now: number,
): { op: WriteOp; unfinished: UnfinishedRemoval } {
  const { tenant, organization, document } = place;
  const unfinished = { jobId: newId('job', now), leftover: { organization, document, ...left } };
  return {
    unfinished,
    op: beginJob(
      tenant,
      { jobId: unfinished.jobId, kind: 'removeRecords', data: unfinished.leftover, dueAt: now + TIME_TO_END },
      now,
    ),
  };
}

/** Removes the rest, and the job that would do it otherwise. */
export async function endRemoval(table: Table, tenant: string, { jobId, leftover }: UnfinishedRemoval): Promise<void> {
  await removeRest(table, tenant, leftover);
  await table.writeSurely([endJob(tenant, jobId)]);
}

/** Removes what a removal left, from the data of its job; whatever is gone already is no matter, so it can be run again and beside itself. */
export async function removeRest(table: Table, tenant: string, data: unknown): Promise<void> {
  const { organization, document, documentId, thread, reactions = [], editor } = Leftover.parse(data);
  const place: DocumentPlace = { tenant, organization, document };
  await removeReactions(table, place, documentId, reactions);
  if (thread) await removeHeadless(table, place, documentId, thread);
  if (editor) await removeLeftEditor(table, place, editor);
}

async function removeHeadless(
  table: Table,
  place: DocumentPlace,
  documentId: string,
  thread: Leftover['thread'] & {},
): Promise<void> {
  const reader = new ThreadReader(table);
  for (;;) {
    const [head, { values }] = await Promise.all([
      table.get(ThreadEntity, { ...place, ...thread }),
      reader.comments(place, thread, { limit: AT_A_TIME }),
    ]);
    // Somebody else ended this removal, and the thread was added again.
    if (head) return;
    if (values.length === 0) break;
    await removeReactions(
      table,
      place,
      documentId,
      values.flatMap((comment) => comment.reactions ?? []),
    );
    const groups = inTransactions(values.map((comment) => ({ ops: commentRemovalOps(place, thread, comment) })));
    // One that somebody reacted to in between is read again, with the reaction.
    for (const group of groups) await table.write(group.flatMap(({ ops }) => ops));
  }
  if (thread.assignedTo) await table.write([forgetAssignee(place, thread, thread.assignedTo)]);
  const name = { kind: 'thread', id: thread.annotationId, within: documentId } as const;
  const [named] = await findRecords(table, place, [name]);
  if (named?.createdAt === thread.createdAt) await table.write([unnameRecord(place, name, named._r)]);
}

/**
 * The operation that forgets that a thread's assignee is involved in its first comment: only the head says so, and the comment may be gone without it
 * where the document is removed at the same time.
 */
export function forgetAssignee(
  place: DocumentPlace,
  { annotationId, first }: Pick<Thread, 'annotationId' | 'first'>,
  { userId }: { readonly userId: string },
): WriteOp {
  return forget(place, {
    kind: 'comment',
    document: place.document,
    id: annotationId,
    commentId: first.commentId,
    at: first.createdAt,
    userId,
  });
}

async function removeReactions(
  table: Table,
  place: DocumentPlace,
  documentId: string,
  references: readonly ReactionReference[],
): Promise<void> {
  await inParallel(references, PARALLEL, (reference) =>
    settle(async () => {
      const there = (await readReactionsOn(table, place, [reference])).filter((reaction) => reaction !== undefined);
      return (await table.write(reactionRemovalOps(place, documentId, there))) === 'done' ? 'done' : 'conflict';
    }).then(() => undefined),
  );
}

/** The operations that remove a comment as it was read, and it from the data of those whom it involves. Its reactions are another matter. */
export function commentRemovalOps(place: DocumentPlace, thread: Assigning, comment: Stored<Comment>): WriteOp[] {
  return [
    remove(CommentEntity, { ...place, ...comment }, comment._r),
    ...edgeOps(place, { thread, comment }, undefined),
  ];
}

/** A thread that is to be removed, with its first comments. */
export interface RemovableThread {
  readonly thread: Stored<Thread>;
  readonly comments: readonly Stored<Comment>[];
}

/** What became of the removal of a thread: `absent` when it was not there, `busy` when others kept changing it. */
export type ThreadRemoval = 'removed' | 'absent' | 'busy';

/**
 * Removes threads with all that hangs on them: comments, reactions, ids, and what makes them part of users' data. A thread is gone at
 * once; what one transaction cannot hold goes before this returns, or by a job if it is cut short. `threads` are distinct, as they were
 * read; `told` makes the operations of a thread's events, for its transaction.
 */
export async function removeThreads(
  table: Table,
  place: DocumentPlace,
  threads: readonly Stored<Thread>[],
  now: number,
  told: (removed: RemovableThread) => readonly WriteOp[] = () => [],
): Promise<ThreadRemoval[]> {
  return inSlices(threads, THREADS_AT_A_TIME, async (some) => {
    const heads = headsOf(table, place);
    const results = await writeEach<Stored<Thread>, Whole | undefined, Removed>({
      table,
      items: some,
      read: async (items) => readWhole(table, place, await heads(items)),
      decide: (_thread, whole) =>
        whole ? removal(place, whole, told(whole), now) : { result: { outcome: 'absent' }, ops: [] },
      conflicted: () => ({ outcome: 'busy' }),
    });
    await inParallel(results, PARALLEL, async ({ unfinished }) => {
      if (unfinished) await endRemoval(table, place.tenant, unfinished);
    });
    return results.map(({ outcome }) => outcome);
  });
}

/** A thread, its first comments, and what else goes with them. */
interface Whole extends RemovableThread {
  /** Whether that is all there is. */
  readonly complete: boolean;
  readonly reactionOps: readonly WriteOp[];
}

async function readWhole(
  table: Table,
  place: DocumentPlace,
  threads: readonly (Stored<Thread> | undefined)[],
): Promise<(Whole | undefined)[]> {
  const reader = new ThreadReader(table);
  const wholes: (Whole | undefined)[] = threads.map(() => undefined);
  await inParallel([...threads.entries()], PARALLEL, async ([index, thread]) => {
    if (!thread) return;
    const { values: comments, next } = await reader.comments(place, thread, { limit: TOGETHER, bytes: TOGETHER_BYTES });
    const references = comments.flatMap((comment) => comment.reactions ?? []);
    const complete = next === undefined && references.length <= TOGETHER;
    const reactions = complete ? await readReactionsOn(table, place, references) : [];
    wholes[index] = {
      thread,
      comments,
      complete,
      reactionOps: reactionRemovalOps(
        place,
        thread.documentId,
        reactions.filter((reaction) => reaction !== undefined),
      ),
    };
  });
  return wholes;
}

/** What became of the removal of a thread, and what is left to do. */
interface Removed {
  readonly outcome: ThreadRemoval;
  readonly unfinished?: UnfinishedRemoval;
}

function removal(
  place: DocumentPlace,
  { thread, comments, complete, reactionOps }: Whole,
  told: readonly WriteOp[],
  now: number,
): Decision<Removed> {
  const { annotationId, createdAt, first, assignedTo, documentId } = thread;
  const name = unnameRecord(place, { kind: 'thread', id: annotationId, within: documentId });
  const head = [remove(ThreadEntity, { ...place, ...thread }, thread._r), recordDeletion(place, thread, now), ...told];
  const rest = [name, ...comments.flatMap((comment) => commentRemovalOps(place, thread, comment)), ...reactionOps];
  if (complete && head.length + rest.length <= MOST_OPERATIONS)
    return { result: { outcome: 'removed' }, ops: [...head, ...rest] };
  const headless = { annotationId, createdAt, first, assignedTo: assignedTo && { userId: assignedTo.userId } };
  const { op, unfinished } = beginRemoval(place, { documentId, thread: headless }, now);
  return { result: { outcome: 'removed', unfinished }, ops: [...head, op] };
}
