import { folderChain, hasEnded } from '../directory/rules/access.ts';
import { accessFieldsOf, type CommentResponse, toCommentResponse } from '../comments/rules/comments.ts';
import { divideFairly } from './rules/fairShares.ts';
import { type NotificationResponse, toNotificationResponse } from '../notifications/rules.ts';
import { type ReactionResponse, toReactionResponse } from '../reactions/rules.ts';
import { type RecordingResponse, toRecordingResponse } from '../recordings/rules.ts';
import type { RecordAccess } from './rules/threadAccess.ts';
import { threadAccessOf } from '../comments/rules/threads.ts';
import { DocumentReader, type PlacedDocument } from '../directory/documents.ts';
import { departuresOf } from '../directory/folders/folderDepartures.ts';
import { type OrganizationScope, organizationScope } from '../directory/folders/folders.ts';
import type { Organization } from '../directory/organizations.ts';
import type { Table } from '../table/table.ts';
import { UserEntity } from '../directory/users.ts';
import { type InvolvedKind, involvedKinds, type Involvement, InvolvementEntity } from './involvements.ts';
import { notificationGuards } from '../notifications/notificationLists.ts';
import { readNotifications } from '../notifications/notifications.ts';
import { readReactions } from '../reactions/reactions.ts';
import { readRecordings } from '../recordings/recordings.ts';
import { ThreadReader } from '../comments/threads.ts';
import { AccessChecks } from './accessChecks.ts';
import { findLiveDocuments } from './recordListing.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** A comment as a user's data show it: with where it is. */
export type UserComment = CommentResponse & { readonly annotationId: string; readonly documentId: string };

/** Where the listing of each kind stopped: a sort key, or null when it came to its end; absent before its beginning. */
export type UserDataCursor = { readonly [K in InvolvedKind]?: string | null };

export interface UserDataPage {
  readonly comments: UserComment[];
  readonly reactions: ReactionResponse[];
  readonly recordings: RecordingResponse[];
  readonly notifications: NotificationResponse[];
  /** Undefined when all kinds came to their end. */
  readonly next: UserDataCursor | undefined;
}

/** How many things of each kind one page has at most (spec 4.19). */
const PER_KIND = 100;
/** A page ends early at this size of what it shows as JSON, so that an answer stays below the limit of 5 MB. */
const PAGE_BYTES = 4_000_000;

/** Something that an edge leads to, as it is shown: once it is known that its document is still there. */
interface Found<V> {
  readonly key: string;
  /** The internal id of its document. */
  readonly documentKey: string;
  /** When it was made, epoch ms. */
  readonly at: number;
  /** Undefined where there is nothing to show. */
  readonly shown: Shown<V> | undefined;
}

interface Shown<V> {
  readonly value: V;
  readonly documentId: string;
  readonly bytes: number;
  /** What limits its readers, its document aside; undefined for what the user made. `ofDocument` says whether access to the document is required. */
  readonly guard?: (RecordAccess & { readonly ofDocument: boolean }) | undefined;
}

interface FoundPage<V> {
  readonly found: readonly Found<V>[];
  /** Where the next page begins; undefined at the end. */
  readonly next: string | undefined;
}

/** Reads and shows what edges lead to, in their order. */
type Show<V> = (edges: readonly Involvement[]) => Promise<readonly Found<V>['shown'][]>;

/** Whose data are read, and where. */
interface Reading {
  readonly scope: OrganizationScope;
  readonly userId: string;
  /** As customers know it. */
  readonly names: { readonly apiKey: string; readonly organizationId: string };
  /** Epoch ms. */
  readonly now: number;
}

/** Reads what users wrote, made, and are involved in. */
export class UserDataReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * A page of a user's data in an organization (spec 4.19), each kind by time: up to 100 of each, fewer where they are large. What exists
   * through the whole listing is given exactly once, whatever is written meanwhile. Left out is what lies in a thread or document that is
   * gone, what the user may not see and did not make, and what is from before the user was removed from it.
   */
  async page(
    tenant: string,
    organization: Organization,
    userId: string,
    cursor: UserDataCursor,
    now: number,
  ): Promise<UserDataPage> {
    const reading: Reading = {
      scope: organizationScope(tenant, organization),
      userId,
      names: { apiKey: tenant, organizationId: organization.organizationId },
      now,
    };
    const [[user], comment, reaction, recording, notification] = await Promise.all([
      this.#table.getMany(UserEntity, [{ tenant, userId }]),
      this.#read(reading, 'comment', cursor, (edges) => this.#comments(reading, edges)),
      this.#read(reading, 'reaction', cursor, async (edges) =>
        shownOf(await readReactions(this.#table, reading.scope, edges), (one) =>
          toReactionResponse(reading.names, one),
        ),
      ),
      this.#read(reading, 'recording', cursor, async (edges) =>
        shownOf(await readRecordings(this.#table, reading.scope, edges), (one) =>
          toRecordingResponse(reading.names, one),
        ),
      ),
      this.#read(reading, 'notification', cursor, (edges) => this.#notifications(reading, edges)),
    ]);
    const all: Readonly<Record<InvolvedKind, FoundPage<unknown>>> = { comment, reaction, recording, notification };
    const documentIds = involvedKinds.flatMap((kind) =>
      all[kind].found.flatMap(({ shown }) => shown?.documentId ?? []),
    );
    const documents = await findLiveDocuments(new DocumentReader(this.#table), reading.scope, documentIds);
    const [[departures], hidden] = await Promise.all([
      departuresOf(this.#table, reading.scope, [user]),
      this.#hidden(
        reading,
        organization,
        involvedKinds.flatMap((kind) => all[kind].found),
        documents,
      ),
    ]);
    const isThere: IsThere = (one, documentId) => {
      const { documentKey, at } = one;
      if (hidden.has(one)) return false;
      const found = documents.get(documentId);
      if (found?.internalId !== documentKey) return false;
      return !hasEnded(
        departures,
        [documentKey, ...(found.folder ? folderChain(found.folder) : []), reading.scope.organizationKey],
        at,
      );
    };

    const needs = involvedKinds.map((kind) =>
      all[kind].found.reduce(
        (sum, one) => sum + (one.shown && isThere(one, one.shown.documentId) ? one.shown.bytes : 0),
        0,
      ),
    );
    const shares = divideFairly(needs, PAGE_BYTES);
    const share = (kind: InvolvedKind) => shares[involvedKinds.indexOf(kind)] ?? 0;
    const [comments, reactions] = [cut(comment, isThere, share('comment')), cut(reaction, isThere, share('reaction'))];
    const [recordings, notifications] = [
      cut(recording, isThere, share('recording')),
      cut(notification, isThere, share('notification')),
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

  /** What the next edges of a kind lead to, in their order. */
  async #read<V>(
    { scope, userId }: Reading,
    kind: InvolvedKind,
    cursor: UserDataCursor,
    show: Show<V>,
  ): Promise<FoundPage<V>> {
    const after = cursor[kind];
    if (after === null) return { found: [], next: undefined };
    const page = await this.#table.query(
      InvolvementEntity,
      { ...scope, userId },
      { prefix: ['DATA', kind], limit: PER_KIND, after },
    );
    const edges = page.values.map((edge) => ({ ...edge, userId, kind }));
    const shown = await show(edges);
    return {
      found: edges.map((edge, index) => ({
        key: InvolvementEntity.key({ ...scope, ...edge }).SK,
        documentKey: edge.documentKey,
        at: edge.at,
        shown: shown[index],
      })),
      next: page.next,
    };
  }

  /** Returns what the user did not make and may not see now, by the rule `maySee`. */
  async #hidden(
    { scope, userId, now }: Reading,
    organization: Organization,
    found: readonly Found<unknown>[],
    documents: ReadonlyMap<string, PlacedDocument>,
  ): Promise<ReadonlySet<unknown>> {
    const limited = found.filter(({ shown }) => shown?.guard !== undefined);
    const allowed = await new AccessChecks(this.#table, { scope, organization, now }, userId).canSee(
      limited.map(({ shown }) => {
        const { ofDocument, ...guard } = shown!.guard!;
        return { ...guard, ...(ofDocument && { document: documents.get(shown!.documentId) }) };
      }),
    );
    return new Set(limited.filter((_one, index) => !allowed[index]));
  }

  async #comments({ scope, names }: Reading, edges: readonly Involvement[]) {
    const found = await new ThreadReader(this.#table).findInvolvedComments(scope, edges);
    const placed = found.map((one) => one && { ...one, documentId: one.thread.documentId });
    return shownOf(
      placed,
      ({ thread: { annotationId }, comment, documentId }): UserComment => ({
        annotationId,
        documentId,
        ...toCommentResponse({ apiKey: names.apiKey, organization: names, document: { documentId } }, comment),
      }),
      ({ thread, comment }, index) =>
        edges[index]?.made
          ? undefined
          : {
              thread: threadAccessOf(thread, names.organizationId),
              accessFields: accessFieldsOf(comment.context),
              ofDocument: true,
            },
    );
  }

  async #notifications({ scope, names }: Reading, edges: readonly Involvement[]) {
    const found = await readNotifications(this.#table, scope, edges);
    const placed = found.flatMap((notification, index) =>
      notification ? [{ notification, documentKey: (edges[index] as Involvement).documentKey }] : [],
    );
    const guards = (await notificationGuards(this.#table, scope, names.organizationId, placed)).values();
    return shownOf(
      found,
      (one) => toNotificationResponse(names, one),
      (_one, index) => {
        const guard = guards.next().value as RecordAccess;
        return edges[index]?.made ? undefined : { ...guard, ofDocument: guard.thread !== undefined };
      },
    );
  }
}

/** Whether what an edge leads to is there for its user: its document is, and the user did not leave since. `documentId` is the customer's. */
type IsThere = (found: Found<unknown>, documentId: string) => boolean;

/** Records as they are shown, undefined where there is none to show. `guardOf` is called once per record, in their order. */
function shownOf<R extends { readonly documentId: string }, V>(
  records: readonly (R | undefined)[],
  show: (record: R) => V,
  guardOf: (record: R, index: number) => Shown<V>['guard'] = () => undefined,
): Found<V>['shown'][] {
  return records.map((record, index) => {
    if (!record) return undefined;
    const value = show(record);
    return {
      value,
      documentId: record.documentId,
      bytes: Buffer.byteLength(JSON.stringify(value)),
      guard: guardOf(record, index),
    };
  });
}

/** As many of one kind as its share of the page holds, but at least one; and where they end, null at the end of all. */
function cut<V>({ found, next }: FoundPage<V>, isThere: IsThere, share: number): { values: V[]; end: string | null } {
  const values: V[] = [];
  let [bytes, end] = [0, ''];
  for (const one of found) {
    const { key, shown } = one;
    if (shown && isThere(one, shown.documentId)) {
      bytes += shown.bytes;
      if (values.length > 0 && bytes > share) return { values, end };
      values.push(shown.value);
    }
    end = key;
  }
  return { values, end: next ?? null };
}

export const readUserData = /* @__PURE__ */ storeCapability(UserDataReader, ['BatchGetItem', 'Query']);
