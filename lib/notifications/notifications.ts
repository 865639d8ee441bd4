import type { Capability } from '../app/capability.ts';
import { distinct } from '../shared/collections.ts';
import { instantKey } from '../shared/times.ts';
import { contextItems } from '../comments/rules/comments.ts';
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
import { type Place, placeOf } from '../directory/folders/folders.ts';
import type { Organization } from '../directory/organizations.ts';
import { settle } from '../table/retryOnConflict.ts';
import { insert, remove, replace, type Table, type WriteOp } from '../table/table.ts';
import { UserEntity } from '../directory/users.ts';
import { writeEach } from '../table/writeEach.ts';
import { EVERYBODY, forget, type Involvement, involve, recordSortKey, recordsOf } from '../content/involvements.ts';
import type { ContentPlace, DocumentPlace } from '../content/documentScope.ts';
import { findRecords, nameRecord, type RecordName, type RecordPosition, unnameRecord } from '../content/recordIds.ts';
import { ThreadEntity } from '../comments/threads.ts';
import { usersWithAccess } from '../content/accessChecks.ts';
import { liveDocuments } from '../content/listDocuments.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** A notification, with whom it is for. Its id is unique in the organization. */
export const NotificationEntity = defineEntity({
  type: 'Notification',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'A notification, with those whom it is for',
  schema: Notification,
  pk: (of: DocumentPlace) => recordsOf(of, 'NOTIFICATIONS'),
  sk: (key: { createdAt: number; id: string }) => recordSortKey(key.createdAt, key.id),
  indexes: {
    gsi2: {
      holds: 'notifications with a location',
      pk: ({ tenant, documentId, locationKey }) =>
        locationKey === undefined ? undefined : [tenant, 'LOCATION', documentId, locationKey],
      sk: ({ organization, createdAt, id }) => [organization, 'notification', instantKey(createdAt), id],
    },
  },
});

/** A notification and the document that it lies in. */
export interface PlacedNotification {
  /** Its internal id. */
  readonly document: string;
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
  if (document && document.internalId !== placed.document) return false;
  return (
    (locationId === undefined || notification.locationKey === locationId) &&
    (userId === undefined || names(notification, userId))
  );
}

const nameOf = (id: string): RecordName => ({ kind: 'notification', id, within: '' });

/** The edges of a notification: whom it is for, and who caused it. */
function edges(document: string, { id, createdAt, notifyUsers, notifyAll, actionUser }: Notification): Involvement[] {
  const userIds = new Set([
    ...notifyUsers.map(({ userId }) => userId),
    actionUser.userId,
    ...(notifyAll ? [EVERYBODY] : []),
  ]);
  return [...userIds].map((userId) => ({
    userId,
    kind: 'notification',
    at: createdAt,
    document,
    id,
    createdAt,
    made: userId === actionUser.userId,
  }));
}

/** The operations that remove a notification as it was read, with its id and edges. */
export function notificationRemovalOps(place: DocumentPlace, notification: Stored<Notification>): WriteOp[] {
  return [
    remove(NotificationEntity, { ...place, ...notification }, notification._r),
    unnameRecord(place, nameOf(notification.id)),
    ...edges(place.document, notification).map((edge) => forget(place, edge)),
  ];
}

/** The notifications that edges lead to, undefined where there is none any more. One BatchGet per 100. */
export async function readNotifications(
  table: Table,
  { tenant, organization }: Place,
  found: readonly Pick<Involvement, 'document' | 'id' | 'createdAt'>[],
): Promise<(Stored<Notification> | undefined)[]> {
  return table.getMany(
    NotificationEntity,
    found.map(({ document, id, createdAt }) => ({ tenant, organization, document, id, createdAt })),
  );
}

/** The notifications with these ids, undefined where there is none. Two dependent BatchGets. */
export async function namedNotifications(
  table: Table,
  place: Place,
  ids: readonly string[],
): Promise<(NamedNotification | undefined)[]> {
  const positions = await findRecords(table, place, ids.map(nameOf));
  const known = positions.flatMap((position, index) => (position ? [{ ...position, id: ids[index] as string }] : []));
  const [read, documents] = await Promise.all([
    readNotifications(table, place, known),
    liveDocuments(
      new DocumentReader(table),
      place,
      known.flatMap(({ documentId }) => documentId ?? []),
    ),
  ]);
  const placed = new Map(
    known.map(({ id, document: internalId, documentId }, index) => {
      const [notification, document] = [read[index], documents.get(documentId ?? '')];
      return [
        id,
        notification && document?.internalId === internalId
          ? { document: internalId, home: document, notification }
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
    place: DocumentPlace,
    documentId: string,
    about: Parameters<typeof annotationOf>[0],
  ): Promise<ThreadReference | undefined> {
    const annotationId = annotationOf(about);
    if (annotationId === undefined) return undefined;
    const [thread] = await threadReferences(this.#table, place, [
      { document: place.document, documentId, annotationId },
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
  async withAccess(at: ContentPlace, userIds: readonly string[], now: number): Promise<ReadonlySet<string>> {
    return usersWithAccess(this.#table, at, userIds, { now });
  }

  /** Adds a notification, unless one of the organization has its id already: then nothing changes. */
  async add(place: DocumentPlace, notification: Notification): Promise<NotificationAdded> {
    const { id, documentId, createdAt } = notification;
    let position: Stored<RecordPosition> | undefined;
    return settle(async () => {
      const outcome = await this.#table.write([
        nameRecord(place, { ...nameOf(id), documentId }, createdAt, position),
        insert(NotificationEntity, { ...place, ...notification }),
        ...edges(place.document, notification).map((edge) => involve(place, edge)),
      ]);
      if (outcome === 'done') return 'added';
      const organization = { tenant: place.tenant, organization: place.organization };
      [position] = await findRecords(this.#table, organization, [nameOf(id)]);
      const [there] = await namedNotifications(this.#table, organization, [id]);
      if (there) return there.document === place.document ? 'exists' : 'elsewhere';
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
    const place = placeOf(tenant, organization);
    const failed = { success: false, message: 'Failed to update notification.' };
    return inSlices(changes, CHANGED_AT_ONCE, (slice) =>
      writeEach<NotificationChange, Changing | undefined, ItemOutcome>({
        table: this.#table,
        items: slice,
        read: (items) => this.#changing(organization, place, items, verifiedAt),
        decide: (_change, state) => {
          const changed = state && changeNotification(state.notification, state.change, state.thread);
          if (!state || !changed || state.home.disabled || !isMeant(state) || !fits(changed))
            return { result: failed, ops: [] };
          const at = { ...place, document: state.document };
          const [before, after] = [edges(state.document, state.notification), edges(state.document, changed)];
          const gone = before.filter(({ userId }) => !after.some((edge) => edge.userId === userId));
          const other = after.filter(
            ({ userId, made }) => !before.some((edge) => edge.userId === userId && edge.made === made),
          );
          return {
            result: { success: true, message: 'Notification updated.' },
            ops: [
              replace(NotificationEntity, { ...at, ...changed }, state.notification._r),
              ...gone.map((edge) => forget(at, edge)),
              ...other.map((edge) => involve(at, edge)),
            ],
          };
        },
        conflicted: () => failed,
      }),
    );
  }

  /** Removes notifications; one that is not there, that `isMeant` refuses or whose document is disabled fails alone. Ids are distinct. */
  async remove(place: Place, ids: readonly string[], isMeant: IsMeant): Promise<ItemOutcome[]> {
    const failed = { success: false, message: 'Failed to delete notification.' };
    return inSlices(ids, CHANGED_AT_ONCE, (slice) =>
      writeEach<string, NamedNotification | undefined, ItemOutcome>({
        table: this.#table,
        items: slice,
        read: (items) => namedNotifications(this.#table, place, items),
        decide: (_id, named) =>
          named && !named.home.disabled && isMeant(named)
            ? {
                result: { success: true, message: 'Notification deleted.' },
                ops: notificationRemovalOps({ ...place, document: named.document }, named.notification),
              }
            : { result: failed, ops: [] },
        conflicted: () => failed,
      }),
    );
  }

  /** What is to be changed, with what it is about afterwards. */
  async #changing(
    organization: Organization,
    place: Place,
    changes: readonly NotificationChange[],
    verifiedAt: number | undefined,
  ): Promise<(Changing | undefined)[]> {
    const found = await namedNotifications(
      this.#table,
      place,
      changes.map(({ id }) => id),
    );
    const there = found.flatMap((named, index) =>
      named ? [{ ...named, change: changes[index] as NotificationChange }] : [],
    );
    const about = there.map(
      ({ document, notification: { documentId, notificationSource }, change: { notificationSourceData } }) => ({
        document,
        documentId,
        annotationId: annotationOf({ notificationSource, notificationSourceData }),
      }),
    );
    const [threads, mayRead] = await Promise.all([
      threadReferences(this.#table, place, about),
      verifiedAt === undefined ? undefined : this.#mayRead(organization, place, there, verifiedAt),
    ]);
    const changing = new Map(
      there.map(({ change, ...named }, index) => {
        const readByUserIds = change.readByUserIds?.filter((userId) => mayRead?.(named.document, userId) ?? true);
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
    place: Place,
    there: readonly (NamedNotification & { readonly change: NotificationChange })[],
    now: number,
  ) {
    const allowed = new Map<string, ReadonlySet<string>>();
    await Promise.all(
      [...Map.groupBy(there, ({ document }) => document)].map(async ([document, named]) => {
        const userIds = distinct(named.flatMap(({ change }) => change.readByUserIds ?? []));
        const { home } = named[0] as NamedNotification;
        allowed.set(
          document,
          await usersWithAccess(this.#table, { organization, document: home, place: { ...place, document } }, userIds, {
            now,
          }),
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
  { tenant, organization }: Place,
  about: readonly { document: string; documentId: string; annotationId: string | undefined }[],
): Promise<(ThreadReference | undefined)[]> {
  const asked = about.flatMap(({ annotationId, ...rest }, index) =>
    annotationId === undefined ? [] : [{ ...rest, annotationId, index }],
  );
  const positions = await findRecords(
    table,
    { tenant, organization },
    asked.map(({ annotationId, documentId }) => ({ kind: 'thread', id: annotationId, within: documentId })),
  );
  const there = asked.flatMap((one, index) => {
    const position = positions[index];
    return position?.document === one.document ? [{ ...one, tenant, organization, createdAt: position.createdAt }] : [];
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
          accessFields: contextItems(thread.context),
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
