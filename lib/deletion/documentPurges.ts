import { inParallel } from '../shared/inParallel.ts';
import { ActivityEntity } from '../activities/activities.ts';
import { DeletedThreadEntity } from '../comments/deletedThreads.ts';
import { InvolvementEntity } from '../content/involvements.ts';
import { NotificationEntity, notificationRemovalOps } from '../notifications/notifications.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { LiveStateEntity } from '../liveState/liveStates.ts';
import { PresenceEntity } from '../presence/presences.ts';
import { ReactionEntity, reactionDeletionOps } from '../reactions/reactions.ts';
import { findRecordIds, RecordIdEntity, type RecordIdKey, releaseRecordId } from '../content/recordIds.ts';
import { RecordingEntity, recordingDeletionOps } from '../recordings/recordings.ts';
import { commentDeletionOps, removeAssigneeInvolvement } from '../comments/deleteThreads.ts';
import { CommentEntity, ThreadCounterEntity, ThreadEntity } from '../comments/threads.ts';
import { purgeEditors } from '../editors/deleteEditors.ts';
import { LiveChannelEntity } from '../live/entities.ts';
import type { Key, Stored } from '../table/entity.ts';
import { purgeDocumentJudgments } from '../memory/purgeJudgments.ts';
import { purgePartition } from '../table/purgePartition.ts';
import type { QueryableEntity, Table, WriteOp } from '../table/table.ts';
import type { DeletedDocument, PurgeHook } from './purgeHook.ts';
import { purgeResource, resourceEntities } from './purgeResource.ts';

/**
 * The most records that are read at a time, and about the most bytes. A record can have 360 KB, and several documents are purged at
 * the same time.
 */
const RECORDS = 200;
const BYTES = 1_000_000;
const PARALLEL = 16;

/** Items that can be found only through the records of a document. They are purged before the records. */
interface Derived {
  /** The keys of items that belong only to the records, for example involvements of users. */
  readonly keys: readonly Key[];
  /** The ids of the records. A new document can have taken over such an id. */
  readonly recordIds: readonly RecordIdKey[];
}

const KEY = Symbol('key');
type WithKey<T> = T & { readonly [KEY]: Key };

/**
 * Returns a hook that purges the records in one partition. It first purges the items that can be found only through these records.
 */
function purgeRecords<T>(
  entities: readonly { readonly type: string }[],
  records: QueryableEntity<T, DocumentScope>,
  derive: (document: DeletedDocument, records: readonly Stored<T>[]) => Derived,
): PurgeHook<DeletedDocument> {
  const withKeys: QueryableEntity<WithKey<T>, DocumentScope> = {
    partition: (scope) => records.partition(scope),
    fromItem(item, now) {
      const record = records.fromItem(item, now);
      return record && ({ ...record, [KEY]: { PK: item.PK, SK: item.SK } } as Stored<WithKey<T>>);
    },
  };
  return {
    entities,
    async purge(table, document) {
      const { values, next } = await table.query(withKeys, document, { limit: RECORDS, bytes: BYTES });
      const { keys, recordIds } = derive(document, values);
      await Promise.all([table.removeKeys(keys), purgeRecordIds(table, document, recordIds)]);
      await table.removeKeys(values.map((value) => value[KEY]));
      return next === undefined;
    },
  };
}

/**
 * Removes the ids of records that still belong to this document. A new document with the same document id can have records with the
 * same ids.
 */
async function purgeRecordIds(table: Table, document: DeletedDocument, ids: readonly RecordIdKey[]): Promise<void> {
  const { tenant, organizationKey } = document;
  if (document.withOrganization)
    return table.removeKeys(ids.map((id) => RecordIdEntity.key({ tenant, organizationKey, ...id })));
  const stored = await findRecordIds(table, document, ids);
  await inParallel([...ids.entries()], PARALLEL, async ([index, id]) => {
    const position = stored[index];
    // After a conflict, the id belongs to a new record and must stay.
    if (position) await table.write([releaseRecordId(document, id, position._r)]);
  });
}

function keysOf(ops: readonly WriteOp[]): Key[] {
  return ops.flatMap((op) => ('remove' in op ? [op.remove] : []));
}

/** Returns the keys of the involvements that operations remove. Other code removes the record and its id. */
function involvementKeys(ops: readonly WriteOp[]): Key[] {
  return keysOf(ops).filter(({ SK }) => SK.startsWith('DATA#'));
}

/** The partition of threads and their comments. */
const threadItems = {
  partition: (of: Parameters<typeof ThreadEntity.partition>[0]) => ThreadEntity.partition(of),
  fromItem(item: Parameters<typeof ThreadEntity.fromItem>[0], now: number) {
    const comment = item._t === CommentEntity.type ? CommentEntity.fromItem(item, now) : undefined;
    const thread = item._t === CommentEntity.type ? undefined : ThreadEntity.fromItem(item, now);
    const record = comment ?? thread;
    return record && { comment, thread, annotationId: record.annotationId, _r: record._r };
  },
};
/** A thread whose first comment is none of its comments. The assignee's involvement is then not among the removals of a comment. */
const noFirstComment = { first: { commentId: -1, createdAt: 0 } };

const purgeThreads = purgeRecords(
  [ThreadEntity, CommentEntity, InvolvementEntity, RecordIdEntity],
  threadItems,
  (document, items) => ({
    // The ids of threads also come from comments, because a thread without a head keeps its id until its last comment is removed.
    recordIds: [...new Set(items.map(({ annotationId }) => annotationId))].map((id) => ({
      kind: 'thread',
      id,
      within: document.documentId,
    })),
    keys: items.flatMap(({ comment, thread }) => {
      if (comment) return involvementKeys(commentDeletionOps(document, noFirstComment, comment));
      return thread?.assignedTo ? keysOf([removeAssigneeInvolvement(document, thread, thread.assignedTo)]) : [];
    }),
  }),
);

const purgeThreadNumbers: PurgeHook<DeletedDocument> = {
  entities: [ThreadCounterEntity],
  async purge(table, document) {
    await table.removeKeys([ThreadCounterEntity.key(document)]);
    return true;
  },
};

const purgeLiveChannel: PurgeHook<DeletedDocument> = {
  entities: [LiveChannelEntity],
  async purge(table, document) {
    await table.removeKeys([LiveChannelEntity.key(document)]);
    return true;
  },
};

const purgeDeletedThreads = purgeRecords([DeletedThreadEntity], DeletedThreadEntity, () => ({
  recordIds: [],
  keys: [],
}));

const purgeReactions = purgeRecords(
  [ReactionEntity, InvolvementEntity, RecordIdEntity],
  ReactionEntity,
  (document, records) => ({
    recordIds: records.map(({ annotationId }) => ({ kind: 'reaction', id: annotationId, within: document.documentId })),
    keys: involvementKeys(reactionDeletionOps(document, document.documentId, records)),
  }),
);

const purgeRecordings = purgeRecords(
  [RecordingEntity, InvolvementEntity, RecordIdEntity],
  RecordingEntity,
  (document, records) => ({
    recordIds: records.map(({ annotationId }) => ({
      kind: 'recording',
      id: annotationId,
      within: document.documentId,
    })),
    keys: involvementKeys(recordingDeletionOps(document, records)),
  }),
);

const purgeNotifications = purgeRecords(
  [NotificationEntity, InvolvementEntity, RecordIdEntity],
  NotificationEntity,
  (document, records) => ({
    recordIds: records.map(({ id }) => ({ kind: 'notification', id, within: '' })),
    keys: involvementKeys(records.flatMap((record) => notificationRemovalOps(document, record))),
  }),
);

const purgeActivities = purgeRecords([ActivityEntity, RecordIdEntity], ActivityEntity, (_document, records) => ({
  recordIds: records.map(({ id }) => ({ kind: 'activity', id, within: '' })),
  keys: [],
}));

const purgeLiveData: PurgeHook<DeletedDocument> = {
  entities: [PresenceEntity, LiveStateEntity],
  async purge(table, document, budget) {
    const partitions = [PresenceEntity, LiveStateEntity].map((entity) => entity.partition(document));
    const complete = await Promise.all(partitions.map((partition) => purgePartition(table, partition, budget)));
    return !complete.includes(false);
  },
};

const purgeAccess: PurgeHook<DeletedDocument> = {
  entities: resourceEntities,
  purge: (table, document, budget) => purgeResource(table, document, document.documentKey, budget),
};

/** All hooks for deleted documents. Each entity with `ownedBy: 'document'` is in one of these hooks. */
export const documentPurges: readonly PurgeHook<DeletedDocument>[] = [
  purgeThreads,
  purgeThreadNumbers,
  purgeLiveChannel,
  purgeDeletedThreads,
  purgeReactions,
  purgeRecordings,
  purgeNotifications,
  purgeActivities,
  purgeEditors,
  purgeDocumentJudgments,
  purgeLiveData,
  purgeAccess,
];
