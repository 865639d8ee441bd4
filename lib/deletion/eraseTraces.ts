import * as z from 'zod';
import {
  isCommentOf,
  eraseFromActivity,
  eraseFromComment,
  eraseFromNotification,
  eraseFromRecording,
  eraseFromThread,
  type RemovedUsers,
  quotedComment,
  isRecordingOf,
  isThreadOf,
  removeReactors,
} from '../content/rules/removedUsers.ts';
import type { Notification } from '../notifications/rules.ts';
import { instantKey } from '../shared/times.ts';
import { inParallel } from '../shared/inParallel.ts';
import { DocumentEntity } from '../directory/documents.ts';
import type { Entity, Stored } from '../table/entity.ts';
import type { OrganizationScope } from '../directory/folders/folders.ts';
import { keyPrefix } from '../table/keys.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { type QueryPage, remove, replace, type Table, upsert, type WriteOp } from '../table/table.ts';
import { ActivityEntity } from '../activities/activities.ts';
import { NotificationEntity, notificationRemovalOps } from '../notifications/notifications.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { ReactionEntity } from '../reactions/reactions.ts';
import { findRecordIds, claimRecordId, releaseRecordId } from '../content/recordIds.ts';
import { RecordingEntity, recordingDeletionOps } from '../recordings/recordings.ts';
import { CommentEntity, type StoredThread, ThreadEntity, ThreadReader } from '../comments/threads.ts';
import { changeComment, changeReaction, removeThread, type Removing } from './purgeUserContent.ts';

/** The position where a pass over an organization stopped. */
export const TracePosition = z.object({
  /** The last document that was started, as the customer's id. */
  listed: z.string().optional(),
  /** The documents that were started and not finished: the current part of each, and the last sort key. */
  open: z.array(z.object({ documentKey: z.string(), part: z.number(), after: z.string().optional() })),
});
export type TracePosition = z.output<typeof TracePosition>;
type OpenDocument = TracePosition['open'][number];

/** Documents that are read in parallel. */
const DOCUMENTS_AT_A_TIME = 8;
/** Records per query. */
const LOOKED_AT = 1_000;
const PARALLEL = 4;
/** Comments of one thread per read. */
const COMMENTS_AT_A_TIME = 200;

/** The users to erase, and the organization. */
interface Erasing {
  readonly table: Table;
  readonly scope: OrganizationScope;
  readonly leaving: RemovedUsers;
  readonly clock: () => number;
}

/** Continues a part of a document after a sort key. Returns the next sort key; undefined at the end. */
type Part = (erasing: Erasing, scope: DocumentScope, after: string | undefined) => Promise<string | undefined>;

/**
 * Which records a pass reads. Notifications are erased while the comments that they quote still exist: these comments show
 * whose text a notification quotes.
 */
export type Traces = 'notifications' | 'everything';

/**
 * Erases users from the content of an organization where no edge leads to it: activities, subscriptions, readers,
 * comments that stayed after an earlier removal, and the name, address and picture in records of other users
 * (`lib/content/rules/removedUsers.ts` has the rules). Reads all content of the organization once, several documents in
 * parallel. Writes only records that change, at the revision that was read (optimistic lock). Erases immutable activities
 * too: immutability is a rule for users of the customer, and GDPR overrides it. Returns the position at `deadline` (epoch ms).
 * Throws ABORTED if other requests keep changing a record.
 */
export async function eraseTraces(
  table: Table,
  scope: OrganizationScope,
  leaving: RemovedUsers,
  { what, from }: { what: Traces; from?: TracePosition | undefined },
  clock: () => number,
  deadline: number,
): Promise<TracePosition | 'done'> {
  const erasing: Erasing = { table, scope, leaving, clock };
  const parts = what === 'notifications' ? [notifications] : everyPart;
  let [listed, open] = [from?.listed, [...(from?.open ?? [])]];
  for (;;) {
    if (open.length === 0) {
      const after = listed === undefined ? undefined : DocumentEntity.key({ ...scope, documentId: listed }).SK;
      const page = await table.query(DocumentEntity, scope, { limit: DOCUMENTS_AT_A_TIME, after });
      if (page.values.length === 0) return 'done';
      listed = page.values.at(-1)?.documentId;
      open = page.values.map(({ internalId }) => ({ documentKey: internalId, part: 0 }));
    }
    const rest: OpenDocument[] = [];
    await inParallel(open, DOCUMENTS_AT_A_TIME, async (one) => {
      let at: OpenDocument | undefined = one;
      while (at && clock() <= deadline) at = await goOn(erasing, parts, at);
      if (at) rest.push(at);
    });
    open = rest;
    if (clock() > deadline) return { listed, open };
  }
}

async function goOn(
  erasing: Erasing,
  parts: readonly Part[],
  { documentKey, part, after }: OpenDocument,
): Promise<OpenDocument | undefined> {
  const next = await parts[part]?.(erasing, { ...erasing.scope, documentKey }, after);
  if (next !== undefined) return { documentKey, part, after: next };
  return part + 1 < parts.length ? { documentKey, part: part + 1 } : undefined;
}

/** Returns a page of the records of a document that were created up to a time. */
function recordsUpTo<T, K>(
  table: Table,
  entity: Entity<T, DocumentScope, K>,
  scope: DocumentScope,
  until: number,
  after: string | undefined,
): Promise<QueryPage<T>> {
  // The upper bound is the separator plus one. It includes all keys that start with the time.
  return table.query(entity, scope, {
    between: [instantKey(0), `${keyPrefix([instantKey(until)]).slice(0, -1)}$`],
    limit: LOOKED_AT,
    after,
  });
}

/** Writes the operations of each record. `opsOf` reads the record again on each retry after a conflict. */
async function each<T>(
  table: Table,
  records: readonly T[],
  opsOf: (record: T) => Promise<readonly WriteOp[]>,
): Promise<void> {
  await inParallel(records, PARALLEL, (record) =>
    retryOnConflict(async () => ((await table.write(await opsOf(record))) === 'done' ? 'done' : 'conflict')).then(
      () => undefined,
    ),
  );
}

const notifications: Part = async ({ table, leaving }, scope, after) => {
  const page = await recordsUpTo(table, NotificationEntity, scope, leaving.until, after);
  const quoting = page.values.flatMap((notification) => {
    const quoted = quotedComment(notification);
    return quoted ? [{ notification, quoted }] : [];
  });
  const comments = await table.getMany(
    CommentEntity,
    quoting.map(({ quoted }) => ({ ...scope, ...quoted })),
  );
  const quotes = new Set(
    quoting.flatMap(({ notification }, index) =>
      comments[index] && isCommentOf(comments[index], leaving) ? [notification.id] : [],
    ),
  );
  const leftOf = (notification: Stored<Notification>) =>
    eraseFromNotification(notification, leaving, quotes.has(notification.id));
  await each(
    table,
    page.values.filter((notification) => leftOf(notification) !== notification),
    async ({ id, createdAt }) => {
      const notification = await table.get(NotificationEntity, { ...scope, id, createdAt });
      const left = notification && leftOf(notification);
      if (!notification || left === notification) return [];
      return left
        ? [replace(NotificationEntity, { ...scope, ...left }, notification._r)]
        : notificationRemovalOps(scope, notification);
    },
  );
  return page.next;
};

const activities: Part = async ({ table, leaving }, scope, after) => {
  const page = await recordsUpTo(table, ActivityEntity, scope, leaving.until, after);
  await each(
    table,
    page.values.filter((activity) => eraseFromActivity(activity, leaving) !== activity),
    async ({ id, createdAt }) => {
      // A change of an activity also writes its id item. The id item is read first, so that its revision detects a concurrent change.
      const [position] = await findRecordIds(table, scope, [{ kind: 'activity', id, within: '' }]);
      const activity = await table.get(ActivityEntity, { ...scope, id, createdAt });
      const left = activity && eraseFromActivity(activity, leaving);
      if (!activity || left === activity) return [];
      const named = position?.createdAt === createdAt ? position : undefined;
      const name = { kind: 'activity', id, within: '', documentId: activity.documentId } as const;
      return [
        left ? upsert(ActivityEntity, { ...scope, ...left }) : remove(ActivityEntity, { ...scope, id, createdAt }),
        ...(named
          ? [left ? claimRecordId(scope, name, createdAt, named) : releaseRecordId(scope, name, named._r)]
          : []),
      ];
    },
  );
  return page.next;
};

const recordings: Part = async ({ table, leaving }, scope, after) => {
  const page = await recordsUpTo(table, RecordingEntity, scope, leaving.until, after);
  await each(
    table,
    page.values.filter(
      (recording) => isRecordingOf(recording, leaving) || eraseFromRecording(recording, leaving) !== recording,
    ),
    async ({ annotationId, createdAt }) => {
      const recording = await table.get(RecordingEntity, { ...scope, annotationId, createdAt });
      if (!recording) return [];
      if (isRecordingOf(recording, leaving)) return recordingDeletionOps(scope, [recording]);
      const left = eraseFromRecording(recording, leaving);
      return left === recording ? [] : [replace(RecordingEntity, { ...scope, ...left }, recording._r)];
    },
  );
  return page.next;
};

const reactions: Part = async (erasing, scope, after) => {
  const { table, leaving } = erasing;
  const page = await recordsUpTo(table, ReactionEntity, scope, leaving.until, after);
  // Sequential: reactions to one comment all change this comment.
  for (const reaction of page.values)
    if (removeReactors(reaction, leaving) !== reaction)
      await retryOnConflict(() => changeReaction(removing(erasing, scope), reaction));
  return page.next;
};

const threads: Part = async (erasing, scope, after) => {
  const reader = new ThreadReader(erasing.table);
  const { records, next } = await reader.list(scope, { descending: false, filters: {}, limit: LOOKED_AT, after });
  await inParallel(records, PARALLEL, async ({ value }) => eraseFromWhole(removing(erasing, scope), reader, value));
  return next;
};

/** Erases users from a thread and all of its comments. */
async function eraseFromWhole(
  at: Removing,
  reader: ThreadReader,
  { thread, comments, more }: StoredThread,
): Promise<void> {
  const { table, scope, leaving } = at;
  if (isThreadOf(thread, leaving)) {
    await retryOnConflict(async () => {
      const current = await table.get(ThreadEntity, { ...scope, ...thread });
      return current && isThreadOf(current, leaving) ? removeThread(at, current) : 'done';
    });
    return;
  }
  let [some, rest]: [StoredThread['comments'], boolean] = [comments, more];
  while (some.length > 0) {
    for (const comment of some) {
      if (isCommentOf(comment, leaving) || eraseFromComment(comment, leaving) !== comment)
        await retryOnConflict(() => changeComment(at, thread, comment.commentId));
    }
    const last = some.at(-1);
    if (!rest || !last) break;
    const page = await reader.listComments(scope, thread, {
      limit: COMMENTS_AT_A_TIME,
      after: CommentEntity.key({ ...scope, ...last }).SK,
    });
    [some, rest] = [page.values, page.next !== undefined];
  }
  if (eraseFromThread(thread, leaving) === thread) return;
  await retryOnConflict(async () => {
    const current = await table.get(ThreadEntity, { ...scope, ...thread });
    if (!current) return 'done';
    const left = eraseFromThread(current, leaving);
    if (left === current) return 'done';
    return (await table.write([replace(ThreadEntity, { ...scope, ...left }, current._r)])) === 'done'
      ? 'done'
      : 'conflict';
  });
}

function removing({ table, leaving, clock }: Erasing, scope: DocumentScope): Removing {
  return { table, scope, leaving, mode: 'erase', now: clock() };
}

const everyPart: readonly Part[] = [notifications, activities, recordings, reactions, threads];
