import type { Capability } from '../app/capability.ts';
import { accessFieldsOf } from '../comments/rules/commentContext.ts';
import { ThreadEntity } from '../comments/threads.ts';
import { findUsersWithAccess } from '../content/accessChecks.ts';
import type { DocumentContext, DocumentScope } from '../content/documentScope.ts';
import {
  addInvolvement,
  EVERYBODY,
  type Involvement,
  recordPartition,
  recordSortKey,
  removeInvolvement,
} from '../content/involvements.ts';
import {
  claimRecordId,
  findRecordIds,
  recordIdKey,
  type RecordPosition,
  releaseRecordId,
} from '../content/recordIds.ts';
import { findLiveDocuments } from '../content/recordListing.ts';
import { completeUser, type ContentUser, isIncomplete } from '../content/rules/contentUser.ts';
import { type Document, DocumentReader, type DocumentWithFolder } from '../directory/documents.ts';
import type { Organization } from '../directory/organizations.ts';
import { type OrganizationScope, organizationScope } from '../directory/organizationScope.ts';
import { refusalOf } from '../directory/requireWritable.ts';
import { UserEntity } from '../directory/users.ts';
import { distinct } from '../shared/collections.ts';
import { inSlices } from '../shared/inSlices.ts';
import { isoTime } from '../shared/isoTime.ts';
import type { ItemOutcome } from '../shared/results.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insert, remove, replace, type Table, type WriteOp } from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';
import {
  annotationIdOf,
  changeNotification,
  fitsItem,
  Notification,
  type NotificationChange,
  notifiesUser,
  type ThreadReference,
} from './rules.ts';

export const NotificationEntity = defineEntity({
  type: 'Notification',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'A notification with its recipients',
  schema: Notification,
  pk: (of: DocumentScope) => recordPartition(of, 'NOTIFICATIONS'),
  sk: (key: { createdAt: number; id: string }) => recordSortKey(key.createdAt, key.id),
  indexes: {
    gsi2: {
      holds: 'notifications with a location',
      pk: ({ tenant, documentId, locationKey }) =>
        locationKey === undefined ? undefined : [tenant, 'LOCATION', documentId, locationKey],
      sk: ({ organizationKey, createdAt, id }) => [organizationKey, 'notification', isoTime(createdAt), id],
    },
  },
});

export const notificationIds = { kind: 'notification', uniqueIn: 'organization' } as const;

export interface LocatedNotification {
  readonly documentKey: string;
  readonly notification: Stored<Notification>;
}

interface NotificationInDocument extends LocatedNotification {
  readonly document: DocumentWithFolder;
}

interface Selection {
  readonly locationId?: string | undefined;
  readonly userId?: string | undefined;
}

export function isSelected(
  document: Pick<Document, 'internalId'> | undefined,
  { locationId, userId }: Selection,
  { documentKey, notification }: LocatedNotification,
): boolean {
  return (
    (!document || document.internalId === documentKey) &&
    (locationId === undefined || notification.locationKey === locationId) &&
    (userId === undefined || notifiesUser(notification, userId))
  );
}

function involvementsOf(
  documentKey: string,
  { id, createdAt, notifyUsers, notifyAll, actionUser }: Notification,
): Involvement[] {
  const recipients = [...notifyUsers.map(({ userId }) => userId), ...(notifyAll ? [EVERYBODY] : [])];
  return distinct([...recipients, actionUser.userId]).map((userId) => ({
    userId,
    kind: 'notification',
    at: createdAt,
    documentKey,
    id,
    createdAt,
    made: userId === actionUser.userId,
  }));
}

/** The operations conflict if the notification has changed since it was read. */
export function notificationDeletionOps(scope: DocumentScope, notification: Stored<Notification>): WriteOp[] {
  return [
    remove(NotificationEntity, { ...scope, ...notification }, notification._r),
    releaseRecordId(scope, recordIdKey('notification', notification.id)),
    ...involvementsOf(scope.documentKey, notification).map((involvement) => removeInvolvement(scope, involvement)),
  ];
}

/** In the order of `involvements`. Undefined for a deleted notification. One BatchGet per 100. */
export async function readNotifications(
  table: Table,
  { tenant, organizationKey }: OrganizationScope,
  involvements: readonly Pick<Involvement, 'documentKey' | 'id' | 'createdAt'>[],
): Promise<(Stored<Notification> | undefined)[]> {
  return table.getMany(
    NotificationEntity,
    involvements.map(({ documentKey, id, createdAt }) => ({ tenant, organizationKey, documentKey, id, createdAt })),
  );
}

/** In the order of the ids. Undefined if there is none, or its document is deleted. */
export async function findNotifications(
  table: Table,
  scope: OrganizationScope,
  ids: readonly string[],
): Promise<(NotificationInDocument | undefined)[]> {
  const positions = await findRecordIds(
    table,
    scope,
    ids.map((id) => recordIdKey('notification', id)),
  );
  const existing = positions.flatMap((position, index) => (position ? [{ ...position, id: ids[index] ?? '' }] : []));
  const [notifications, documents] = await Promise.all([
    readNotifications(table, scope, existing),
    findLiveDocuments(
      new DocumentReader(table),
      scope,
      existing.flatMap(({ documentId }) => documentId ?? []),
    ),
  ]);
  const byId = new Map<string, NotificationInDocument>();
  for (const [index, { id, documentKey, documentId = '' }] of existing.entries()) {
    const [notification, document] = [notifications[index], documents.get(documentId)];
    if (notification && document?.internalId === documentKey) byId.set(id, { documentKey, document, notification });
  }
  return ids.map((id) => byId.get(id));
}

/** Limits memory: one notification can have 360 KB. */
const CHANGED_AT_ONCE = 50;

const TOO_LARGE = 'Failed to update notification. With its readers it would be larger than 360 KB.';

/**
 * `exists`: the document already has a notification with this id. `elsewhere`: another document of the organization has
 * one.
 */
export type NotificationAdded = 'added' | 'exists' | 'elsewhere';

type IsInSelection = (notification: LocatedNotification) => boolean;

interface NotificationUpdate extends NotificationInDocument {
  readonly change: NotificationChange;
  /** After the change. Undefined if there is none. */
  readonly thread: ThreadReference | undefined;
}

export class NotificationWriter {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Undefined if the source names no thread of the document. */
  async findThread(
    scope: DocumentScope,
    documentId: string,
    source: Parameters<typeof annotationIdOf>[0],
  ): Promise<ThreadReference | undefined> {
    const { documentKey } = scope;
    const [thread] = await this.#findThreads(scope, [
      { documentKey, documentId, annotationId: annotationIdOf(source) },
    ]);
    return thread;
  }

  /** Missing fields are taken from the stored profile. */
  async completeActor(tenant: string, user: ContentUser): Promise<ContentUser> {
    return isIncomplete(user)
      ? completeUser(user, await this.#table.get(UserEntity, { tenant, userId: user.userId }))
      : user;
  }

  async selectUsersWithAccess(
    context: DocumentContext,
    userIds: readonly string[],
    now: number,
  ): Promise<ReadonlySet<string>> {
    return findUsersWithAccess(this.#table, context, userIds, now);
  }

  /** Changes nothing if the organization has a notification with this id outside of deleted documents. */
  async add(scope: DocumentScope, notification: Notification): Promise<NotificationAdded> {
    const { id, documentId, createdAt } = notification;
    let position: Stored<RecordPosition> | undefined;
    return retryOnConflict(async () => {
      const outcome = await this.#table.write([
        claimRecordId(scope, { ...recordIdKey('notification', id), documentId }, createdAt, position),
        insert(NotificationEntity, { ...scope, ...notification }),
        ...involvementsOf(scope.documentKey, notification).map((involvement) => addInvolvement(scope, involvement)),
      ]);
      if (outcome === 'done') return 'added';
      const { documentKey: _, ...organization } = scope;
      [position] = await findRecordIds(this.#table, organization, [recordIdKey('notification', id)]);
      const [existing] = await findNotifications(this.#table, organization, [id]);
      if (existing) return existing.documentKey === scope.documentKey ? 'exists' : 'elsewhere';
      return 'conflict';
    });
  }

  /**
   * Ids must be distinct. A change that is not possible fails in its own result only. With `verifiedAt` (epoch ms),
   * adds only readers with access to the document.
   */
  async update(
    tenant: string,
    organization: Organization,
    changes: readonly NotificationChange[],
    { isInSelection, verifiedAt }: { isInSelection: IsInSelection; verifiedAt?: number | undefined },
  ): Promise<ItemOutcome[]> {
    const scope = organizationScope(tenant, organization);
    const failed = { success: false, message: 'Failed to update notification.' };
    return inSlices(changes, CHANGED_AT_ONCE, (slice) =>
      writeEach<NotificationChange, NotificationUpdate | undefined, ItemOutcome>({
        table: this.#table,
        items: slice,
        read: (items) => this.#readUpdates(organization, scope, items, verifiedAt),
        decide: (_change, update) => {
          const changed = update && changeNotification(update.notification, update.change, update.thread);
          if (!changed || !isInSelection(update)) return { result: failed, ops: [] };
          const refusal = refusalOf(update.document);
          if (refusal !== undefined) return { result: { success: false, message: refusal }, ops: [] };
          if (!fitsItem(changed)) return { result: { success: false, message: TOO_LARGE }, ops: [] };
          const { documentKey, notification } = update;
          const result = { success: true, message: 'Notification updated.' };
          if (changed === notification) return { result, ops: [] };
          const documentScope = { ...scope, documentKey };
          const before = involvementsOf(documentKey, notification);
          const after = involvementsOf(documentKey, changed);
          const removed = before.filter(({ userId }) => !after.some((current) => current.userId === userId));
          const added = after.filter(
            ({ userId, made }) => !before.some((previous) => previous.userId === userId && previous.made === made),
          );
          return {
            result,
            ops: [
              replace(NotificationEntity, { ...documentScope, ...changed }, notification._r),
              ...removed.map((involvement) => removeInvolvement(documentScope, involvement)),
              ...added.map((involvement) => addInvolvement(documentScope, involvement)),
            ],
          };
        },
        conflicted: () => failed,
      }),
    );
  }

  /** Ids must be distinct. A notification that cannot be deleted fails in its own result only. */
  async delete(scope: OrganizationScope, ids: readonly string[], isInSelection: IsInSelection): Promise<ItemOutcome[]> {
    const failed = { success: false, message: 'Failed to delete notification.' };
    return inSlices(ids, CHANGED_AT_ONCE, (slice) =>
      writeEach<string, NotificationInDocument | undefined, ItemOutcome>({
        table: this.#table,
        items: slice,
        read: (items) => findNotifications(this.#table, scope, items),
        decide: (_id, stored) => {
          if (!stored || !isInSelection(stored)) return { result: failed, ops: [] };
          const refusal = refusalOf(stored.document);
          if (refusal !== undefined) return { result: { success: false, message: refusal }, ops: [] };
          return {
            result: { success: true, message: 'Notification deleted.' },
            ops: notificationDeletionOps({ ...scope, documentKey: stored.documentKey }, stored.notification),
          };
        },
        conflicted: () => failed,
      }),
    );
  }

  async #readUpdates(
    organization: Organization,
    scope: OrganizationScope,
    changes: readonly NotificationChange[],
    verifiedAt: number | undefined,
  ): Promise<(NotificationUpdate | undefined)[]> {
    const notifications = await findNotifications(
      this.#table,
      scope,
      changes.map(({ id }) => id),
    );
    const existing = changes.flatMap((change, index) => {
      const notification = notifications[index];
      return notification ? [{ ...notification, change }] : [];
    });
    const sources = existing.map(({ documentKey, notification: { documentId, notificationSource }, change }) => {
      const { notificationSourceData } = change;
      return { documentKey, documentId, annotationId: annotationIdOf({ notificationSource, notificationSourceData }) };
    });
    const [threads, mayRead] = await Promise.all([
      this.#findThreads(scope, sources),
      verifiedAt === undefined ? undefined : this.#readersWithAccess(organization, scope, existing, verifiedAt),
    ]);
    const updates = new Map<string, NotificationUpdate>();
    for (const [index, { change, ...notification }] of existing.entries()) {
      const readByUserIds = change.readByUserIds?.filter(
        (userId) => mayRead?.get(notification.documentKey)?.has(userId) ?? !mayRead,
      );
      updates.set(change.id, {
        ...notification,
        change: { ...change, readByUserIds },
        thread: change.notificationSourceData ? threads[index] : notification.notification.thread,
      });
    }
    return changes.map(({ id }) => updates.get(id));
  }

  async #readersWithAccess(
    organization: Organization,
    scope: OrganizationScope,
    notifications: readonly (NotificationInDocument & { readonly change: NotificationChange })[],
    now: number,
  ): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const byDocument = Map.groupBy(notifications, ({ documentKey }) => documentKey);
    const readers = await Promise.all(
      [...byDocument].map(async ([documentKey, [first, ...others]]) => {
        if (!first) return [documentKey, new Set<string>()] as const;
        const userIds = distinct([first, ...others].flatMap(({ change }) => change.readByUserIds ?? []));
        const context = { organization, document: first.document, scope: { ...scope, documentKey } };
        return [documentKey, await findUsersWithAccess(this.#table, context, userIds, now)] as const;
      }),
    );
    return new Map(readers);
  }

  async #findThreads(
    { tenant, organizationKey }: OrganizationScope,
    sources: readonly { documentKey: string; documentId: string; annotationId: string | undefined }[],
  ): Promise<(ThreadReference | undefined)[]> {
    const commentSources = sources.flatMap(({ annotationId, ...source }, index) =>
      annotationId === undefined ? [] : [{ ...source, annotationId, index }],
    );
    const positions = await findRecordIds(
      this.#table,
      { tenant, organizationKey },
      commentSources.map(({ annotationId, documentId }) => recordIdKey('thread', annotationId, documentId)),
    );
    const located = commentSources.flatMap((source, sourceIndex) => {
      const position = positions[sourceIndex];
      return position?.documentKey === source.documentKey
        ? [{ ...source, tenant, organizationKey, createdAt: position.createdAt }]
        : [];
    });
    const threads = await this.#table.getMany(ThreadEntity, located);
    const references: (ThreadReference | undefined)[] = sources.map(() => undefined);
    for (const [threadIndex, { index, annotationId, createdAt }] of located.entries()) {
      const thread = threads[threadIndex];
      if (!thread) continue;
      const { from, visibility, context } = thread;
      const accessFields = accessFieldsOf(context);
      references[index] = { annotationId, createdAt, authorId: from.userId, visibility, accessFields };
    }
    return references;
  }
}

export const addNotifications: Capability<
  Pick<NotificationWriter, 'add' | 'findThread' | 'selectUsersWithAccess' | 'completeActor'>
> = /* @__PURE__ */ storeCapability(NotificationWriter, ['GetItem', 'BatchGetItem', 'PutItem']);

export const updateNotifications: Capability<Pick<NotificationWriter, 'update'>> = /* @__PURE__ */ storeCapability(
  NotificationWriter,
  ['BatchGetItem', 'PutItem', 'DeleteItem'],
);
