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
import { changeComment, changeReaction, removeThread, type DocumentRemoval } from './purgeUserContent.ts';

/** The position where a pass over an organization stopped. */
export const ContentPosition = z.object({
  /** The last document that was started, as the customer's id. */
  listed: z.string().optional(),
  /** The documents that were started and not finished: the current part of each, and the last sort key. */
  open: z.array(z.object({ documentKey: z.string(), part: z.number(), after: z.string().optional() })),
});
export type ContentPosition = z.output<typeof ContentPosition>;
type OpenDocument = ContentPosition['open'][number];

/** Documents that are read in parallel. */
const DOCUMENTS_AT_A_TIME = 8;
/** Records per query. */
const RECORDS_PER_PAGE = 1_000;
const PARALLEL = 4;
/** Comments of one thread per read. */
const COMMENTS_AT_A_TIME = 200;

/** The users to erase, and the organization. */
interface OrganizationErasure {
  readonly table: Table;
  readonly scope: OrganizationScope;
  readonly removedUsers: RemovedUsers;
  readonly clock: () => number;
}

/** Continues a part of a document after a sort key. Returns the next sort key; undefined at the end. */
type Part = (
  erasure: OrganizationErasure,
  scope: DocumentScope,
  after: string | undefined,
) => Promise<string | undefined>;

/**
 * Which records a pass reads. Notifications are erased while the comments that they quote still exist: these comments
 * show whose text a notification quotes.
 */
export type ErasedRecords = 'notifications' | 'everything';

/**
 * Erases users from content that no involvement of these users leads to: activities, subscriptions, readers, comments that
 * stayed after an earlier removal, and the name, address and picture in records of other users
 * (`lib/content/rules/removedUsers.ts` has the rules). Reads all content of the organization once, several documents in
 * parallel. Writes only records that change, at the revision that was read (optimistic lock). Erases immutable
 * activities too: immutability is a rule for users of the customer, and GDPR overrides it. Returns the position at
 * `deadline` (epoch ms). Throws ABORTED if other requests keep changing a record.
 */
export async function eraseContent(
  table: Table,
  scope: OrganizationScope,
  removedUsers: RemovedUsers,
  { records, from }: { records: ErasedRecords; from?: ContentPosition | undefined },
  clock: () => number,
  deadline: number,
): Promise<ContentPosition | 'done'> {
  const erasure: OrganizationErasure = { table, scope, removedUsers, clock };
  const parts = records === 'notifications' ? [notifications] : everyPart;
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
      while (at && clock() <= deadline) at = await continuePart(erasure, parts, at);
      if (at) rest.push(at);
    });
    open = rest;
    if (clock() > deadline) return { listed, open };
  }
}

async function continuePart(
  erasure: OrganizationErasure,
  parts: readonly Part[],
  { documentKey, part, after }: OpenDocument,
): Promise<OpenDocument | undefined> {
  const next = await parts[part]?.(erasure, { ...erasure.scope, documentKey }, after);
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
    limit: RECORDS_PER_PAGE,
    after,
  });
}

/** Writes the operations of each record. `opsOf` reads the record again on each retry after a conflict. */
async function writeEachRecord<T>(
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

const notifications: Part = async ({ table, removedUsers }, scope, after) => {
  const page = await recordsUpTo(table, NotificationEntity, scope, removedUsers.removedAt, after);
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
      comments[index] && isCommentOf(comments[index], removedUsers) ? [notification.id] : [],
    ),
  );
  const erase = (notification: Stored<Notification>) =>
    eraseFromNotification(notification, removedUsers, quotes.has(notification.id));
  await writeEachRecord(
    table,
    page.values.filter((notification) => erase(notification) !== notification),
    async ({ id, createdAt }) => {
      const notification = await table.get(NotificationEntity, { ...scope, id, createdAt });
      const erased = notification && erase(notification);
      if (!notification || erased === notification) return [];
      return erased
        ? [replace(NotificationEntity, { ...scope, ...erased }, notification._r)]
        : notificationRemovalOps(scope, notification);
    },
  );
  return page.next;
};

const activities: Part = async ({ table, removedUsers }, scope, after) => {
  const page = await recordsUpTo(table, ActivityEntity, scope, removedUsers.removedAt, after);
  await writeEachRecord(
    table,
    page.values.filter((activity) => eraseFromActivity(activity, removedUsers) !== activity),
    async ({ id, createdAt }) => {
      // A change of an activity also writes its id item. The id item is read first, so that its revision detects a
      // concurrent change.
      const [position] = await findRecordIds(table, scope, [{ kind: 'activity', id, within: '' }]);
      const activity = await table.get(ActivityEntity, { ...scope, id, createdAt });
      const erased = activity && eraseFromActivity(activity, removedUsers);
      if (!activity || erased === activity) return [];
      const idItem = position?.createdAt === createdAt ? position : undefined;
      const idKey = { kind: 'activity', id, within: '', documentId: activity.documentId } as const;
      return [
        erased ? upsert(ActivityEntity, { ...scope, ...erased }) : remove(ActivityEntity, { ...scope, id, createdAt }),
        ...(idItem
          ? [erased ? claimRecordId(scope, idKey, createdAt, idItem) : releaseRecordId(scope, idKey, idItem._r)]
          : []),
      ];
    },
  );
  return page.next;
};

const recordings: Part = async ({ table, removedUsers }, scope, after) => {
  const page = await recordsUpTo(table, RecordingEntity, scope, removedUsers.removedAt, after);
  await writeEachRecord(
    table,
    page.values.filter(
      (recording) =>
        isRecordingOf(recording, removedUsers) || eraseFromRecording(recording, removedUsers) !== recording,
    ),
    async ({ annotationId, createdAt }) => {
      const recording = await table.get(RecordingEntity, { ...scope, annotationId, createdAt });
      if (!recording) return [];
      if (isRecordingOf(recording, removedUsers)) return recordingDeletionOps(scope, [recording]);
      const erased = eraseFromRecording(recording, removedUsers);
      return erased === recording ? [] : [replace(RecordingEntity, { ...scope, ...erased }, recording._r)];
    },
  );
  return page.next;
};

const reactions: Part = async (erasure, scope, after) => {
  const { table, removedUsers } = erasure;
  const page = await recordsUpTo(table, ReactionEntity, scope, removedUsers.removedAt, after);
  // Sequential: reactions to one comment all change this comment.
  for (const reaction of page.values)
    if (removeReactors(reaction, removedUsers) !== reaction)
      await retryOnConflict(() => changeReaction(toDocumentRemoval(erasure, scope), reaction));
  return page.next;
};

const threads: Part = async (erasure, scope, after) => {
  const reader = new ThreadReader(erasure.table);
  const { records, next } = await reader.list(scope, {
    descending: false,
    filters: {},
    limit: RECORDS_PER_PAGE,
    after,
  });
  await inParallel(records, PARALLEL, async ({ value }) =>
    eraseFromWholeThread(toDocumentRemoval(erasure, scope), reader, value),
  );
  return next;
};

/** Erases users from a thread and all of its comments. */
async function eraseFromWholeThread(
  at: DocumentRemoval,
  reader: ThreadReader,
  { thread, comments, more }: StoredThread,
): Promise<void> {
  const { table, scope, removedUsers } = at;
  if (isThreadOf(thread, removedUsers)) {
    await retryOnConflict(async () => {
      const current = await table.get(ThreadEntity, { ...scope, ...thread });
      return current && isThreadOf(current, removedUsers) ? removeThread(at, current) : 'done';
    });
    return;
  }
  let [batch, rest]: [StoredThread['comments'], boolean] = [comments, more];
  while (batch.length > 0) {
    for (const comment of batch) {
      if (isCommentOf(comment, removedUsers) || eraseFromComment(comment, removedUsers) !== comment)
        await retryOnConflict(() => changeComment(at, thread, comment.commentId));
    }
    const last = batch.at(-1);
    if (!rest || !last) break;
    const page = await reader.listComments(scope, thread, {
      limit: COMMENTS_AT_A_TIME,
      after: CommentEntity.key({ ...scope, ...last }).SK,
    });
    [batch, rest] = [page.values, page.next !== undefined];
  }
  if (eraseFromThread(thread, removedUsers) === thread) return;
  await retryOnConflict(async () => {
    const current = await table.get(ThreadEntity, { ...scope, ...thread });
    if (!current) return 'done';
    const erased = eraseFromThread(current, removedUsers);
    if (erased === current) return 'done';
    return (await table.write([replace(ThreadEntity, { ...scope, ...erased }, current._r)])) === 'done'
      ? 'done'
      : 'conflict';
  });
}

function toDocumentRemoval({ table, removedUsers, clock }: OrganizationErasure, scope: DocumentScope): DocumentRemoval {
  return { table, scope, removedUsers, mode: 'erase', now: clock() };
}

const everyPart: readonly Part[] = [notifications, activities, recordings, reactions, threads];
