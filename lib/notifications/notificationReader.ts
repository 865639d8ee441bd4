import { accessFieldsOf } from '../comments/rules/commentContext.ts';
import { CommentEntity, commentKey, readThreadAccess } from '../comments/threads.ts';
import { AccessChecks } from '../content/accessChecks.ts';
import { documentScope } from '../content/documentScope.ts';
import { EVERYBODY, InvolvementEntity, recordSortKey } from '../content/involvements.ts';
import {
  allDocuments,
  findLiveDocuments,
  givenDocuments,
  listingCursor,
  listRecords,
} from '../content/recordListing.ts';
import type { RecordAccess } from '../content/rules/threadAccess.ts';
import type { Viewer } from '../content/rules/viewer.ts';
import { type Document, DocumentReader, readDocuments } from '../directory/documents.ts';
import type { OrganizationKeys } from '../directory/organizations.ts';
import { type OrganizationScope, organizationScope } from '../directory/organizationScope.ts';
import type { DocumentAccess } from '../directory/rules/access.ts';
import { accessDenied } from '../shared/accessDenied.ts';
import { jsonBytes } from '../shared/bytes.ts';
import { distinctBy } from '../shared/collections.ts';
import { invalid } from '../shared/errors.ts';
import { readDefined } from '../shared/readDefined.ts';
import { limits } from '../shared/schema.ts';
import { joinKey } from '../table/keys.ts';
import { type ItemPage, pages } from '../table/pages.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import {
  findNotifications,
  isSelected,
  type LocatedNotification,
  NotificationEntity,
  readNotifications,
} from './notifications.ts';
import {
  commentIdOf,
  type Notification,
  type NotificationResponse,
  notifiesUser,
  toNotificationResponse,
} from './rules.ts';
import { isUnread, UNREAD_AT_MOST, type UnreadCounts, unreadCounts, type UnreadList } from './unreadCounts.ts';

/** A notification must match every given field. */
export interface NotificationFilter {
  readonly documentId?: string | undefined;
  readonly locationId?: string | undefined;
  /** A recipient. Reads leave out notifications that this user may not see. */
  readonly userId?: string | undefined;
  readonly notificationIds?: readonly string[] | undefined;
}

interface PageRequest {
  readonly limit: number;
  readonly after?: string | undefined;
  readonly ascending?: boolean;
}

export interface NotificationPageOptions extends PageRequest {
  /** Epoch ms. */
  readonly now: number;
  /** The filter names the same user. */
  readonly viewer?: Viewer | undefined;
}

/** A response must stay below 5 MB. */
const PAGE_BYTES = 4_000_000;
/** Of a response without paging. */
const MAX_PAGES = 20;
/** For one page of a user's notifications. */
const MAX_QUERIES = 8;
const INVOLVEMENTS_PER_QUERY = 1_000;
/** Limits memory: one notification can have 360 KB. */
const READ_AT_ONCE = 100;
/** Of each of the two lists that a count reads. */
const MAX_COUNTED_READS = 1_000;
const MAX_COUNTED_BYTES = 32_000_000;

/** If a page ends with this notification, the next one starts after this key. */
interface Candidate extends LocatedNotification {
  readonly key: string;
}

/** Whether the notification of an involvement is read. */
type IsRead = (involvement: { readonly userId: string; readonly made: boolean }) => boolean;

/** `cursor` is the position after the batch, undefined at the end. */
interface Batch {
  readonly candidates: readonly Candidate[];
  readonly cursor: string | undefined;
}

export class NotificationReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Newest first, or oldest first if `ascending`. Without document, user and ids, the organization is listed document
   * by document. A page can be empty and still have a `next`. Throws NOT_FOUND for an unknown document, and
   * FAILED_PRECONDITION for one that still has another id until its migration ends.
   */
  async list(
    tenant: string,
    organization: OrganizationKeys,
    filter: NotificationFilter,
    options: NotificationPageOptions,
  ): Promise<ItemPage<NotificationResponse>> {
    const scope = organizationScope(tenant, organization);
    const { notificationIds, userId } = filter;
    const document =
      filter.documentId === undefined
        ? undefined
        : await new DocumentReader(this.#table).require(scope, filter.documentId);
    const toResponse = (notification: Notification) =>
      toNotificationResponse(
        { apiKey: tenant, organizationId: organization.organizationId, readerId: options.viewer?.userId },
        notification,
      );
    if (notificationIds === undefined && userId === undefined)
      return this.#listDocuments(scope, document, filter.locationId, options, toResponse);

    const batches = notificationIds
      ? this.#findByIds(scope, notificationIds, options)
      : this.#listInvolved(scope, [userId as string, EVERYBODY], document && new Set([document.internalId]), options);
    const viewer = userId === undefined ? undefined : this.#viewing(organization, scope, userId, options);
    const values: NotificationResponse[] = [];
    let [position, bytes] = [options.after, 0];
    for await (const { candidates, cursor } of batches) {
      const selected = candidates.filter((candidate) =>
        isSelected(document, { locationId: filter.locationId }, candidate),
      );
      const visible = viewer ? await this.#filterVisible(viewer, selected) : selected;
      for (const { key, notification } of visible) {
        const response = toResponse(notification);
        bytes += jsonBytes(response);
        if (values.length === options.limit || (values.length > 0 && bytes > PAGE_BYTES))
          return { values, next: position };
        values.push(response);
        position = key;
      }
      position = cursor;
    }
    return { values, next: position };
  }

  /**
   * Newest first, at most 1,000 and about 4 MB. With ids in the filter, all of them. Throws INVALID_ARGUMENT if more
   * than 20 pages would have to be read.
   */
  async listRecent(
    tenant: string,
    organization: OrganizationKeys,
    filter: NotificationFilter,
    options: Pick<NotificationPageOptions, 'now' | 'viewer'>,
  ): Promise<NotificationResponse[]> {
    // A listing that goes document by document is not ordered by time, so it is read to its end.
    const endsEarly =
      filter.notificationIds === undefined && (filter.documentId !== undefined || filter.userId !== undefined);
    const notifications: NotificationResponse[] = [];
    let [after, bytes]: [string | undefined, number] = [undefined, 0];
    for (let i = 0; i < MAX_PAGES; i++) {
      const { values, next } = await this.list(tenant, organization, filter, {
        ...options,
        limit: limits.pageSize,
        after,
      });
      notifications.push(...values);
      bytes += values.reduce((sum, value) => sum + jsonBytes(value), 0);
      if (next === undefined || (endsEarly && (notifications.length >= limits.pageSize || bytes >= PAGE_BYTES)))
        return filter.notificationIds ? notifications : mostRecent(notifications);
      after = next;
    }
    const message =
      'documentId must be narrowed: there are too many notifications to look through. /v2/notifications/get gives them in pages';
    throw invalid({ path: ['documentId'], code: 'too_many', message });
  }

  /**
   * Reads the notifications that name the user, and those for everybody else, each newest first until 100 are unread.
   * Each list ends after 1,000 notifications, 32 MB or 8 queries. What the user caused is skipped before it is read.
   * Unknown documents have none.
   */
  async countUnread(
    tenant: string,
    organization: OrganizationKeys,
    { userId, documentIds }: { readonly userId: string; readonly documentIds?: readonly string[] | undefined },
    options: Pick<NotificationPageOptions, 'now' | 'viewer'>,
  ): Promise<UnreadCounts> {
    const scope = organizationScope(tenant, organization);
    const documents = documentIds && (await findLiveDocuments(new DocumentReader(this.#table), scope, documentIds));
    const documentKeys = documents && new Set([...documents.values()].map(({ internalId }) => internalId));
    const viewing = this.#viewing(organization, scope, userId, options);
    const [own, everybody] = await Promise.all([
      this.#listUnread(viewing, [userId], documentKeys),
      this.#listUnread(viewing, [userId, EVERYBODY], documentKeys),
    ]);
    return unreadCounts(own, everybody);
  }

  /** Of the last of `involved` alone. */
  async #listUnread(
    viewing: Viewing,
    involved: readonly string[],
    documentKeys: ReadonlySet<string> | undefined,
  ): Promise<UnreadList> {
    const { scope, userId } = viewing;
    const ids: string[] = [];
    let [read, bytes] = [0, 0];
    for await (const { candidates, cursor } of this.#listInvolved(scope, involved, documentKeys, {
      limit: READ_AT_ONCE - 1,
      isRead: ({ made, userId: listed }) => !made && listed === involved.at(-1),
    })) {
      const unread = candidates.filter(
        ({ notification }) =>
          isUnread(notification, userId) && (involved.includes(EVERYBODY) || notifiesUser(notification, userId)),
      );
      for (const { notification } of await this.#filterVisible(viewing, unread)) ids.push(notification.id);
      read += candidates.length;
      bytes += jsonBytes(candidates);
      const isEnough = ids.length > UNREAD_AT_MOST || read >= MAX_COUNTED_READS || bytes >= MAX_COUNTED_BYTES;
      if (cursor === undefined || isEnough) return { ids, isComplete: cursor === undefined };
    }
    return { ids, isComplete: false };
  }

  #viewing(
    organization: OrganizationKeys,
    scope: OrganizationScope,
    userId: string,
    { now, viewer }: Pick<NotificationPageOptions, 'now' | 'viewer'>,
  ): Viewing {
    const checks = new AccessChecks(this.#table, { scope, organization, now }, userId, viewer?.access);
    return { organization, scope, userId, checks };
  }

  /**
   * Throws PERMISSION_DENIED if a notification does not exist, is not for the user, or may not be seen by the user. Ids
   * must be distinct. Checks nothing without a `viewer`.
   */
  async requireOwn(
    tenant: string,
    organization: OrganizationKeys,
    viewer: Viewer | undefined,
    notificationIds: readonly string[],
    now: number,
  ): Promise<void> {
    if (!viewer) return;
    const filter = { userId: viewer.userId, notificationIds };
    const options = { limit: notificationIds.length, now, viewer };
    const own = new Set<string>();
    const read = (after: string | undefined) => this.list(tenant, organization, filter, { ...options, after });
    for await (const { values } of pages(read)) for (const { id } of values) own.add(id);
    if (!notificationIds.every((id) => own.has(id))) throw accessDenied();
  }

  /**
   * Yields ids page by page, after `after`, for a filter without `notificationIds`. With a user, only notifications
   * with this user in `notifyUsers`. The caller may delete notifications between two pages.
   */
  async *listIds(
    scope: OrganizationScope,
    document: Document | undefined,
    { userId, locationId }: NotificationFilter,
    after: string | undefined,
  ): AsyncGenerator<ItemPage<string>> {
    if (userId !== undefined) {
      const batches = this.#listInvolved(
        scope,
        [userId],
        document && new Set([document.internalId]),
        { limit: INVOLVEMENTS_PER_QUERY, ascending: true, after },
        Infinity,
      );
      for await (const { candidates, cursor } of batches) {
        const selected = candidates.filter((candidate) => isSelected(document, { userId, locationId }, candidate));
        const existing = await this.#inLiveDocuments(scope, selected);
        yield { values: existing.map(({ notification }) => notification.id), next: cursor };
      }
      return;
    }
    const options = { limit: READ_AT_ONCE, ascending: true };
    const read = (from: string | undefined) =>
      this.#listDocuments(scope, document, locationId, { ...options, after: from }, ({ id }) => id);
    yield* pages(read, after);
  }

  async #listDocuments<V>(
    scope: OrganizationScope,
    document: Document | undefined,
    locationId: string | undefined,
    { after, limit, ascending = false }: PageRequest,
    toResponse: (notification: Notification) => V,
  ): Promise<ItemPage<V>> {
    const { values, next } = await listRecords(this.#table, NotificationEntity, {
      documents: document
        ? givenDocuments([{ documentId: document.documentId, scope: documentScope(scope, document) }])
        : allDocuments(new DocumentReader(this.#table), scope),
      from: listingCursor.position(after),
      limit,
      descending: !ascending,
      toResponse,
      isMatch: locationId === undefined ? undefined : ({ locationKey }) => locationKey === locationId,
    });
    return { values, next: listingCursor.of(next) };
  }

  /**
   * Yields the ids of what the user may see and has not read, newest first, after `after`. The caller may change
   * notifications between two pages.
   */
  async *listUnreadIds(
    tenant: string,
    organization: OrganizationKeys,
    document: Document | undefined,
    { userId, locationId }: { readonly userId: string; readonly locationId?: string | undefined },
    { after, ...options }: Pick<NotificationPageOptions, 'after' | 'now' | 'viewer'>,
  ): AsyncGenerator<ItemPage<string>> {
    const scope = organizationScope(tenant, organization);
    const viewing = this.#viewing(organization, scope, userId, options);
    const documentKeys = document && new Set([document.internalId]);
    const page = { limit: READ_AT_ONCE - 1, after };
    for await (const batch of this.#listInvolved(scope, [userId, EVERYBODY], documentKeys, page, Infinity)) {
      const unread = batch.candidates.filter(
        (candidate) =>
          isSelected(document, { locationId }, candidate) && !candidate.notification.readByUserIds?.includes(userId),
      );
      const visible = await this.#filterVisible(viewing, unread);
      yield { values: visible.map(({ notification }) => notification.id), next: batch.cursor };
    }
  }

  async *#findByIds(
    scope: OrganizationScope,
    ids: readonly string[],
    { after, ascending = false }: PageRequest,
  ): AsyncGenerator<Batch> {
    const notifications = await findNotifications(this.#table, scope, ids);
    const order = byKey(ascending);
    const keyOf = ({ createdAt, id }: Notification) => joinKey(recordSortKey(createdAt, id));
    const candidates = notifications.flatMap((stored): Candidate[] =>
      stored ? [{ ...stored, key: keyOf(stored.notification) }] : [],
    );
    const isAfter = (candidate: Candidate) => after === undefined || order({ key: after }, candidate) < 0;
    yield {
      candidates: candidates.filter(isAfter).sort(order),
      cursor: undefined,
    };
  }

  async *#listInvolved(
    scope: OrganizationScope,
    userIds: readonly string[],
    documentKeys: ReadonlySet<string> | undefined,
    { after, limit, ascending = false, isRead = () => true }: PageRequest & { readonly isRead?: IsRead },
    maxQueries = MAX_QUERIES,
  ): AsyncGenerator<Batch> {
    let from = after;
    for (let query = 0; query < maxQueries; query++) {
      // If the first query does not fill the page, most notifications do not match, so the next ones read more.
      const count = query === 0 ? Math.min(limit + 1, INVOLVEMENTS_PER_QUERY) : INVOLVEMENTS_PER_QUERY;
      const { involvements, next } = await this.#mergeInvolvements(scope, userIds, {
        after: from,
        limit: count,
        descending: !ascending,
      });
      for (let i = 0; i === 0 || i < involvements.length; i += READ_AT_ONCE) {
        const slice = involvements.slice(i, i + READ_AT_ONCE);
        const selected = slice.filter(
          (involvement) => (documentKeys?.has(involvement.documentKey) ?? true) && isRead(involvement),
        );
        const notifications = await readNotifications(this.#table, scope, selected);
        const candidates = selected.flatMap(({ key, documentKey }, index) => {
          const notification = notifications[index];
          return notification ? [{ key, documentKey, notification }] : [];
        });
        yield { candidates, cursor: i + READ_AT_ONCE < involvements.length ? slice.at(-1)?.key : next };
      }
      if (next === undefined) return;
      from = next;
    }
  }

  /** Merged in the order of their sort keys. A notification of several of the users occurs once, for the first. */
  async #mergeInvolvements(
    scope: OrganizationScope,
    userIds: readonly string[],
    options: { after: string | undefined; limit: number; descending: boolean },
  ) {
    const pages = await Promise.all(
      userIds.map((userId) =>
        this.#table.query(InvolvementEntity, { ...scope, userId }, { ...options, prefix: ['DATA', 'notification'] }),
      ),
    );
    const order = byKey(!options.descending);
    // The user whose page ends first can have more involvements after that end, so the merged page ends there too.
    const [next] = pages.flatMap((page) => (page.next === undefined ? [] : [{ key: page.next }])).sort(order);
    const involvements = pages.flatMap(({ values }, index) =>
      values.map((involvement) => ({
        ...involvement,
        userId: userIds[index] as string,
        key: InvolvementEntity.key({ ...scope, ...involvement, userId: '', kind: 'notification' }).SK,
      })),
    );
    const merged = distinctBy(involvements, ({ key }) => key).filter(
      (involvement) => next === undefined || order(involvement, next) <= 0,
    );
    return { involvements: merged.sort(order), next: next?.key };
  }

  async #filterVisible(
    { organization, scope, userId, checks }: Viewing,
    candidates: readonly Candidate[],
  ): Promise<Candidate[]> {
    const existing = await this.#inLiveDocuments(scope, candidates);
    const forUser = existing.filter(({ notification }) => notifiesUser(notification, userId) || notification.notifyAll);
    const guards = await notificationGuards(this.#table, scope, organization.organizationId, forUser);
    const allowed = await checks.canSee(
      forUser.map(({ notification, document }, index) =>
        accessForUser(guards[index] ?? {}, document, notifiesUser(notification, userId)),
      ),
    );
    return forUser.filter((_candidate, index) => allowed[index]);
  }

  async #inLiveDocuments(scope: OrganizationScope, candidates: readonly Candidate[]) {
    const documents = await findLiveDocuments(
      new DocumentReader(this.#table),
      scope,
      candidates.map(({ notification }) => notification.documentId),
    );
    return candidates.flatMap((candidate) => {
      const document = documents.get(candidate.notification.documentId);
      return document?.internalId === candidate.documentKey ? [{ ...candidate, document }] : [];
    });
  }
}

interface Viewing {
  readonly organization: OrganizationKeys;
  readonly scope: OrganizationScope;
  readonly userId: string;
  readonly checks: AccessChecks;
}

/** A named user needs no access to the document, unless the notification is about a thread. */
export function accessForUser(guard: RecordAccess, document: DocumentAccess, isNamed: boolean): RecordAccess {
  return { ...guard, document: guard.thread || !isNamed ? document : undefined, knownUsersOnly: !isNamed };
}

/**
 * The notification's own access context, the context of its comment and the rules of its thread, without its document.
 * For a deleted thread, the rules that the notification stores.
 */
export async function notificationGuards(
  table: Table,
  scope: OrganizationScope,
  organizationId: string,
  notifications: readonly LocatedNotification[],
): Promise<RecordAccess[]> {
  const threads = notifications.flatMap(({ documentKey, notification: { thread } }) =>
    thread ? [{ ...thread, documentKey, organizationId }] : [],
  );
  const comments = notifications.map(({ documentKey, notification }) => {
    const { thread } = notification;
    const commentId = commentIdOf(notification);
    if (!thread || commentId === undefined) return undefined;
    return commentKey({ ...scope, documentKey }, thread, commentId);
  });
  const [currentThreads, currentComments] = await Promise.all([
    readThreadAccess(table, scope, organizationId, threads),
    readDefined(comments, (keys) => table.getMany(CommentEntity, keys)),
  ]);
  const current = currentThreads.values();
  return notifications.map(({ notification: { thread, accessFields = [] } }, index) => ({
    accessFields: [...accessFields, ...(accessFieldsOf(currentComments[index]?.context) ?? [])],
    ...(thread && { thread: current.next().value ?? { ...thread, organizationId } }),
  }));
}

function mostRecent(notifications: readonly NotificationResponse[]): NotificationResponse[] {
  let bytes = 0;
  const newestFirst = notifications.toSorted((a, b) => b.timestamp - a.timestamp).slice(0, limits.pageSize);
  return newestFirst.filter((notification, index) => {
    bytes += jsonBytes(notification);
    return bytes <= PAGE_BYTES || index === 0;
  });
}

function byKey(ascending: boolean) {
  return (a: { readonly key: string }, b: { readonly key: string }) => {
    if (a.key === b.key) return 0;
    const isInOrder = ascending ? a.key < b.key : a.key > b.key;
    return isInOrder ? -1 : 1;
  };
}

export const notificationReader = /* @__PURE__ */ storeCapability(NotificationReader, [
  readDocuments,
  'GetItem',
  'BatchGetItem',
  'Query',
]);
