import type { Capability } from '../app/capability.ts';
import { distinct } from '../shared/collections.ts';
import { instantKey } from '../shared/times.ts';
import { accessFieldsOf } from '../comments/rules/comments.ts';
import {
  annotationOf,
  changeNotification,
  fits,
  names,
  Notification,
  type NotificationChange,
  type ThreadReference,
} from './rules.ts';
import { completeUser, type ContentUser, isIncomplete } from '../content/rules/user.ts';
import { inSlices } from '../shared/inSlices.ts';
import type { ItemOutcome } from '../shared/results.ts';
import { type Document, DocumentReader, type PlacedDocument } from '../directory/documents.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { type OrganizationScope, organizationScope } from '../directory/folders/folders.ts';
import type { Organization } from '../directory/organizations.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { insert, remove, replace, type Table, type WriteOp } from '../table/table.ts';
import { UserEntity } from '../directory/users.ts';
import { writeEach } from '../table/writeEach.ts';
import {
  EVERYBODY,
  removeInvolvement,
  type Involvement,
  addInvolvement,
  recordSortKey,
  recordPartition,
} from '../content/involvements.ts';
import type { DocumentContext, DocumentScope } from '../content/documentScope.ts';
import {
  findRecordIds,
  claimRecordId,
  type RecordIdKey,
  type RecordPosition,
  releaseRecordId,
} from '../content/recordIds.ts';
import { ThreadEntity } from '../comments/threads.ts';
import { usersWithAccess } from '../content/accessChecks.ts';
import { findLiveDocuments } from '../content/recordListing.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** A notification, with whom it is for. Its id is unique in the organization. */
export const NotificationEntity = defineEntity({
  type: 'Notification',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'A notification, with those whom it is for',
  schema: Notification,
  pk: (of: DocumentScope) => recordPartition(of, 'NOTIFICATIONS'),
  sk: (key: { createdAt: number; id: string }) => recordSortKey(key.createdAt, key.id),
  indexes: {
    gsi2: {
      holds: 'notifications with a location',
      pk: ({ tenant, documentId, locationKey }) =>
        locationKey === undefined ? undefined : [tenant, 'LOCATION', documentId, locationKey],
      sk: ({ organizationKey, createdAt, id }) => [organizationKey, 'notification', instantKey(createdAt), id],
    },
  },
});

/** A notification and the document that it lies in. */
export interface PlacedNotification {
  /** Its internal id. */
  readonly documentKey: string;
  readonly notification: Stored<Notification>;
}

interface NamedNotification extends PlacedNotification {
  readonly home: PlacedDocument;
}

interface Selection {
  readonly locationId?: string | undefined;
  readonly userId?: string | undefined;
}

/** Whether a filter selects a notification: by its document, as it was found, its location, and a user whom it names. */
export function selects(
  document: Pick<Document, 'internalId'> | undefined,
  { locationId, userId }: Selection,
  placed: PlacedNotification,
): boolean {
  const { notification } = placed;
  if (document && document.internalId !== placed.documentKey) return false;
  return (
    (locationId === undefined || notification.locationKey === locationId) &&
    (userId === undefined || names(notification, userId))
  );
}

const nameOf = (id: string): RecordIdKey => ({ kind: 'notification', id, within: '' });

/** The edges of a notification: whom it is for, and who caused it. */
function edges(
  documentKey: string,
  { id, createdAt, notifyUsers, notifyAll, actionUser }: Notification,
): Involvement[] {
  const userIds = new Set([
    ...notifyUsers.map(({ userId }) => userId),
    actionUser.userId,
    ...(notifyAll ? [EVERYBODY] : []),
  ]);
  return [...userIds].map((userId) => ({
    userId,
    kind: 'notification',
    at: createdAt,
    documentKey,
    id,
    createdAt,
    made: userId === actionUser.userId,
  }));
}

/** The operations that remove a notification as it was read, with its id and edges. */
export function notificationRemovalOps(scope: DocumentScope, notification: Stored<Notification>): WriteOp[] {
  return [
    remove(NotificationEntity, { ...scope, ...notification }, notification._r),
    releaseRecordId(scope, nameOf(notification.id)),
    ...edges(scope.documentKey, notification).map((edge) => removeInvolvement(scope, edge)),
  ];
}

/** The notifications that edges lead to, undefined where there is none any more. One BatchGet per 100. */
export async function readNotifications(
  table: Table,
  { tenant, organizationKey }: OrganizationScope,
  found: readonly Pick<Involvement, 'documentKey' | 'id' | 'createdAt'>[],
): Promise<(Stored<Notification> | undefined)[]> {
  return table.getMany(
    NotificationEntity,
    found.map(({ documentKey, id, createdAt }) => ({ tenant, organizationKey, documentKey, id, createdAt })),
  );
}

/** The notifications with these ids, undefined where there is none. Two dependent BatchGets. */
export async function namedNotifications(
  table: Table,
  scope: OrganizationScope,
  ids: readonly string[],
): Promise<(NamedNotification | undefined)[]> {
  const positions = await findRecordIds(table, scope, ids.map(nameOf));
  const known = positions.flatMap((position, index) => (position ? [{ ...position, id: ids[index] as string }] : []));
  const [read, documents] = await Promise.all([
    readNotifications(table, scope, known),
    findLiveDocuments(
      new DocumentReader(table),
      scope,
      known.flatMap(({ documentId }) => documentId ?? []),
    ),
  ]);
  const placed = new Map(
    known.map(({ id, documentKey: internalId, documentId }, index) => {
      const [notification, document] = [read[index], documents.get(documentId ?? '')];
      return [
        id,
        notification && document?.internalId === internalId
          ? { documentKey: internalId, home: document, notification }
          : undefined,
      ] as const;
    }),
  );
  return ids.map((id) => placed.get(id));
}

/** How many notifications are read at a time to be changed or removed: one can be 360 KB. */
const CHANGED_AT_ONCE = 50;

/** What became of an addition: `exists` when the document has the notification already, `elsewhere` when another one has the id. */
export type NotificationAdded = 'added' | 'exists' | 'elsewhere';

export class NotificationWriter {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** The thread that a notification of a document is about, where its data name one. */
  async threadOf(
    scope: DocumentScope,
    documentId: string,
    about: Parameters<typeof annotationOf>[0],
  ): Promise<ThreadReference | undefined> {
    const annotationId = annotationOf(about);
    if (annotationId === undefined) return undefined;
    const [thread] = await threadReferences(this.#table, scope, [
      { documentKey: scope.documentKey, documentId, annotationId },
    ]);
    return thread;
  }

  /** The user who caused a notification, completed from the stored profile. One read when the name or the e-mail address is missing. */
  async completed(tenant: string, user: ContentUser): Promise<ContentUser> {
    return isIncomplete(user)
      ? completeUser(user, await this.#table.get(UserEntity, { tenant, userId: user.userId }))
      : user;
  }

  /** Which of the users have access to a document. */
  async withAccess(at: DocumentContext, userIds: readonly string[], now: number): Promise<ReadonlySet<string>> {
    return usersWithAccess(this.#table, at, userIds, { now });
  }

  /** Adds a notification, unless one of the organization has its id already: then nothing changes. */
  async add(scope: DocumentScope, notification: Notification): Promise<NotificationAdded> {
    const { id, documentId, createdAt } = notification;
    let position: Stored<RecordPosition> | undefined;
    return retryOnConflict(async () => {
      const outcome = await this.#table.write([
        claimRecordId(scope, { ...nameOf(id), documentId }, createdAt, position),
        insert(NotificationEntity, { ...scope, ...notification }),
        ...edges(scope.documentKey, notification).map((edge) => addInvolvement(scope, edge)),
      ]);
      if (outcome === 'done') return 'added';
      const organization = { tenant: scope.tenant, organizationKey: scope.organizationKey };
      [position] = await findRecordIds(this.#table, organization, [nameOf(id)]);
      const [there] = await namedNotifications(this.#table, organization, [id]);
      if (there) return there.documentKey === scope.documentKey ? 'exists' : 'elsewhere';
      return 'conflict';
    });
  }

  /**
   * Changes notifications; one that is not there, that `isMeant` refuses, whose document is disabled or that would become too large fails
   * alone. `verifiedAt` (epoch ms) leaves out readers who have no access to its document then. Ids are distinct.
   */
  async update(
    tenant: string,
    organization: Organization,
    changes: readonly NotificationChange[],
    { isMeant, verifiedAt }: { isMeant: IsMeant; verifiedAt?: number | undefined },
  ): Promise<ItemOutcome[]> {
    const scope = organizationScope(tenant, organization);
    const failed = { success: false, message: 'Failed to update notification.' };
    return inSlices(changes, CHANGED_AT_ONCE, (slice) =>
      writeEach<NotificationChange, Changing | undefined, ItemOutcome>({
        table: this.#table,
        items: slice,
        read: (items) => this.#changing(organization, scope, items, verifiedAt),
        decide: (_change, state) => {
          const changed = state && changeNotification(state.notification, state.change, state.thread);
          if (!state || !changed || state.home.disabled || !isMeant(state) || !fits(changed))
            return { result: failed, ops: [] };
          const at = { ...scope, documentKey: state.documentKey };
          const [before, after] = [edges(state.documentKey, state.notification), edges(state.documentKey, changed)];
          const gone = before.filter(({ userId }) => !after.some((edge) => edge.userId === userId));
          const other = after.filter(
            ({ userId, made }) => !before.some((edge) => edge.userId === userId && edge.made === made),
          );
          return {
            result: { success: true, message: 'Notification updated.' },
            ops: [
              replace(NotificationEntity, { ...at, ...changed }, state.notification._r),
              ...gone.map((edge) => removeInvolvement(at, edge)),
              ...other.map((edge) => addInvolvement(at, edge)),
            ],
          };
        },
        conflicted: () => failed,
      }),
    );
  }

  /** Removes notifications; one that is not there, that `isMeant` refuses or whose document is disabled fails alone. Ids are distinct. */
  async remove(scope: OrganizationScope, ids: readonly string[], isMeant: IsMeant): Promise<ItemOutcome[]> {
    const failed = { success: false, message: 'Failed to delete notification.' };
    return inSlices(ids, CHANGED_AT_ONCE, (slice) =>
      writeEach<string, NamedNotification | undefined, ItemOutcome>({
        table: this.#table,
        items: slice,
        read: (items) => namedNotifications(this.#table, scope, items),
        decide: (_id, named) =>
          named && !named.home.disabled && isMeant(named)
            ? {
                result: { success: true, message: 'Notification deleted.' },
                ops: notificationRemovalOps({ ...scope, documentKey: named.documentKey }, named.notification),
              }
            : { result: failed, ops: [] },
        conflicted: () => failed,
      }),
    );
  }

  /** What is to be changed, with what it is about afterwards. */
  async #changing(
    organization: Organization,
    scope: OrganizationScope,
    changes: readonly NotificationChange[],
    verifiedAt: number | undefined,
  ): Promise<(Changing | undefined)[]> {
    const found = await namedNotifications(
      this.#table,
      scope,
      changes.map(({ id }) => id),
    );
    const there = found.flatMap((named, index) =>
      named ? [{ ...named, change: changes[index] as NotificationChange }] : [],
    );
    const about = there.map(
      ({ documentKey, notification: { documentId, notificationSource }, change: { notificationSourceData } }) => ({
        documentKey,
        documentId,
        annotationId: annotationOf({ notificationSource, notificationSourceData }),
      }),
    );
    const [threads, mayRead] = await Promise.all([
      threadReferences(this.#table, scope, about),
      verifiedAt === undefined ? undefined : this.#mayRead(organization, scope, there, verifiedAt),
    ]);
    const changing = new Map(
      there.map(({ change, ...named }, index) => {
        const readByUserIds = change.readByUserIds?.filter((userId) => mayRead?.(named.documentKey, userId) ?? true);
        return [
          change.id,
          {
            ...named,
            change: { ...change, readByUserIds },
            thread: change.notificationSourceData ? threads[index] : named.notification.thread,
          },
        ] as const;
      }),
    );
    return changes.map(({ id }) => changing.get(id));
  }

  /** Who of the new readers has access to which document. */
  async #mayRead(
    organization: Organization,
    scope: OrganizationScope,
    there: readonly (NamedNotification & { readonly change: NotificationChange })[],
    now: number,
  ) {
    const allowed = new Map<string, ReadonlySet<string>>();
    await Promise.all(
      [...Map.groupBy(there, ({ documentKey }) => documentKey)].map(async ([document, named]) => {
        const userIds = distinct(named.flatMap(({ change }) => change.readByUserIds ?? []));
        const { home } = named[0] as NamedNotification;
        allowed.set(
          document,
          await usersWithAccess(
            this.#table,
            { organization, document: home, scope: { ...scope, documentKey: document } },
            userIds,
            {
              now,
            },
          ),
        );
      }),
    );
    return (document: string, userId: string) => allowed.get(document)?.has(userId) === true;
  }
}

type IsMeant = (placed: PlacedNotification) => boolean;

interface Changing extends NamedNotification {
  readonly change: NotificationChange;
  /** The thread that it is about after the change. */
  readonly thread: ThreadReference | undefined;
}

/** The threads that notifications are about, as they are now; undefined where there is none. Two dependent BatchGets, none for none. */
async function threadReferences(
  table: Table,
  { tenant, organizationKey }: OrganizationScope,
  about: readonly { documentKey: string; documentId: string; annotationId: string | undefined }[],
): Promise<(ThreadReference | undefined)[]> {
  const asked = about.flatMap(({ annotationId, ...rest }, index) =>
    annotationId === undefined ? [] : [{ ...rest, annotationId, index }],
  );
  const positions = await findRecordIds(
    table,
    { tenant, organizationKey },
    asked.map(({ annotationId, documentId }) => ({ kind: 'thread', id: annotationId, within: documentId })),
  );
  const there = asked.flatMap((one, index) => {
    const position = positions[index];
    return position?.documentKey === one.documentKey
      ? [{ ...one, tenant, organizationKey, createdAt: position.createdAt }]
      : [];
  });
  const threads = await table.getMany(ThreadEntity, there);
  const references = new Map(
    there.map(({ index, annotationId, createdAt }, at) => {
      const thread = threads[at];
      return [
        index,
        thread && {
          annotationId,
          createdAt,
          authorId: thread.from.userId,
          visibility: thread.visibility,
          accessFields: accessFieldsOf(thread.context),
        },
      ] as const;
    }),
  );
  return about.map((_one, index) => references.get(index));
}

export const addNotifications: Capability<Pick<NotificationWriter, 'add' | 'threadOf' | 'withAccess' | 'completed'>> =
  /* @__PURE__ */ storeCapability(NotificationWriter, ['GetItem', 'BatchGetItem', 'PutItem']);

export const updateNotifications: Capability<Pick<NotificationWriter, 'update'>> = /* @__PURE__ */ storeCapability(
  NotificationWriter,
  ['BatchGetItem', 'PutItem', 'DeleteItem'],
);
