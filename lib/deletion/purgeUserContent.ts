import type { Comment } from '../comments/rules/comments.ts';
import {
  isCommentOf,
  eraseFromComment,
  eraseFromNotification,
  eraseFromThread,
  removeFromComment,
  removeFromNotification,
  removeFromThread,
  type RemovedUsers,
  isRecordingOf,
  isThreadOf,
  removeReactors,
} from '../content/rules/removedUsers.ts';
import type { Reaction } from '../reactions/rules.ts';
import { type Thread, removeComments } from '../comments/rules/threads.ts';
import { instantKey } from '../shared/times.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { Stored } from '../table/entity.ts';
import type { OrganizationScope } from '../directory/folders/folders.ts';
import { keyPrefix } from '../table/keys.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { replace, type Table, itemOf, type WriteOp } from '../table/table.ts';
import {
  removeInvolvement,
  type InvolvedKind,
  involvedKinds,
  type Involvement,
  InvolvementEntity,
} from '../content/involvements.ts';
import { NotificationEntity, notificationRemovalOps } from '../notifications/notifications.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { ReactionEntity, reactionDeletionOps, readCommentReactions } from '../reactions/reactions.ts';
import { RecordingEntity, recordingDeletionOps } from '../recordings/recordings.ts';
import {
  startLeftoverPurge,
  commentDeletionOps,
  finishLeftoverPurge,
  deleteThreads,
} from '../comments/deleteThreads.ts';
import { commentInvolvementOps } from '../comments/commentInvolvements.ts';
import { CommentEntity, ThreadEntity, type ThreadKey, ThreadReader } from '../comments/threads.ts';

/** How a user goes: `leave` is spec 4.18, where what the user said in others' threads stays; `erase` is GDPR deletion, where it goes. */
export type RemovalMode = 'remove' | 'erase';

/** What of a user's data is to go. */
export interface UserContentRemoval {
  /** Epoch ms: what was made later stays. */
  readonly until: number;
  readonly mode: RemovalMode;
  /** Only what lies in these documents, by their internal ids; everywhere in the organization when left out. */
  readonly documents?: ReadonlySet<string> | undefined;
  /** Where an earlier call stopped. */
  readonly after?: string | undefined;
}

/** How many edges are listed at a time, and in how many records at a time something changes. */
const EDGES_AT_A_TIME = 100;
const PARALLEL = 4;
/** What DynamoDB takes in one transaction. */
const MOST_OPERATIONS = 100;

/** One try to change something; `conflict` when somebody else changed it in between. */
type Outcome = 'done' | 'conflict';

/** Where something is changed, and of whom. */
export interface Removing {
  readonly table: Table;
  readonly scope: DocumentScope;
  readonly leaving: RemovedUsers;
  readonly mode: RemovalMode;
  readonly now: number;
}

/**
 * Removes a user's data of an organization, as far as the user's edges lead there (spec 4.18 and 4.19): threads that the user began go whole,
 * recordings and reactions of the user go, and the user is no longer notified of anything or subscribed to it. Comments in others' threads stay
 * with nothing but the author's id (`leave`), or go (`erase`, which reduces mentions to the id as well; what has no edge is `eraseTraces`'
 * business). Every edge up to `until` goes with what it leads to, in one transaction, conditioned on what was read; no event is emitted.
 * Stops at `deadline` (epoch ms) with where to go on. Done again, beside itself or from an earlier place it does no harm.
 * ABORTED when others keep changing the same thing.
 */
export async function purgeUserContent(
  table: Table,
  scope: OrganizationScope,
  userId: string,
  { until, mode, documents, after }: UserContentRemoval,
  clock: () => number,
  deadline: number,
): Promise<{ after: string } | 'done'> {
  const leaving: RemovedUsers = { userIds: new Set([userId]), until };
  // A sort key says which kind it is of: what comes before it is done.
  const begun =
    after === undefined ? 0 : involvedKinds.findIndex((kind) => after.startsWith(keyPrefix(['DATA', kind])));
  for (const [index, kind] of involvedKinds.entries()) {
    if (index < begun) continue;
    let from = index === begun ? after : undefined;
    do {
      if (clock() > deadline) return { after: from ?? keyPrefix(['DATA', kind]) };
      const page = await table.query(
        InvolvementEntity,
        { ...scope, userId },
        { between: upTo(kind, until), limit: EDGES_AT_A_TIME, after: from },
      );
      const edges = page.values
        .filter(({ documentKey }) => documents?.has(documentKey) ?? true)
        .map((edge): Involvement => ({ ...edge, userId, kind }));
      // What hangs on one comment or thread is changed one after the other.
      const groups = Map.groupBy(edges, ({ documentKey, id }) =>
        JSON.stringify([documentKey, kind === 'reaction' ? undefined : id]),
      );
      await inParallel([...groups.values()], PARALLEL, async (group) => {
        for (const edge of group) {
          const removing: Removing = {
            table,
            scope: { ...scope, documentKey: edge.documentKey },
            leaving,
            mode,
            now: clock(),
          };
          await retryOnConflict(() => removeEdge[kind](removing, edge));
        }
      });
      from = page.next;
    } while (from !== undefined);
  }
  return 'done';
}

/** The sort keys of the edges of a kind up to a time. */
function upTo(kind: InvolvedKind, until: number): [string, string] {
  // Behind all that begin with the time: the separator, plus one.
  return [keyPrefix(['DATA', kind]), `${keyPrefix(['DATA', kind, instantKey(until)]).slice(0, -1)}$`];
}

/** By the kind of what an edge leads to: what goes with it. */
const removeEdge: Readonly<Record<InvolvedKind, (removing: Removing, edge: Involvement) => Promise<Outcome>>> = {
  comment: (removing, edge) =>
    changeComment(removing, { annotationId: edge.id, createdAt: edge.createdAt }, edge.commentId ?? -1, [
      removeInvolvement(removing.scope, edge),
    ]),
  reaction: (removing, edge) =>
    changeReaction(removing, { annotationId: edge.id, createdAt: edge.createdAt }, [
      removeInvolvement(removing.scope, edge),
    ]),
  async recording(removing, edge) {
    const { table, scope, leaving } = removing;
    const recording = await table.get(RecordingEntity, { ...scope, annotationId: edge.id, createdAt: edge.createdAt });
    return outcomeOf(
      table,
      recording && isRecordingOf(recording, leaving)
        ? recordingDeletionOps(scope, [recording])
        : [removeInvolvement(scope, edge)],
    );
  },
  async notification(removing, edge) {
    const { table, scope, leaving, mode } = removing;
    const notification = await table.get(NotificationEntity, { ...scope, id: edge.id, createdAt: edge.createdAt });
    if (!notification) return outcomeOf(table, [removeInvolvement(scope, edge)]);
    const left =
      mode === 'remove' ? removeFromNotification(notification, leaving) : eraseFromNotification(notification, leaving);
    if (!left) return outcomeOf(table, notificationRemovalOps(scope, notification));
    return outcomeOf(table, [
      ...(left === notification ? [] : [replace(NotificationEntity, { ...scope, ...left }, notification._r)]),
      removeInvolvement(scope, edge),
    ]);
  },
};

async function outcomeOf(table: Table, ops: readonly WriteOp[]): Promise<Outcome> {
  return (await table.write(ops)) === 'done' ? 'done' : 'conflict';
}

/**
 * One try to take those who go out of a comment and the head of its thread; with a thread that one of them began all of it goes, and with
 * `erase` a comment that one of them wrote. `beside` is written in the same transaction.
 */
export async function changeComment(
  removing: Removing,
  key: ThreadKey,
  commentId: number,
  beside: readonly WriteOp[] = [],
): Promise<Outcome> {
  const { table, scope, leaving, mode } = removing;
  const { annotationId, createdAt } = key;
  const [thread, comment] = await table.batchGet(
    itemOf(ThreadEntity, { ...scope, annotationId, createdAt }),
    itemOf(CommentEntity, { ...scope, annotationId, threadCreatedAt: createdAt, commentId }),
  );
  // What has no head is being removed, edges included.
  if (!thread || !comment) return outcomeOf(table, beside);
  if (isThreadOf(thread, leaving)) return removeThread(removing, thread, beside);
  if (mode === 'erase' && isCommentOf(comment, leaving)) return removeComment(removing, thread, comment, beside);
  const [head, after] =
    mode === 'remove'
      ? [removeFromThread(thread, leaving), removeFromComment(comment, leaving)]
      : [eraseFromThread(thread, leaving), eraseFromComment(comment, leaving)];
  return outcomeOf(table, [
    ...(head === thread ? [] : [replace(ThreadEntity, { ...scope, ...head }, thread._r)]),
    ...(after === comment ? [] : [replace(CommentEntity, { ...scope, ...after }, comment._r)]),
    ...beside,
  ]);
}

/** One try to remove a thread with all that hangs on it, then what else is to go. */
export async function removeThread(
  { table, scope, now }: Removing,
  thread: Stored<Thread>,
  beside: readonly WriteOp[] = [],
): Promise<Outcome> {
  const [outcome] = await deleteThreads(table, scope, [thread], now);
  // Beside the removal it could be twice in one transaction.
  return outcome === 'removed' ? outcomeOf(table, beside) : 'conflict';
}

/** One try to remove a comment with the reactions on it; the last one goes with its thread. */
async function removeComment(
  removing: Removing,
  thread: Stored<Thread>,
  comment: Stored<Comment>,
  beside: readonly WriteOp[],
): Promise<Outcome> {
  const { table, scope, leaving, now } = removing;
  const reader = new ThreadReader(table);
  const other = async (descending: boolean) =>
    (await reader.listComments(scope, thread, { limit: 2, descending })).values.find(
      ({ commentId }) => commentId !== comment.commentId,
    );
  const [isFirst, isLast] = [comment.commentId === thread.first.commentId, comment.commentId === thread.last.commentId];
  const [first, last] = await Promise.all([isFirst ? other(false) : undefined, isLast ? other(true) : undefined]);
  if ((isFirst && !first) || (isLast && !last)) return removeThread(removing, thread, beside);
  const next = eraseFromThread(removeComments(thread, [comment], { first, last }, thread.lastUpdated), leaving);
  const ops = [
    replace(ThreadEntity, { ...scope, ...next }, thread._r),
    ...commentDeletionOps(scope, thread, comment),
    // The assignee goes with the first comment and comes with the one that is first then.
    ...(first ? commentInvolvementOps(scope, { thread, comment: first }, { thread: next, comment: first }) : []),
  ];
  const own = beside.filter((op) => !ops.some((one) => isSameKey(one, op)));
  const references = comment.reactions ?? [];
  const reactions = (await readCommentReactions(table, scope, references)).filter((reaction) => reaction !== undefined);
  const reactionOps = reactionDeletionOps(scope, thread.documentId, reactions);
  if (ops.length + own.length + reactionOps.length <= MOST_OPERATIONS)
    return outcomeOf(table, [...ops, ...own, ...reactionOps]);
  const { op, unfinished } = startLeftoverPurge(scope, { documentId: thread.documentId, reactions: references }, now);
  if ((await table.write([...ops, ...own, op])) !== 'done') return 'conflict';
  await finishLeftoverPurge(table, scope.tenant, unfinished);
  return 'done';
}

/** Whether two removals are of the same item: a transaction takes none twice. */
function isSameKey(one: WriteOp, other: WriteOp): boolean {
  return 'remove' in one && 'remove' in other && one.remove.PK === other.remove.PK && one.remove.SK === other.remove.SK;
}

/** One try to take those who go out of a reaction; without the last of its users it goes, from its comment too. */
export async function changeReaction(
  removing: Removing,
  key: { annotationId: string; createdAt: number },
  beside: readonly WriteOp[] = [],
): Promise<Outcome> {
  const { table, scope, leaving } = removing;
  const reaction = await table.get(ReactionEntity, { ...scope, ...key });
  const left = reaction && removeReactors(reaction, leaving);
  if (!reaction || left === reaction) return outcomeOf(table, beside);
  if (left) return outcomeOf(table, [replace(ReactionEntity, { ...scope, ...left }, reaction._r), ...beside]);
  const ops = reactionDeletionOps(scope, reaction.documentId, [reaction]);
  return outcomeOf(table, [
    ...ops,
    ...beside.filter((op) => !ops.some((one) => isSameKey(one, op))),
    ...(await unnamed(table, scope, reaction)),
  ]);
}

/** The operation that takes a reaction from the comment that it is on. */
async function unnamed(table: Table, scope: DocumentScope, { annotationId, on }: Reaction): Promise<WriteOp[]> {
  const comment = on && (await table.get(CommentEntity, { ...scope, ...on }));
  if (!comment?.reactions?.some(({ id }) => id === annotationId)) return [];
  return [
    replace(
      CommentEntity,
      { ...scope, ...comment, reactions: comment.reactions.filter(({ id }) => id !== annotationId) },
      comment._r,
    ),
  ];
}
