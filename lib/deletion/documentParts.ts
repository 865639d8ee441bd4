import type { Comment } from '../comments/rules/comments.ts';
import type { Thread } from '../comments/rules/threads.ts';
import { inParallel } from '../shared/inParallel.ts';
import { ActivityEntity } from '../activities/activities.ts';
import { DeletedThreadEntity } from '../comments/deletedThreads.ts';
import { InvolvementEntity } from '../content/involvements.ts';
import { NotificationEntity, notificationRemovalOps } from '../notifications/notifications.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { ReactionEntity, reactionDeletionOps } from '../reactions/reactions.ts';
import { findRecordIds, RecordIdEntity, type RecordIdKey, releaseRecordId } from '../content/recordIds.ts';
import { RecordingEntity, recordingDeletionOps } from '../recordings/recordings.ts';
import { commentDeletionOps, removeAssigneeInvolvement } from '../comments/deleteThreads.ts';
import { ThreadCounterEntity } from '../comments/threads.ts';
import { CommentEntity, ThreadEntity } from '../comments/threads.ts';
import { editorPart } from '../editors/deleteEditors.ts';
import type { Key, Stored } from '../table/entity.ts';
import { judgmentPart } from '../memory/purgeJudgments.ts';
import type { QueryableEntity, Table, WriteOp } from '../table/table.ts';
import { removeResource, resourceEntities } from './purgeResource.ts';

/** A document that is gone, and what may be known of its end. */
export interface RemovedPlace extends DocumentScope {
  /** The document under the customer's id. */
  readonly documentId: string;
  /** Whether its organization is gone as well: nobody can have taken over an id that a record of the document had. */
  readonly withOrganization?: boolean | undefined;
}

/** A part of what is removed with a document. */
export interface RemovalPart {
  /** What it reaches. */
  readonly entities: readonly { readonly type: string }[];
  /**
   * Removes some of it, for a second or a few hundred items, and gives whether nothing is left. What is found by a record goes before the record,
   * so that who is cut off half-way finds it again. Nobody reaches or writes it any more: no conditions, no transactions.
   */
  removeSome(table: Table, scope: RemovedPlace, clock: () => number): Promise<boolean>;
}

/** How many records are read at a time, and about how much: one can be 360 KB, and several documents are worked on. */
const RECORDS = 200;
const BYTES = 1_000_000;
const PARALLEL = 16;

/** What goes with a record. */
interface Derived {
  /** Items that nobody else has, such as the edges of users. */
  readonly keys: readonly Key[];
  /** Ids that lead to it. */
  readonly names: readonly RecordIdKey[];
}

/** A record of a document as it was read, with its key. */
type Lying<T> = Stored<T> & { readonly [KEY]: Key };
const KEY = Symbol('key');

/** A part that consists of records in one partition, and what is found by them. */
function recordsPart<T>(
  entities: readonly { readonly type: string }[],
  records: QueryableEntity<T, DocumentScope>,
  derive: (scope: RemovedPlace, all: readonly Stored<T>[]) => Derived,
): RemovalPart {
  const keyed: QueryableEntity<T & { readonly [KEY]: Key }, DocumentScope> = {
    partition: (scope) => records.partition(scope),
    fromItem(item, now) {
      const record = records.fromItem(item, now);
      return record && ({ ...record, [KEY]: { PK: item.PK, SK: item.SK } } as Lying<T>);
    },
  };
  return {
    entities,
    async removeSome(table, scope) {
      const { values, next } = await table.query(keyed, scope, { limit: RECORDS, bytes: BYTES });
      const { keys, names } = derive(scope, values);
      await Promise.all([table.removeKeys(keys), removeNames(table, scope, names)]);
      await table.removeKeys(values.map((value) => value[KEY]));
      return next === undefined;
    },
  };
}

/** Removes ids as long as they lead to this document: they can be those of records of another one by now, which was created under the same id. */
async function removeNames(table: Table, scope: RemovedPlace, names: readonly RecordIdKey[]): Promise<void> {
  const { tenant, organizationKey } = scope;
  if (scope.withOrganization)
    return table.removeKeys(names.map((name) => RecordIdEntity.key({ tenant, organizationKey, ...name })));
  const found = await findRecordIds(table, scope, names);
  await inParallel([...found.entries()], PARALLEL, async ([index, one]) => {
    // Who changed it since has made it another's.
    if (one) await table.write([releaseRecordId(scope, names[index] as RecordIdKey, one._r)]);
  });
}

const keysOf = (ops: readonly WriteOp[]): Key[] => ops.flatMap((op) => ('remove' in op ? [op.remove] : []));
/** The keys of edges among those of a record's removal: the record itself goes later, its id in a way of its own. */
const edgesOf = (ops: readonly WriteOp[]): Key[] => keysOf(ops).filter(({ SK }) => SK.startsWith('DATA#'));

/** A thread or a comment of it, as they lie in their partition. */
type ThreadItem = { readonly comment: Stored<Comment> } | { readonly thread: Stored<Thread> };

const ThreadItems: QueryableEntity<ThreadItem, DocumentScope> = {
  partition: (scope) => ThreadEntity.partition(scope),
  fromItem(item, now) {
    const [comment, thread] =
      item._t === CommentEntity.type
        ? [CommentEntity.fromItem(item, now), undefined]
        : [undefined, ThreadEntity.fromItem(item, now)];
    const one = comment ? { comment } : thread && { thread };
    return one && { ...one, _r: item._r as number };
  },
};

const threads = recordsPart(
  [ThreadEntity, CommentEntity, InvolvementEntity, RecordIdEntity],
  ThreadItems,
  (scope, items) => {
    const annotationIds = new Set(items.map((item) => ('comment' in item ? item.comment : item.thread).annotationId));
    return {
      // Of threads whose head is gone as well: theirs stay until the last comment is gone.
      names: [...annotationIds].map((id) => ({ kind: 'thread', id, within: scope.documentId })),
      keys: items.flatMap((item) => {
        if ('comment' in item) return edgesOf(commentDeletionOps(scope, { first: nobodys }, item.comment));
        const { thread } = item;
        return thread.assignedTo ? keysOf([removeAssigneeInvolvement(scope, thread, thread.assignedTo)]) : [];
      }),
    };
  },
);
const nobodys = { commentId: -1, createdAt: 0 };

const threadNumbers: RemovalPart = {
  entities: [ThreadCounterEntity],
  async removeSome(table, scope) {
    await table.removeKeys([ThreadCounterEntity.key(scope)]);
    return true;
  },
};

const reactions = recordsPart([ReactionEntity, InvolvementEntity, RecordIdEntity], ReactionEntity, (scope, all) => ({
  names: all.map(({ annotationId }) => ({ kind: 'reaction', id: annotationId, within: scope.documentId })),
  keys: edgesOf(reactionDeletionOps(scope, scope.documentId, all)),
}));

const recordings = recordsPart([RecordingEntity, InvolvementEntity, RecordIdEntity], RecordingEntity, (scope, all) => ({
  names: all.map(({ annotationId }) => ({ kind: 'recording', id: annotationId, within: scope.documentId })),
  keys: edgesOf(recordingDeletionOps(scope, all)),
}));

const notifications = recordsPart(
  [NotificationEntity, InvolvementEntity, RecordIdEntity],
  NotificationEntity,
  (scope, all) => ({
    names: all.map(({ id }) => ({ kind: 'notification', id, within: '' })),
    keys: edgesOf(all.flatMap((notification) => notificationRemovalOps(scope, notification))),
  }),
);

const activities = recordsPart([ActivityEntity, RecordIdEntity], ActivityEntity, (_place, all) => ({
  names: all.map(({ id }) => ({ kind: 'activity', id, within: '' })),
  keys: [],
}));

const tombstones = recordsPart([DeletedThreadEntity], DeletedThreadEntity, () => ({ names: [], keys: [] }));

/** How long one call goes on. */
const SOME_MILLISECONDS = 1_000;

const resource: RemovalPart = {
  entities: resourceEntities,
  removeSome: (table, scope, clock) =>
    removeResource(table, scope, scope.documentKey, { clock, until: clock() + SOME_MILLISECONDS }),
};

/** Everything that is removed with a document. What is defined with `ownedBy: 'document'` belongs to one of them. */
export const documentParts: readonly RemovalPart[] = [
  threads,
  threadNumbers,
  tombstones,
  reactions,
  recordings,
  notifications,
  activities,
  editorPart,
  judgmentPart,
  resource,
];
