import { accessFieldsOf, type CommentResponse, toCommentResponse } from '../comments/rules/comments.ts';
import { threadAccessOf } from '../comments/rules/threads.ts';
import { ThreadReader } from '../comments/threads.ts';
import { AccessChecks } from '../content/accessChecks.ts';
import {
  involvedAt,
  type InvolvedKind,
  involvedKinds,
  type Involvement,
  InvolvementEntity,
} from '../content/involvements.ts';
import { findLiveDocuments } from '../content/recordListing.ts';
import type { ResponseNames } from '../content/rules/eventMetadata.ts';
import type { RecordAccess } from '../content/rules/threadAccess.ts';
import { DocumentReader } from '../directory/documents.ts';
import { readRevocations } from '../directory/folders/folderRevocations.ts';
import type { OrganizationKeys } from '../directory/organizations.ts';
import { type OrganizationScope, organizationScope } from '../directory/organizationScope.ts';
import { hasEndedInDocument } from '../directory/rules/access.ts';
import { findUsers } from '../directory/users.ts';
import { notificationGuards } from '../notifications/notificationReader.ts';
import { readNotifications } from '../notifications/notifications.ts';
import { type NotificationResponse, toNotificationResponse } from '../notifications/rules.ts';
import { readReactions } from '../reactions/reactions.ts';
import { type ReactionResponse, toReactionResponse } from '../reactions/rules.ts';
import { readRecordings } from '../recordings/recordings.ts';
import { type RecordingResponse, toRecordingResponse } from '../recordings/rules.ts';
import { jsonBytes } from '../shared/bytes.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { divideFairly } from './rules/fairShares.ts';

/** A comment in the data of a user, with the ids of its thread and document. */
export type UserComment = CommentResponse & { readonly annotationId: string; readonly documentId: string };

/** The position in the records of each kind: a sort key, undefined at the start, or null at the end. */
export type UserDataCursor = { readonly [K in InvolvedKind]?: string | null };

export interface UserDataPage {
  readonly comments: UserComment[];
  readonly reactions: ReactionResponse[];
  readonly recordings: RecordingResponse[];
  readonly notifications: NotificationResponse[];
  /** The position at which the next page starts. Undefined if all kinds are at the end. */
  readonly next: UserDataCursor | undefined;
}

/** The largest number of records of each kind on one page. */
const RECORDS_PER_KIND = 100;
/** A page ends early when its records have this size as JSON, in bytes. A response must stay below 5 MB. */
const PAGE_BYTES = 4_000_000;

/** A record in the data of a user. It is not yet known whether its document exists. */
interface UserRecord<V> {
  readonly key: string;
  readonly documentKey: string;
  /** When the user became involved in the record, in epoch ms. */
  readonly at: number;
  /** The record in the form of responses. Undefined if the record is deleted. */
  readonly response: RecordResponse<V> | undefined;
}

interface RecordResponse<V> {
  readonly value: V;
  readonly documentId: string;
  readonly bytes: number;
  /** The access rules of the record, without its document. Undefined for a record that the user made. */
  readonly access?: (RecordAccess & { readonly needsDocumentAccess: boolean }) | undefined;
}

/** A page of the records of one kind. */
interface KindPage<V> {
  readonly records: readonly UserRecord<V>[];
  /** The sort key after which the next page starts. Undefined on the last page. */
  readonly next: string | undefined;
}

type ReadResponses<V> = (involvements: readonly Involvement[]) => Promise<readonly UserRecord<V>['response'][]>;

/** The user whose data is read, and the organization that it is read from. */
interface UserDataRequest {
  readonly scope: OrganizationScope;
  readonly organization: OrganizationKeys;
  readonly userId: string;
  readonly names: ResponseNames;
  /** The time of the request in epoch ms. */
  readonly now: number;
}

/** Reads the records that a user made or is involved in. */
export class UserDataReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Returns a page of a user's data in an organization: up to 100 records of each kind, ordered by time. A page with large
   * records has fewer. A record that exists during the whole listing is returned exactly once. Leaves out:
   * - records of deleted threads and documents
   * - records that the user did not make and may not see
   * - records from before the user was removed from the document
   */
  async page(
    tenant: string,
    organization: OrganizationKeys,
    userId: string,
    cursor: UserDataCursor,
    now: number,
  ): Promise<UserDataPage> {
    const names = { apiKey: tenant, organizationId: organization.organizationId };
    const scope = organizationScope(tenant, organization);
    const request: UserDataRequest = { scope, organization, userId, names, now };
    const [[user], comment, reaction, recording, notification] = await Promise.all([
      findUsers(this.#table, tenant, [userId]),
      this.#readKind(request, 'comment', cursor, (involvements) => this.#readComments(request, involvements)),
      this.#readKind(request, 'reaction', cursor, async (involvements) =>
        toResponses(await readReactions(this.#table, scope, involvements), (record) =>
          toReactionResponse(names, record),
        ),
      ),
      this.#readKind(request, 'recording', cursor, async (involvements) =>
        toResponses(await readRecordings(this.#table, scope, involvements), (record) =>
          toRecordingResponse(names, record),
        ),
      ),
      this.#readKind(request, 'notification', cursor, (involvements) => this.#readNotifications(request, involvements)),
    ]);
    const pages = { comment, reaction, recording, notification };
    const records = involvedKinds.flatMap((kind): readonly UserRecord<unknown>[] => pages[kind].records);
    const included = await this.#findIncluded(request, user, records);
    const needs = involvedKinds.map((kind) => {
      let bytes = 0;
      for (const record of pages[kind].records) if (included.has(record)) bytes += record.response?.bytes ?? 0;
      return bytes;
    });
    const shares = divideFairly(needs, PAGE_BYTES);
    const [comments, reactions, recordings, notifications] = [
      cutPage(comment, included, shares[0] ?? 0),
      cutPage(reaction, included, shares[1] ?? 0),
      cutPage(recording, included, shares[2] ?? 0),
      cutPage(notification, included, shares[3] ?? 0),
    ];
    const ends: UserDataCursor = {
      comment: comments.end,
      reaction: reactions.end,
      recording: recordings.end,
      notification: notifications.end,
    };
    return {
      comments: comments.values,
      reactions: reactions.values,
      recordings: recordings.values,
      notifications: notifications.values,
      next: Object.values(ends).every((end) => end === null) ? undefined : ends,
    };
  }

  async #readKind<V>(
    { scope, userId }: UserDataRequest,
    kind: InvolvedKind,
    cursor: UserDataCursor,
    readResponses: ReadResponses<V>,
  ): Promise<KindPage<V>> {
    const after = cursor[kind];
    if (after === null) return { records: [], next: undefined };
    const { values, next } = await this.#table.query(
      InvolvementEntity,
      { ...scope, userId },
      { prefix: ['DATA', kind], limit: RECORDS_PER_KIND, after },
    );
    const involvements = values.map((value) => ({ ...value, userId, kind }));
    const responses = await readResponses(involvements);
    const records = involvements.map((involvement, index) => ({
      key: InvolvementEntity.key({ ...scope, ...involvement }).SK,
      documentKey: involvement.documentKey,
      at: involvedAt(involvement),
      response: responses[index],
    }));
    return { records, next };
  }

  /**
   * Returns the records that belong on the page. The record and its document must exist, and the user may see the record. The
   * user must not have been removed from the document after the record was made.
   */
  async #findIncluded(
    { scope, organization, userId, now }: UserDataRequest,
    user: Parameters<typeof readRevocations>[2][number],
    records: readonly UserRecord<unknown>[],
  ): Promise<ReadonlySet<unknown>> {
    const documentIds = records.flatMap(({ response }) => response?.documentId ?? []);
    const documents = await findLiveDocuments(new DocumentReader(this.#table), scope, documentIds);
    const limited = records.filter(({ response }) => response?.access);
    const rules = limited.flatMap(({ response }): RecordAccess[] => {
      if (!response?.access) return [];
      const { needsDocumentAccess, ...access } = response.access;
      return [{ ...access, ...(needsDocumentAccess && { document: documents.get(response.documentId) }) }];
    });
    const [[revocations], isVisible] = await Promise.all([
      readRevocations(this.#table, scope, [user]),
      new AccessChecks(this.#table, { scope, organization, now }, userId).canSee(rules),
    ]);
    const hidden = new Set(limited.filter((_record, index) => !isVisible[index]));
    const included = records.filter((record) => {
      const document = record.response && documents.get(record.response.documentId);
      if (hidden.has(record) || document?.internalId !== record.documentKey) return false;
      return !hasEndedInDocument(revocations, document, scope.organizationKey, record.at);
    });
    return new Set(included);
  }

  async #readComments({ scope, names }: UserDataRequest, involvements: readonly Involvement[]) {
    const comments = await new ThreadReader(this.#table).findInvolvedComments(scope, involvements);
    const records = comments.map((record) => record && { ...record, documentId: record.thread.documentId });
    return toResponses(
      records,
      ({ thread: { annotationId }, comment, documentId }): UserComment => ({
        annotationId,
        documentId,
        ...toCommentResponse({ apiKey: names.apiKey, organization: names, document: { documentId } }, comment),
      }),
      ({ thread, comment }, index) => {
        if (involvements[index]?.made) return undefined;
        const accessFields = accessFieldsOf(comment.context);
        return { thread: threadAccessOf(thread, names.organizationId), accessFields, needsDocumentAccess: true };
      },
    );
  }

  async #readNotifications({ scope, names }: UserDataRequest, involvements: readonly Involvement[]) {
    const notifications = await readNotifications(this.#table, scope, involvements);
    const existing = notifications.flatMap((notification, index) =>
      notification ? [{ notification, documentKey: (involvements[index] as Involvement).documentKey }] : [],
    );
    const rules = (await notificationGuards(this.#table, scope, names.organizationId, existing)).values();
    return toResponses(
      notifications,
      (notification) => toNotificationResponse(names, notification),
      (_notification, index) => {
        const access = rules.next().value as RecordAccess;
        if (involvements[index]?.made) return undefined;
        return { ...access, needsDocumentAccess: access.thread !== undefined };
      },
    );
  }
}

/**
 * Converts records to responses. The value is undefined for a deleted record. Calls `accessOf` once per existing record, in
 * order.
 */
function toResponses<R extends { readonly documentId: string }, V>(
  records: readonly (R | undefined)[],
  toResponse: (record: R) => V,
  accessOf: (record: R, index: number) => RecordResponse<V>['access'] = () => undefined,
): UserRecord<V>['response'][] {
  return records.map((record, index) => {
    if (!record) return undefined;
    const value = toResponse(record);
    const bytes = jsonBytes(value);
    return { value, documentId: record.documentId, bytes, access: accessOf(record, index) };
  });
}

/**
 * Returns the records that are in `included`, up to `share` bytes in all, but at least one record. `end` is the sort key at which
 * the page ends, or null if no record of this kind follows.
 */
function cutPage<V>(
  { records, next }: KindPage<V>,
  included: ReadonlySet<unknown>,
  share: number,
): { values: V[]; end: string | null } {
  const values: V[] = [];
  let [bytes, end] = [0, ''];
  for (const record of records) {
    if (record.response && included.has(record)) {
      bytes += record.response.bytes;
      if (values.length > 0 && bytes > share) return { values, end };
      values.push(record.response.value);
    }
    end = record.key;
  }
  return { values, end: next ?? null };
}

export const readUserData = /* @__PURE__ */ storeCapability(UserDataReader, ['BatchGetItem', 'Query']);
