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

/**
 * `remove`: the user was removed by the customer, and comments in threads of other users stay. `erase`: GDPR deletion,
 * and these comments are removed too.
 */
export type RemovalMode = 'remove' | 'erase';

/** Which data of a user to purge. */
export interface UserContentPurge {
  /** Epoch ms. Data that was made later stays. */
  readonly removedAt: number;
  readonly mode: RemovalMode;
  /** Limits the purge to these documents (internal ids). The whole organization if left out. */
  readonly documents?: ReadonlySet<string> | undefined;
  /** The position where an earlier call stopped. */
  readonly after?: string | undefined;
}

/** Involvements per page. */
const INVOLVEMENTS_PER_PAGE = 100;
const PARALLEL = 4;
/** The limit of DynamoDB for one transaction. */
const MOST_OPERATIONS = 100;

/** The result of one try. `conflict`: another request changed a record since the read. */
type Outcome = 'done' | 'conflict';

/** The users to remove, and the document to remove them from. */
export interface DocumentRemoval {
  readonly table: Table;
  readonly scope: DocumentScope;
  readonly removedUsers: RemovedUsers;
  readonly mode: RemovalMode;
  readonly now: number;
}

/**
 * Purges a user's data in an organization, as far as the user's involvements lead to it:
 * - Threads that the user started are removed with all comments. So are the user's recordings and reactions.
 * - Comments in threads of other users keep only the author's id (`remove`), or are removed (`erase`).
 * - The user is removed from notifications and subscriptions. `erase` also reduces mentions to the id.
 *
 * `eraseContent` handles data without involvements. Each involvement up to `removedAt` is removed in one transaction with its record,
 * on the condition that the record has not changed. Emits no events. Idempotent: a call may run twice, concurrently or
 * from an older position.
 *
 * Returns the position at `deadline` (epoch ms). Throws ABORTED if other requests keep changing a record.
 */
export async function purgeUserContent(
  table: Table,
  scope: OrganizationScope,
  userId: string,
  { removedAt, mode, documents, after }: UserContentPurge,
  clock: () => number,
  deadline: number,
): Promise<{ after: string } | 'done'> {
  const removedUsers: RemovedUsers = { userIds: new Set([userId]), removedAt };
  // The sort key contains the kind. Kinds before it are done.
  const firstKind =
    after === undefined ? 0 : involvedKinds.findIndex((kind) => after.startsWith(keyPrefix(['DATA', kind])));
  for (const [index, kind] of involvedKinds.entries()) {
    if (index < firstKind) continue;
    let from = index === firstKind ? after : undefined;
    do {
      if (clock() > deadline) return { after: from ?? keyPrefix(['DATA', kind]) };
      const page = await table.query(
        InvolvementEntity,
        { ...scope, userId },
        { between: upTo(kind, removedAt), limit: INVOLVEMENTS_PER_PAGE, after: from },
      );
      const involvements = page.values
        .filter(({ documentKey }) => documents?.has(documentKey) ?? true)
        .map((involvement): Involvement => ({ ...involvement, userId, kind }));
      // Sequential within a group: involvements of one thread, or reactions, change the same records.
      const groups = Map.groupBy(involvements, ({ documentKey, id }) =>
        JSON.stringify([documentKey, kind === 'reaction' ? undefined : id]),
      );
      await inParallel([...groups.values()], PARALLEL, async (group) => {
        for (const involvement of group) {
          const removal: DocumentRemoval = {
            table,
            scope: { ...scope, documentKey: involvement.documentKey },
            removedUsers,
            mode,
            now: clock(),
          };
          await retryOnConflict(() => removeInvolved[kind](removal, involvement));
        }
      });
      from = page.next;
    } while (from !== undefined);
  }
  return 'done';
}

/** Returns the range of sort keys of a kind of involvements up to a time. */
function upTo(kind: InvolvedKind, removedAt: number): [string, string] {
  // The upper bound is the separator plus one. It includes all keys that start with the time.
  return [keyPrefix(['DATA', kind]), `${keyPrefix(['DATA', kind, instantKey(removedAt)]).slice(0, -1)}$`];
}

/** Removes an involvement and its record, by kind. */
const removeInvolved: Readonly<
  Record<InvolvedKind, (removal: DocumentRemoval, involvement: Involvement) => Promise<Outcome>>
> = {
  comment: (removal, involvement) =>
    changeComment(
      removal,
      { annotationId: involvement.id, createdAt: involvement.createdAt },
      involvement.commentId ?? -1,
      [removeInvolvement(removal.scope, involvement)],
    ),
  reaction: (removal, involvement) =>
    changeReaction(removal, { annotationId: involvement.id, createdAt: involvement.createdAt }, [
      removeInvolvement(removal.scope, involvement),
    ]),
  async recording(removal, involvement) {
    const { table, scope, removedUsers } = removal;
    const recording = await table.get(RecordingEntity, {
      ...scope,
      annotationId: involvement.id,
      createdAt: involvement.createdAt,
    });
    return outcomeOf(
      table,
      recording && isRecordingOf(recording, removedUsers)
        ? recordingDeletionOps(scope, [recording])
        : [removeInvolvement(scope, involvement)],
    );
  },
  async notification(removal, involvement) {
    const { table, scope, removedUsers, mode } = removal;
    const notification = await table.get(NotificationEntity, {
      ...scope,
      id: involvement.id,
      createdAt: involvement.createdAt,
    });
    if (!notification) return outcomeOf(table, [removeInvolvement(scope, involvement)]);
    const remaining =
      mode === 'remove'
        ? removeFromNotification(notification, removedUsers)
        : eraseFromNotification(notification, removedUsers);
    if (!remaining) return outcomeOf(table, notificationRemovalOps(scope, notification));
    return outcomeOf(table, [
      ...(remaining === notification ? [] : [replace(NotificationEntity, { ...scope, ...remaining }, notification._r)]),
      removeInvolvement(scope, involvement),
    ]);
  },
};

async function outcomeOf(table: Table, ops: readonly WriteOp[]): Promise<Outcome> {
  return (await table.write(ops)) === 'done' ? 'done' : 'conflict';
}

/**
 * Tries once to remove users from a comment and from the head of its thread. Removes the whole thread if one of the
 * users started it. With `erase`, removes the comment if one of the users wrote it. Writes `extraOps` in the same
 * transaction.
 */
export async function changeComment(
  removal: DocumentRemoval,
  key: ThreadKey,
  commentId: number,
  extraOps: readonly WriteOp[] = [],
): Promise<Outcome> {
  const { table, scope, removedUsers, mode } = removal;
  const { annotationId, createdAt } = key;
  const [thread, comment] = await table.batchGet(
    itemOf(ThreadEntity, { ...scope, annotationId, createdAt }),
    itemOf(CommentEntity, { ...scope, annotationId, threadCreatedAt: createdAt, commentId }),
  );
  // A thread without a head is being removed, with its involvements.
  if (!thread || !comment) return outcomeOf(table, extraOps);
  if (isThreadOf(thread, removedUsers)) return removeThread(removal, thread, extraOps);
  if (mode === 'erase' && isCommentOf(comment, removedUsers)) return removeComment(removal, thread, comment, extraOps);
  const [head, after] =
    mode === 'remove'
      ? [removeFromThread(thread, removedUsers), removeFromComment(comment, removedUsers)]
      : [eraseFromThread(thread, removedUsers), eraseFromComment(comment, removedUsers)];
  return outcomeOf(table, [
    ...(head === thread ? [] : [replace(ThreadEntity, { ...scope, ...head }, thread._r)]),
    ...(after === comment ? [] : [replace(CommentEntity, { ...scope, ...after }, comment._r)]),
    ...extraOps,
  ]);
}

/** Tries once to remove a thread with all its records. Then writes `extraOps`. */
export async function removeThread(
  { table, scope, now }: DocumentRemoval,
  thread: Stored<Thread>,
  extraOps: readonly WriteOp[] = [],
): Promise<Outcome> {
  const [outcome] = await deleteThreads(table, scope, [thread], now);
  // A separate write: one transaction must not contain an item twice.
  return outcome === 'removed' ? outcomeOf(table, extraOps) : 'conflict';
}

/** Tries once to remove a comment with its reactions. Removes the thread if this is its last comment. */
async function removeComment(
  removal: DocumentRemoval,
  thread: Stored<Thread>,
  comment: Stored<Comment>,
  extraOps: readonly WriteOp[],
): Promise<Outcome> {
  const { table, scope, removedUsers, now } = removal;
  const reader = new ThreadReader(table);
  const other = async (descending: boolean) =>
    (await reader.listComments(scope, thread, { limit: 2, descending })).values.find(
      ({ commentId }) => commentId !== comment.commentId,
    );
  const [isFirst, isLast] = [comment.commentId === thread.first.commentId, comment.commentId === thread.last.commentId];
  const [first, last] = await Promise.all([isFirst ? other(false) : undefined, isLast ? other(true) : undefined]);
  if ((isFirst && !first) || (isLast && !last)) return removeThread(removal, thread, extraOps);
  const next = eraseFromThread(removeComments(thread, [comment], { first, last }, thread.lastUpdated), removedUsers);
  const ops = [
    replace(ThreadEntity, { ...scope, ...next }, thread._r),
    ...commentDeletionOps(scope, thread, comment),
    // The first comment holds the assignee. The next comment takes over.
    ...(first ? commentInvolvementOps(scope, { thread, comment: first }, { thread: next, comment: first }) : []),
  ];
  const otherOps = extraOps.filter((op) => !ops.some((one) => isSameKey(one, op)));
  const references = comment.reactions ?? [];
  const reactions = (await readCommentReactions(table, scope, references)).filter((reaction) => reaction !== undefined);
  const reactionOps = reactionDeletionOps(scope, thread.documentId, reactions);
  if (ops.length + otherOps.length + reactionOps.length <= MOST_OPERATIONS)
    return outcomeOf(table, [...ops, ...otherOps, ...reactionOps]);
  const { op, unfinished } = startLeftoverPurge(scope, { documentId: thread.documentId, reactions: references }, now);
  if ((await table.write([...ops, ...otherOps, op])) !== 'done') return 'conflict';
  await finishLeftoverPurge(table, scope.tenant, unfinished);
  return 'done';
}

/** Whether two removals have the same key. A transaction must not contain an item twice. */
function isSameKey(one: WriteOp, other: WriteOp): boolean {
  return 'remove' in one && 'remove' in other && one.remove.PK === other.remove.PK && one.remove.SK === other.remove.SK;
}

/** Tries once to remove users from a reaction. Removes the reaction, also from its comment, if no user is left. */
export async function changeReaction(
  removal: DocumentRemoval,
  key: { annotationId: string; createdAt: number },
  extraOps: readonly WriteOp[] = [],
): Promise<Outcome> {
  const { table, scope, removedUsers } = removal;
  const reaction = await table.get(ReactionEntity, { ...scope, ...key });
  const remaining = reaction && removeReactors(reaction, removedUsers);
  if (!reaction || remaining === reaction) return outcomeOf(table, extraOps);
  if (remaining)
    return outcomeOf(table, [replace(ReactionEntity, { ...scope, ...remaining }, reaction._r), ...extraOps]);
  const ops = reactionDeletionOps(scope, reaction.documentId, [reaction]);
  return outcomeOf(table, [
    ...ops,
    ...extraOps.filter((op) => !ops.some((one) => isSameKey(one, op))),
    ...(await commentReferenceRemoval(table, scope, reaction)),
  ]);
}

/** Returns the operation that removes a reaction from its comment. */
async function commentReferenceRemoval(
  table: Table,
  scope: DocumentScope,
  { annotationId, on }: Reaction,
): Promise<WriteOp[]> {
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
