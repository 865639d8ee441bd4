import { distinctBy } from '../shared/collections.ts';
import { notifiesUser, type Notification, type NotificationResponse, toNotificationResponse } from './rules.ts';
import type { RecordAccess } from '../content/rules/threadAccess.ts';
import { invalid } from '../shared/errors.ts';
import { limits } from '../shared/schema.ts';
import { type Document, DocumentReader } from '../directory/documents.ts';
import { type OrganizationScope, organizationScope } from '../directory/folders/folders.ts';
import { joinKey } from '../table/keys.ts';
import type { Organization } from '../directory/organizations.ts';
import type { Table } from '../table/table.ts';
import { EVERYBODY, InvolvementEntity, recordSortKey } from '../content/involvements.ts';
import { findNotifications, NotificationEntity, type PlacedNotification, readNotifications } from './notifications.ts';
import { readThreadAccess, AccessChecks } from '../content/accessChecks.ts';
import {
  allDocuments,
  findLiveDocuments,
  givenDocuments,
  listRecords,
  listingCursor,
} from '../content/recordListing.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { pages } from '../table/pages.ts';
import { accessDenied } from '../userTokens/rules/denied.ts';
import type { Viewer } from '../content/rules/viewer.ts';

/** Selects notifications. A notification must match every given field. */
export interface NotificationFilter {
  readonly documentId?: string | undefined;
  readonly locationId?: string | undefined;
  /** The recipient, who must also have access. */
  readonly userId?: string | undefined;
  readonly notificationIds?: readonly string[] | undefined;
}

interface PageRequest {
  readonly limit: number;
  /** The cursor of the previous page. */
  readonly after?: string | undefined;
  readonly ascending?: boolean;
}

export interface NotificationPageOptions extends PageRequest {
  /** Epoch ms. */
  readonly now: number;
  /** The user of a user token, who is the user of the filter. */
  readonly viewer?: Viewer | undefined;
}

export interface NotificationPage {
  readonly values: NotificationResponse[];
  /** Undefined at the end. */
  readonly next: string | undefined;
}

/** A page ends early at this size of its notifications as JSON, so that an answer stays below the limit of 5 MB. */
const PAGE_BYTES = 4_000_000;
/** The most pages that an answer without paging consists of. */
const MOST_PAGES = 20;
/** The most queries of involvements for a page of a user's notifications. */
const MOST_QUERIES = 8;
/** Involvements per query, and notifications that are read at a time: one can have 360 KB. */
const INVOLVEMENTS_PER_QUERY = 1_000;
const READ_AT_ONCE = 100;

/** A notification with its sort key, after which the next page continues. */
interface Candidate extends PlacedNotification {
  readonly key: string;
}

/** A batch of notifications in order, and the cursor after it; undefined at the end. */
interface Batch {
  readonly candidates: readonly Candidate[];
  readonly cursor: string | undefined;
}

/** Lists notifications of an organization. */
export class NotificationReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Returns a page of the notifications that a filter selects, by time, the newest first unless `ascending`. A whole
   * organization is listed document by document. A page may end early, at about 4 MB or after a bounded number of
   * queries, and can be empty although it has a `next`. Throws NOT_FOUND when the document does not exist.
   */
  async list(
    tenant: string,
    organization: Organization,
    filter: NotificationFilter,
    options: NotificationPageOptions,
  ): Promise<NotificationPage> {
    const scope = organizationScope(tenant, organization);
    const { notificationIds, userId } = filter;
    const document =
      filter.documentId === undefined
        ? undefined
        : await new DocumentReader(this.#table).require(scope, filter.documentId);
    const isAtLocation = locationFilter(filter);
    const toResponse = (notification: Notification) =>
      toNotificationResponse({ apiKey: tenant, organizationId: organization.organizationId }, notification);
    if (notificationIds === undefined && userId === undefined)
      return this.#listDocuments(scope, document, isAtLocation, options, toResponse);

    const batches = notificationIds
      ? this.#findByIds(scope, notificationIds, options)
      : this.#listInvolved(scope, [userId as string, EVERYBODY], document?.internalId, options);
    const viewing =
      userId === undefined
        ? undefined
        : {
            organization,
            scope,
            userId,
            checks: new AccessChecks(
              this.#table,
              { scope, organization, now: options.now },
              userId,
              options.viewer?.access,
            ),
          };
    const values: NotificationResponse[] = [];
    let [position, bytes] = [options.after, 0];
    for await (const { candidates, cursor } of batches) {
      const selected = candidates.filter(
        (one) => (isAtLocation?.(one.notification) ?? true) && (!document || one.documentKey === document.internalId),
      );
      const visible = viewing ? await this.#filterVisible(viewing, selected) : selected;
      for (const { key, notification } of visible) {
        const response = toResponse(notification);
        bytes += Buffer.byteLength(JSON.stringify(response));
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
   * Returns the most recent notifications that a filter selects, newest first: at most 1,000 and about 4 MB.
   * Notifications with given ids are all returned. Throws INVALID_ARGUMENT when there are too many to read.
   */
  async listRecent(
    tenant: string,
    organization: Organization,
    filter: NotificationFilter,
    options: Pick<NotificationPageOptions, 'now' | 'viewer'>,
  ): Promise<NotificationResponse[]> {
    // A listing document by document finds the most recent ones only at its end.
    const endsEarly =
      filter.notificationIds === undefined && (filter.documentId !== undefined || filter.userId !== undefined);
    const found: NotificationResponse[] = [];
    let [after, bytes]: [string | undefined, number] = [undefined, 0];
    for (let i = 0; i < MOST_PAGES; i++) {
      const { values, next } = await this.list(tenant, organization, filter, {
        ...options,
        limit: limits.pageSize,
        after,
      });
      found.push(...values);
      bytes += values.reduce((sum, value) => sum + Buffer.byteLength(JSON.stringify(value)), 0);
      if (next === undefined || (endsEarly && (found.length >= limits.pageSize || bytes >= PAGE_BYTES)))
        return filter.notificationIds ? found : mostRecent(found);
      after = next;
    }
    const message =
      'documentId must be narrowed: there are too many notifications to look through. /v2/notifications/get gives them in pages';
    throw invalid({ path: ['documentId'], code: 'too_many', message });
  }

  /**
   * Throws PERMISSION_DENIED unless all notifications exist, are for the user and may be seen by the user. Ids are
   * distinct. Reads nothing without a user.
   */
  async requireOwn(
    tenant: string,
    organization: Organization,
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
   * Yields the ids of the notifications that a filter without `notificationIds` selects, batch by batch; for a user,
   * those that name the user in `notifyUsers`. They may be deleted between two batches. `document` is the document of
   * the filter.
   */
  async *listIds(
    scope: OrganizationScope,
    document: Document | undefined,
    { userId, ...filter }: NotificationFilter,
  ): AsyncGenerator<string[]> {
    const isAtLocation = locationFilter(filter);
    if (userId !== undefined) {
      const batches = this.#listInvolved(
        scope,
        [userId],
        document?.internalId,
        { limit: INVOLVEMENTS_PER_QUERY, ascending: true },
        Infinity,
      );
      const isTheirs = ({ notification }: Candidate) =>
        notifiesUser(notification, userId) && (isAtLocation?.(notification) ?? true);
      for await (const { candidates } of batches)
        yield candidates.filter(isTheirs).map(({ notification }) => notification.id);
      return;
    }
    const options = { limit: READ_AT_ONCE, ascending: true };
    const read = (after: string | undefined) =>
      this.#listDocuments(scope, document, isAtLocation, { ...options, after }, ({ id }) => id);
    for await (const { values } of pages(read)) yield values;
  }

  /** Returns a page of the notifications of a document, or of all documents. */
  async #listDocuments<V>(
    scope: OrganizationScope,
    document: Document | undefined,
    isMatch: NotificationTest | undefined,
    { after, limit, ascending = false }: PageRequest,
    toResponse: (notification: Notification) => V,
  ): Promise<{ values: V[]; next: string | undefined }> {
    const { values, next } = await listRecords(this.#table, NotificationEntity, {
      documents: document
        ? givenDocuments([{ documentId: document.documentId, scope: { ...scope, documentKey: document.internalId } }])
        : allDocuments(new DocumentReader(this.#table), scope),
      from: listingCursor.position(after),
      limit,
      descending: !ascending,
      toResponse,
      isMatch,
    });
    return { values, next: listingCursor.of(next) };
  }

  /** Yields notifications by id, all in one batch. */
  async *#findByIds(
    scope: OrganizationScope,
    ids: readonly string[],
    { after, ascending = false }: PageRequest,
  ): AsyncGenerator<Batch> {
    const found = await findNotifications(this.#table, scope, ids);
    const order = byKey(ascending);
    const keyOf = ({ createdAt, id }: Notification) => joinKey(recordSortKey(createdAt, id));
    const candidates = found.flatMap((one): Candidate[] => (one ? [{ ...one, key: keyOf(one.notification) }] : []));
    yield {
      candidates: candidates.filter((one) => after === undefined || order({ key: after }, one) < 0).sort(order),
      cursor: undefined,
    };
  }

  /** Yields the notifications that some users are involved in; those of one document when it is given. */
  async *#listInvolved(
    scope: OrganizationScope,
    userIds: readonly string[],
    document: string | undefined,
    { after, limit, ascending = false }: PageRequest,
    most = MOST_QUERIES,
  ): AsyncGenerator<Batch> {
    let from = after;
    for (let query = 0; query < most; query++) {
      // When the first query does not fill the page, most notifications do not match: read more at a time.
      const count = query === 0 ? Math.min(limit + 1, INVOLVEMENTS_PER_QUERY) : INVOLVEMENTS_PER_QUERY;
      const { involvements, next } = await this.#mergeInvolvements(scope, userIds, {
        after: from,
        limit: count,
        descending: !ascending,
      });
      for (let i = 0; i === 0 || i < involvements.length; i += READ_AT_ONCE) {
        const slice = involvements.slice(i, i + READ_AT_ONCE);
        const selected =
          document === undefined ? slice : slice.filter((involvement) => involvement.documentKey === document);
        const read = await readNotifications(this.#table, scope, selected);
        const candidates = selected.flatMap((involvement, index) =>
          read[index]
            ? [{ key: involvement.key, documentKey: involvement.documentKey, notification: read[index] }]
            : [],
        );
        yield { candidates, cursor: i + READ_AT_ONCE < involvements.length ? slice.at(-1)?.key : next };
      }
      if (next === undefined) return;
      from = next;
    }
  }

  /** Returns the involvements of some users in one order, one for each notification. */
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
    // Involvements after the end of an incomplete page are unknown: the merged page ends there.
    const [next] = pages.flatMap((page) => (page.next === undefined ? [] : [{ key: page.next }])).sort(order);
    const involvements = pages.flatMap(({ values }) =>
      values.map((involvement) => ({
        ...involvement,
        key: InvolvementEntity.key({ ...scope, ...involvement, userId: '', kind: 'notification' }).SK,
      })),
    );
    const merged = distinctBy(involvements, ({ key }) => key).filter(
      (involvement) => next === undefined || order(involvement, next) <= 0,
    );
    return { involvements: merged.sort(order), next: next?.key };
  }

  /**
   * Returns the notifications that are for a user and that the user may see. They name the user, or are for everybody
   * with access to the document. A deleted document has none.
   */
  async #filterVisible(
    { organization, scope, userId, checks }: Viewing,
    candidates: readonly Candidate[],
  ): Promise<Candidate[]> {
    const documents = await findLiveDocuments(
      new DocumentReader(this.#table),
      scope,
      candidates.map(({ notification }) => notification.documentId),
    );
    const there = candidates.filter(
      ({ documentKey, notification }) =>
        documents.get(notification.documentId)?.internalId === documentKey &&
        (notifiesUser(notification, userId) || notification.notifyAll),
    );
    const guards = await notificationGuards(this.#table, scope, organization.organizationId, there);
    const allowed = await checks.canSee(
      there.map(({ notification }, index) => {
        const guard = guards[index];
        const isNamed = notifiesUser(notification, userId);
        // A named user may see a notification without a thread, whatever access the user has to its document.
        const document = guard?.thread || !isNamed ? documents.get(notification.documentId) : undefined;
        return { ...guard, document, knownUsersOnly: !isNamed };
      }),
    );
    return there.filter((_candidate, index) => allowed[index]);
  }
}

/** The user for whom notifications are listed. */
interface Viewing {
  readonly organization: Organization;
  readonly scope: OrganizationScope;
  readonly userId: string;
  readonly checks: AccessChecks;
}

/**
 * Returns the access that each notification requires besides its document: by its own access context and its thread.
 * For a deleted thread, the state at the creation of the notification counts.
 */
export async function notificationGuards(
  table: Table,
  scope: OrganizationScope,
  organizationId: string,
  placed: readonly PlacedNotification[],
): Promise<RecordAccess[]> {
  const about = placed.flatMap(({ documentKey, notification: { thread } }) =>
    thread ? [{ ...thread, documentKey, organizationId }] : [],
  );
  const current = (await readThreadAccess(table, scope, organizationId, about)).values();
  return placed.map(({ notification: { thread, accessFields } }) => ({
    accessFields,
    ...(thread && { thread: current.next().value ?? { ...thread, organizationId } }),
  }));
}

/** Returns the most recent ones that fit into one answer, newest first. */
function mostRecent(found: readonly NotificationResponse[]): NotificationResponse[] {
  let bytes = 0;
  const inOrder = found.toSorted((a, b) => b.timestamp - a.timestamp).slice(0, limits.pageSize);
  return inOrder.filter((one, index) => (bytes += Buffer.byteLength(JSON.stringify(one))) <= PAGE_BYTES || index === 0);
}

type NotificationTest = (notification: Notification) => boolean;

function locationFilter({ locationId }: NotificationFilter): NotificationTest | undefined {
  return locationId === undefined ? undefined : ({ locationKey }) => locationKey === locationId;
}

function byKey(ascending: boolean) {
  return (a: { readonly key: string }, b: { readonly key: string }) =>
    a.key === b.key ? 0 : a.key < b.key === ascending ? -1 : 1;
}

export const notificationReader = /* @__PURE__ */ storeCapability(NotificationReader, [
  'GetItem',
  'BatchGetItem',
  'Query',
]);
