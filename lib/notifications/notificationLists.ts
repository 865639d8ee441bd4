import { distinctBy } from '../shared/collections.ts';
import { names, type Notification, type NotificationResponse, toNotificationResponse } from './rules.ts';
import type { RecordAccess } from '../content/rules/threadAccess.ts';
import { invalid } from '../shared/errors.ts';
import { limits } from '../shared/schema.ts';
import { type Document, DocumentReader } from '../directory/documents.ts';
import { type OrganizationScope, organizationScope } from '../directory/folders/folders.ts';
import { joinKey } from '../table/keys.ts';
import type { Organization } from '../directory/organizations.ts';
import type { Table } from '../table/table.ts';
import { EVERYBODY, InvolvementEntity, recordSortKey } from '../content/involvements.ts';
import { namedNotifications, NotificationEntity, type PlacedNotification, readNotifications } from './notifications.ts';
import { readThreadAccess, AccessChecks } from '../content/accessChecks.ts';
import {
  allDocuments,
  findLiveDocuments,
  readRecordPage,
  givenDocuments,
  listAcrossDocuments,
  listingCursor,
} from '../content/recordListing.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** Which notifications are asked for; what is given is combined. */
export interface NotificationFilter {
  /** Under the customer's id. */
  readonly documentId?: string | undefined;
  /** As `locationKey` gives it. */
  readonly locationId?: string | undefined;
  /** Those for this user that the user may see. */
  readonly userId?: string | undefined;
  readonly notificationIds?: readonly string[] | undefined;
}

interface Slice {
  readonly limit: number;
  /** The cursor of the page before. */
  readonly after?: string | undefined;
  readonly ascending?: boolean;
}

export interface NotificationPageOptions extends Slice {
  /** Epoch ms. */
  readonly now: number;
}

export interface NotificationPage {
  readonly values: NotificationResponse[];
  /** Undefined at the end. */
  readonly next: string | undefined;
}

/** A page ends early at this size of its notifications as JSON, so that an answer stays below the limit of 5 MB. */
const PAGE_BYTES = 4_000_000;
/** An answer without pages is put together of so many. */
const MOST_PAGES = 20;
/** A page of a user's notifications ends early after so many queries of edges. */
const MOST_QUERIES = 8;
/** How many edges one of them reads at most, and for how many the notifications are read at a time: one can be 256 KB. */
const EDGES_AT_ONCE = 1_000;
const READ_AT_ONCE = 100;

/** A notification in its list, and what to continue after. */
interface Candidate extends PlacedNotification {
  readonly key: string;
}

/** Some notifications in their order, and up to where they were looked for; undefined at the end. */
interface Round {
  readonly candidates: readonly Candidate[];
  readonly upTo: string | undefined;
}

/** Lists notifications of an organization. */
export class NotificationLists {
  readonly #table: Table;
  readonly #documents: DocumentReader;

  constructor(table: Table) {
    this.#table = table;
    this.#documents = new DocumentReader(table);
  }

  /**
   * A page of the notifications that a filter asks for, by time, the newest first unless `ascending`; of a whole organization document by
   * document. It ends early at about 4 MB or after a bounded number of queries, then with fewer values, perhaps none, and a `next`. NOT_FOUND
   * when the document does not exist.
   */
  async page(
    tenant: string,
    organization: Organization,
    filter: NotificationFilter,
    options: NotificationPageOptions,
  ): Promise<NotificationPage> {
    const scope = organizationScope(tenant, organization);
    const { notificationIds, userId } = filter;
    const document =
      filter.documentId === undefined ? undefined : await this.#documents.require(scope, filter.documentId);
    const isThere = inLocation(filter);
    const show = (notification: Notification) =>
      toNotificationResponse({ apiKey: tenant, organizationId: organization.organizationId }, notification);
    if (notificationIds === undefined && userId === undefined)
      return this.#walked(scope, document, isThere, options, show);

    const rounds = notificationIds
      ? this.#named(scope, notificationIds, options)
      : this.#edges(scope, [userId as string, EVERYBODY], document?.internalId, options);
    const viewing =
      userId === undefined
        ? undefined
        : {
            organization,
            scope,
            userId,
            checks: new AccessChecks(this.#table, { scope, organization, now: options.now }, userId),
          };
    const values: NotificationResponse[] = [];
    let [position, bytes] = [options.after, 0];
    for await (const { candidates, upTo } of rounds) {
      const asked = candidates.filter(
        (one) => (isThere?.(one.notification) ?? true) && (!document || one.documentKey === document.internalId),
      );
      const seen = viewing ? await this.#visible(viewing, asked) : asked;
      for (const { key, notification } of seen) {
        const shown = show(notification);
        bytes += Buffer.byteLength(JSON.stringify(shown));
        if (values.length === options.limit || (values.length > 0 && bytes > PAGE_BYTES))
          return { values, next: position };
        values.push(shown);
        position = key;
      }
      position = upTo;
    }
    return { values, next: position };
  }

  /**
   * The most recent notifications that a filter asks for, newest first: at most 1,000 and about 4 MB, but all that are asked for by id.
   * INVALID_ARGUMENT when there are too many to look through.
   */
  async recent(
    tenant: string,
    organization: Organization,
    filter: NotificationFilter,
    now: number,
  ): Promise<NotificationResponse[]> {
    // Document by document, the latest are known at the end only.
    const endsEarly =
      filter.notificationIds === undefined && (filter.documentId !== undefined || filter.userId !== undefined);
    const found: NotificationResponse[] = [];
    let [after, bytes]: [string | undefined, number] = [undefined, 0];
    for (let i = 0; i < MOST_PAGES; i++) {
      const { values, next } = await this.page(tenant, organization, filter, { limit: limits.pageSize, after, now });
      found.push(...values);
      bytes += values.reduce((sum, value) => sum + Buffer.byteLength(JSON.stringify(value)), 0);
      if (next === undefined || (endsEarly && (found.length >= limits.pageSize || bytes >= PAGE_BYTES)))
        return filter.notificationIds ? found : latest(found);
      after = next;
    }
    const message =
      'documentId must be narrowed: there are too many notifications to look through. /v2/notifications/get gives them in pages';
    throw invalid({ path: ['documentId'], code: 'too_many', message });
  }

  /**
   * The ids of the notifications that a filter without `notificationIds` asks for, some at a time; of a user those that name the user. They
   * may be removed meanwhile. `document` is that of the filter, as it was found.
   */
  async *ids(
    scope: OrganizationScope,
    document: Document | undefined,
    { userId, ...filter }: NotificationFilter,
  ): AsyncGenerator<string[]> {
    const isThere = inLocation(filter);
    if (userId !== undefined) {
      const rounds = this.#edges(
        scope,
        [userId],
        document?.internalId,
        { limit: EDGES_AT_ONCE, ascending: true },
        Infinity,
      );
      const isTheirs = ({ notification }: Candidate) =>
        names(notification, userId) && (isThere?.(notification) ?? true);
      for await (const { candidates } of rounds)
        yield candidates.filter(isTheirs).map(({ notification }) => notification.id);
      return;
    }
    let after: string | undefined;
    do {
      const { values, next } = await this.#walked(
        scope,
        document,
        isThere,
        { after, limit: READ_AT_ONCE, ascending: true },
        ({ id }) => id,
      );
      yield values;
      after = next;
    } while (after !== undefined);
  }

  /** A page of the notifications of a document, or of all of them document by document. */
  async #walked<V>(
    scope: OrganizationScope,
    document: Document | undefined,
    isWanted: IsWanted | undefined,
    { after, limit, ascending = false }: Slice,
    show: (notification: Notification) => V,
  ): Promise<{ values: V[]; next: string | undefined }> {
    const { values, next } = await listAcrossDocuments({
      documents: document
        ? givenDocuments([{ documentId: document.documentId, scope: { ...scope, documentKey: document.internalId } }])
        : allDocuments(this.#documents, scope),
      from: listingCursor.position(after),
      limit,
      read: (one, options) =>
        readRecordPage(
          this.#table,
          NotificationEntity,
          one.scope,
          { ...options, descending: !ascending },
          show,
          isWanted,
        ),
    });
    return { values, next: listingCursor.of(next) };
  }

  /** Notifications by their ids: all in one round. */
  async *#named(
    scope: OrganizationScope,
    ids: readonly string[],
    { after, ascending = false }: Slice,
  ): AsyncGenerator<Round> {
    const found = await namedNotifications(this.#table, scope, ids);
    const order = byKey(ascending);
    const keyOf = ({ createdAt, id }: Notification) => joinKey(recordSortKey(createdAt, id));
    const candidates = found.flatMap((one): Candidate[] => (one ? [{ ...one, key: keyOf(one.notification) }] : []));
    yield {
      candidates: candidates.filter((one) => after === undefined || order({ key: after }, one) < 0).sort(order),
      upTo: undefined,
    };
  }

  /** The notifications to which the edges of some users lead, in one order; those of one document when it is given. */
  async *#edges(
    scope: OrganizationScope,
    userIds: readonly string[],
    document: string | undefined,
    { after, limit, ascending = false }: Slice,
    most = MOST_QUERIES,
  ): AsyncGenerator<Round> {
    let from = after;
    for (let query = 0; query < most; query++) {
      // Where the first ones do not fill the page, most are not wanted.
      const count = query === 0 ? Math.min(limit + 1, EDGES_AT_ONCE) : EDGES_AT_ONCE;
      const { edges, next } = await this.#merged(scope, userIds, { after: from, limit: count, descending: !ascending });
      for (let i = 0; i === 0 || i < edges.length; i += READ_AT_ONCE) {
        const slice = edges.slice(i, i + READ_AT_ONCE);
        const asked = document === undefined ? slice : slice.filter((edge) => edge.documentKey === document);
        const read = await readNotifications(this.#table, scope, asked);
        const candidates = asked.flatMap((edge, index) =>
          read[index] ? [{ key: edge.key, documentKey: edge.documentKey, notification: read[index] }] : [],
        );
        yield { candidates, upTo: i + READ_AT_ONCE < edges.length ? slice.at(-1)?.key : next };
      }
      if (next === undefined) return;
      from = next;
    }
  }

  /** The edges of some users to notifications in one order, those to the same one once. */
  async #merged(
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
    // Behind the end of a page that goes on nothing is known.
    const [next] = pages.flatMap((page) => (page.next === undefined ? [] : [{ key: page.next }])).sort(order);
    const edges = pages.flatMap(({ values }) =>
      values.map((edge) => ({
        ...edge,
        key: InvolvementEntity.key({ ...scope, ...edge, userId: '', kind: 'notification' }).SK,
      })),
    );
    const known = distinctBy(edges, ({ key }) => key).filter((edge) => next === undefined || order(edge, next) <= 0);
    return { edges: known.sort(order), next: next?.key };
  }

  /**
   * Returns the notifications that a user sees: those that name the user, or are for everybody with access to the document; and that the user may see,
   * by the rule `maySee`. A deleted document has none.
   */
  async #visible(
    { organization, scope, userId, checks }: Viewing,
    candidates: readonly Candidate[],
  ): Promise<Candidate[]> {
    const documents = await findLiveDocuments(
      this.#documents,
      scope,
      candidates.map(({ notification }) => notification.documentId),
    );
    const there = candidates.filter(
      ({ documentKey, notification }) =>
        documents.get(notification.documentId)?.internalId === documentKey &&
        (names(notification, userId) || notification.notifyAll),
    );
    const guards = await notificationGuards(this.#table, scope, organization.organizationId, there);
    const allowed = await checks.canSee(
      guards.map((guard, index) => {
        const { notification } = there[index]!;
        const isNamed = names(notification, userId);
        // A notification without a thread is for the users that it names, whatever access they have to its document.
        const document = guard.thread || !isNamed ? documents.get(notification.documentId) : undefined;
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
 * Returns what limits the readers of notifications, the document aside: their own access context, and the threads that they are about as these are
 * now. For a deleted thread, what held when the notification was made.
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

/** The latest first, as many as one answer takes. */
function latest(found: readonly NotificationResponse[]): NotificationResponse[] {
  let bytes = 0;
  const inOrder = found.toSorted((a, b) => b.timestamp - a.timestamp).slice(0, limits.pageSize);
  return inOrder.filter((one, index) => (bytes += Buffer.byteLength(JSON.stringify(one))) <= PAGE_BYTES || index === 0);
}

type IsWanted = (notification: Notification) => boolean;

function inLocation({ locationId }: NotificationFilter): IsWanted | undefined {
  return locationId === undefined ? undefined : ({ locationKey }) => locationKey === locationId;
}

function byKey(ascending: boolean) {
  return (a: { readonly key: string }, b: { readonly key: string }) =>
    a.key === b.key ? 0 : a.key < b.key === ascending ? -1 : 1;
}

export const readNotificationLists = /* @__PURE__ */ storeCapability(NotificationLists, [
  'GetItem',
  'BatchGetItem',
  'Query',
]);
