import type { Capability } from '../app/capability.ts';
import { HiddenCommentDeletionEntity } from '../comments/threadAccessChanges.ts';
import { AccessChecks, type AccessOfUser, findUsersWhoCanSee, readAccessOfUsers } from '../content/accessChecks.ts';
import type { DocumentContext, DocumentScope } from '../content/documentScope.ts';
import type { ThreadPosition } from '../content/rules/hints.ts';
import type { RecordAccess } from '../content/rules/threadAccess.ts';
import type { Viewer } from '../content/rules/viewer.ts';
import { DocumentEntity, DocumentReader, type DocumentWithFolder } from '../directory/documents.ts';
import { type Organization, OrganizationEntity } from '../directory/organizations.ts';
import { type OrganizationScope, organizationScope } from '../directory/organizationScope.ts';
import type { ThreadAccess } from '../directory/rules/visibility.ts';
import { findUsers, isExistingUser } from '../directory/users.ts';
import { type Blob, EditorPartEntity } from '../editors/entities.ts';
import { partsOf } from '../editors/storedBytes.ts';
import { ApiKeyEntity } from '../http/entities.ts';
import { accessForUser, notificationGuards, NotificationReader } from '../notifications/notificationReader.ts';
import { NotificationEntity } from '../notifications/notifications.ts';
import { notifiesUser } from '../notifications/rules.ts';
import { distinct, slicesOf } from '../shared/collections.ts';
import { ApiError } from '../shared/errors.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { Stored } from '../table/entity.ts';
import { pages, readAll } from '../table/pages.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insert, insertOrReplace, itemOf, replace, type Table, upsert } from '../table/table.ts';
import { findAnnouncedRecords, type NamedDocument } from './announcedRecords.ts';
import {
  DocumentSessionEntity,
  hintsAfter,
  type LiveChannel,
  LiveChannelEntity,
  LiveHintsEntity,
  type LiveSession,
  openSessions,
  type StoredChannel,
  UserHintEntity,
  type UserSession,
  UserSessionEntity,
  userSessionPartition,
  UserSessions,
} from './entities.ts';
import { TOKEN_SECONDS } from './liveKeys.ts';
import { type Changes, changesSince, LOG_SECONDS, MAX_CHANGES } from './rules/changes.ts';
import {
  type DocumentKeys,
  type EmptyHint,
  HIDDEN,
  type Hint,
  type HintCatalogue,
  type UserHint,
  type VersionedHint,
} from './rules/hints.ts';
import type { SessionAccess } from './rules/sessionAccess.ts';

/**
 * How long changes are recorded after the last connect: the lifetime of the client's token plus the time for which
 * hints are kept.
 */
const RECORDED_SECONDS = TOKEN_SECONDS + LOG_SECONDS;
const CONNECTION_SECONDS = 24 * 60 * 60;
/**
 * A client can connect until its token expires, and then stay connected for a day, after which AppSync ends the
 * connection.
 */
const SESSION_SECONDS = TOKEN_SECONDS + CONNECTION_SECONDS;
/**
 * Clocks differ: a session that seems to have ended this shortly before a request may have ended after its read of the
 * rights.
 */
const CLOCK_DIFFERENCE_MILLISECONDS = 1_000;
const PAGE = 500;
const NOTIFICATIONS_AT_ONCE = 50;
const PARALLEL = 8;

export interface RecordedChange {
  readonly position: StreamPosition;
  readonly hint: Hint;
}

/**
 * Where a change is in the table's stream. Within a partition of the table, later changes have higher sequence numbers.
 */
export interface StreamPosition {
  readonly stream: string;
  readonly sequence: string;
  readonly partition: string;
}

type LoggedHint = VersionedHint & { readonly position: string };

export interface RecordedHints {
  readonly channel: StoredChannel;
  readonly hints: readonly { readonly hint: VersionedHint; readonly position: StreamPosition }[];
}

/** Neither the document nor its organization is disabled, and no folder above it is deleted. */
export interface OpenDocument extends DocumentContext {
  readonly documentInFolder: DocumentWithFolder;
}

export class LiveStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async activeChannels(documents: readonly DocumentKeys[], now: number): Promise<(StoredChannel | undefined)[]> {
    const channels = await this.#table.getMany(LiveChannelEntity, documents);
    return channels.map((channel) => (channel && channel.activeUntil > now ? channel : undefined));
  }

  /**
   * If the channels were closed for a time, the version grows by one without a hint: clients with an older version then
   * read the document again.
   *
   * The endpoint must have read the rights of the user after `now`. Throws ABORTED for a user without stored access who
   * lost access after that time, and until the session of an erased user with the same id has ended. A user token with
   * a higher revocation count than the session is accepted, because it is newer than the loss.
   */
  async connect(
    scope: DocumentScope,
    ids: Pick<LiveChannel, 'organizationId' | 'documentId'>,
    { userId, ...access }: SessionAccess & Pick<LiveSession, 'userId' | 'userKey' | 'tokenRevocations'>,
    now: number,
  ): Promise<StoredChannel> {
    const { tenant, organizationKey, documentKey } = scope;
    const activeUntil = now + RECORDED_SECONDS * 1000;
    const session = { organizationKey, documentKey, userId, expiresAt: Math.ceil(now / 1000) + SESSION_SECONDS };
    const key = { tenant, organizationKey, documentKey, userId };
    await retryOnConflict(async () => {
      const stored = await this.#table.get(DocumentSessionEntity, key);
      const hasEnded = stored?.endedAt !== undefined && stored.endedAt > now - CLOCK_DIFFERENCE_MILLISECONDS;
      const isNewToken = stored !== undefined && stored.tokenRevocations < access.tokenRevocations;
      if (hasEnded && !access.hasStoredAccess && !isNewToken) throw accessChanged();
      if (stored?.userKey !== undefined && stored.endedAt === undefined && stored.userKey !== access.userKey) {
        const marked = { ...stored, ...key, hasExpired: true };
        if ((await this.#table.tryWrite([replace(DocumentSessionEntity, marked, stored._r)])) === 'conflict')
          return 'conflict';
        throw accessChanged();
      }
      const value = { ...key, ...session, ...access };
      return this.#table.tryWrite([insertOrReplace(DocumentSessionEntity, value, stored)]);
    });
    await this.#table.write([upsert(UserSessionEntity, { tenant, ...session })]);
    return retryOnConflict(async (): Promise<StoredChannel | 'conflict'> => {
      const stored = await this.#table.get(LiveChannelEntity, scope);
      if (!stored) {
        // The first version is the time in microseconds. A document that is added again under the same id has larger
        // versions, so clients of the deleted one miss hints and read the document again.
        const created = { documentKey, ...ids, version: now * 1000, epoch: 1, activeUntil, marks: {} };
        return this.#table.tryWrite([insert(LiveChannelEntity, { ...scope, ...created })], { ...created, _r: 1 });
      }
      if (stored.activeUntil > activeUntil - TOKEN_SECONDS * 1000) return stored;
      const hasLapsed = stored.activeUntil <= now;
      const next = { ...stored, ...ids, activeUntil, version: stored.version + (hasLapsed ? 1 : 0) };
      return this.#table.tryWrite([replace(LiveChannelEntity, { ...scope, ...next }, stored._r)], {
        ...next,
        _r: stored._r + 1,
      });
    });
  }

  /**
   * Records each change once. A repeated run returns the versions of the earlier run. Returns undefined if no client
   * can be connected any more. `positions` has all processed changes, also those without a hint.
   */
  async record(
    document: DocumentKeys,
    changes: readonly RecordedChange[],
    positions: readonly StreamPosition[],
    now: number,
  ): Promise<RecordedHints | undefined> {
    return retryOnConflict(async (): Promise<RecordedHints | undefined | 'conflict'> => {
      const [channel] = await this.activeChannels([document], now);
      if (!channel) return undefined;
      const isRecorded = ({ position }: RecordedChange) => isUpTo(position, channel.marks[position.partition]);
      const [recorded, added] = [changes.filter(isRecorded), changes.filter((change) => !isRecorded(change))];
      const repeated = recorded.length > 0 ? await this.#repeat(document, channel, recorded) : [];
      if (added.length === 0) return { channel, hints: repeated };
      const hints = added.map(({ hint, position }, index) => ({
        hint: { ...hint, version: channel.version + 1 + index },
        position,
      }));
      const next = {
        ...channel,
        version: channel.version + hints.length,
        marks: { ...channel.marks, ...Object.fromEntries(positions.map((each) => [each.partition, markOf(each)])) },
      };
      const outcome = await this.#table.write([
        replace(LiveChannelEntity, { ...document, ...next }, channel._r),
        insert(LiveHintsEntity, {
          ...document,
          version: next.version,
          hints: JSON.stringify(hints.map(({ hint, position }) => ({ ...hint, position: markOf(position) }))),
          expiresAt: Math.ceil(now / 1000) + LOG_SECONDS,
        }),
      ]);
      if (outcome !== 'done') return 'conflict';
      return { channel: { ...next, _r: channel._r + 1 }, hints: [...repeated, ...hints] };
    });
  }

  async #repeat(document: DocumentKeys, channel: LiveChannel, changes: readonly RecordedChange[]) {
    const positions = new Map(changes.map(({ position }) => [markOf(position), position]));
    const logged = await this.#logged(document, Math.max(0, channel.version - PAGE));
    return logged.flatMap(({ position: mark, ...hint }) => {
      const position = positions.get(mark);
      return position ? [{ hint, position }] : [];
    });
  }

  async #logged(document: DocumentKeys, after: number): Promise<LoggedHint[]> {
    const logged: LoggedHint[] = [];
    const between = hintsAfter(after);
    for await (const { values } of pages((next) =>
      this.#table.query(LiveHintsEntity, document, { between, limit: PAGE, after: next }),
    )) {
      for (const { hints } of values)
        logged.push(...(JSON.parse(hints) as LoggedHint[]).filter(({ version }) => version > after));
      if (logged.length > MAX_CHANGES) break;
    }
    return logged;
  }

  /** Also returns the newest hints of the user's own channel. Those that the user may not read now are empty. */
  async changes(
    { organization, document: { documentId }, scope }: DocumentContext,
    user: Viewer & { readonly userKey: string },
    after: number,
    { now, announced }: { readonly now: number; readonly announced: HintCatalogue['announced'] },
  ): Promise<
    Omit<Changes, 'hints'> & {
      readonly hints: (VersionedHint | EmptyHint<VersionedHint>)[];
      readonly userHints: (UserHint | EmptyHint<UserHint>)[];
    }
  > {
    const [channel, logged, stored] = await Promise.all([
      this.#table.get(LiveChannelEntity, scope),
      this.#logged(scope, after),
      this.#userHints({ tenant: scope.tenant, ...user }),
    ]);
    const version = Math.max(channel?.version ?? 0, logged.at(-1)?.version ?? 0);
    const isWhole = logged.length <= MAX_CHANGES;
    const hints = logged.map(({ position: _position, ...hint }): VersionedHint => hint);
    const changes = changesSince(after, isWhole ? version : (hints.at(-1)?.version ?? version), hints);
    const { organizationId } = organization;
    const named = { scope, organizationId, documentId };
    const ofDocument = stored.filter((each) => each.documentKey === scope.documentKey).map(({ hint }) => hint);
    const [readable, notifications] = await Promise.all([
      this.#readableHints(named, user, [...changes.hints, ...ofDocument], { now, announced }),
      this.#readableNotifications(
        { tenant: scope.tenant, organization, viewer: user, now },
        stored.flatMap(({ organizationKey, hint }) =>
          organizationKey === scope.organizationKey && 'ids' in hint ? (hint.ids.notificationId ?? []) : [],
        ),
      ),
    ]);
    const isReadable = ({ hint }: { readonly hint: UserHint }) => {
      if (announced[hint.type] === 'notification') return 'ids' in hint && notifications.has(hint.ids.notificationId);
      return announced[hint.type] === 'user' || readable.has(hint);
    };
    return {
      ...changes,
      hints: changes.hints.map((hint) =>
        readable.has(hint) ? hint : { type: HIDDEN, at: hint.at, version: hint.version },
      ),
      userHints: stored.map((each) =>
        isReadable(each) ? each.hint : { type: HIDDEN, at: each.hint.at, id: each.hint.id },
      ),
    };
  }

  async #readableHints(
    document: NamedDocument,
    { userId, access }: Viewer,
    hints: readonly Hint[],
    { now, announced }: { readonly now: number; readonly announced: HintCatalogue['announced'] },
  ): Promise<ReadonlySet<Hint>> {
    const { scope, organizationId } = document;
    const records = await findAnnouncedRecords(this.#table, document, hints, announced);
    const organization = { organizationId, internalId: scope.organizationKey };
    const checks = new AccessChecks(this.#table, { scope, organization, now }, userId, access);
    const isVisible = await checks.canSee(records.map((thread) => ({ thread })));
    return new Set(hints.filter((_hint, index) => records[index] && isVisible[index]));
  }

  async #readableNotifications(
    {
      tenant,
      organization,
      viewer,
      now,
    }: { readonly tenant: string; readonly organization: Organization; readonly viewer: Viewer; readonly now: number },
    ids: readonly (string | number)[],
  ): Promise<ReadonlySet<unknown>> {
    const reader = new NotificationReader(this.#table);
    const readable = new Set<unknown>();
    for (const notificationIds of slicesOf(distinct(ids.map(String)), NOTIFICATIONS_AT_ONCE)) {
      const filter = { userId: viewer.userId, notificationIds };
      const read = (after: string | undefined) =>
        reader.list(tenant, organization, filter, { limit: notificationIds.length, after, now, viewer });
      for await (const { values } of pages(read)) for (const { id } of values) readable.add(id);
    }
    return readable;
  }

  async #userHints(user: { readonly tenant: string; readonly userId: string; readonly userKey: string }) {
    const { values } = await this.#table.query(UserHintEntity, user, { limit: MAX_CHANGES, descending: true });
    return values.reverse().map((stored) => ({ ...stored, hint: JSON.parse(stored.hint) as UserHint }));
  }

  async recordForUser(
    user: { readonly tenant: string; readonly userId: string; readonly userKey: string },
    about: Partial<Pick<DocumentKeys, 'organizationKey' | 'documentKey'>>,
    { hint, position }: { readonly hint: UserHint; readonly position: StreamPosition },
  ): Promise<void> {
    const { organizationKey, documentKey } = about;
    const stored = { at: hint.at, id: markOf(position), hint: JSON.stringify(hint), organizationKey, documentKey };
    await this.#table.write([upsert(UserHintEntity, { ...user, ...stored })]);
  }

  async userKeys(tenant: string, userIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const users = await findUsers(this.#table, tenant, userIds);
    return new Map(
      users.flatMap((user, index) =>
        isExistingUser(user) ? [[userIds[index] as string, user.internalId] as const] : [],
      ),
    );
  }

  async sessions(document: DocumentKeys): Promise<Stored<LiveSession>[]> {
    const sessions = await readAll<Stored<LiveSession>>((after) =>
      this.#table.query(DocumentSessionEntity, document, { limit: PAGE, after }),
    );
    return sessions.filter(({ endedAt }) => endedAt === undefined);
  }

  async connectedUsers(scope: OrganizationScope, userIds: readonly string[]): Promise<UserSession[]> {
    const { tenant, organizationKey } = scope;
    const pagesOfUsers = await Promise.all(
      userIds.map((userId) =>
        this.#table.query(UserSessionEntity, { tenant, userId }, { prefix: [organizationKey], limit: 1 }),
      ),
    );
    return pagesOfUsers.flatMap(({ values }) => values);
  }

  /**
   * Returns the sessions in all organizations if `organizationKey` is undefined. `tenantPart` and `userPart` are the
   * ids as keys contain them.
   */
  async sessionsOfUser(tenantPart: string, userPart: string, organizationKey?: string): Promise<UserSession[]> {
    const partition = userSessionPartition(tenantPart, userPart);
    const options = { limit: PAGE, ...(organizationKey !== undefined && { prefix: [organizationKey] }) };
    return readAll((after) => this.#table.query(UserSessions, partition, { ...options, after }));
  }

  async channelsOfOrganization(scope: OrganizationScope, now: number): Promise<LiveChannel[]> {
    const channels = await readAll((after) => this.#table.query(LiveChannelEntity, scope, { limit: PAGE, after }));
    return channels.filter(({ activeUntil }) => activeUntil + CONNECTION_SECONDS * 1000 > now);
  }

  async channel(document: DocumentKeys): Promise<StoredChannel | undefined> {
    return this.#table.get(LiveChannelEntity, document);
  }

  /**
   * Returns undefined if no client can be connected to the document, if the user has no session or lost access, or if
   * the user token of the session is revoked.
   */
  async session(
    document: DocumentKeys,
    userPart: string,
    now: number,
  ): Promise<{ channel: StoredChannel; session: LiveSession } | undefined> {
    const key = { PK: DocumentSessionEntity.partition(document), SK: userPart };
    const [channel, session, apiKey] = await this.#table.batchGet(
      itemOf(LiveChannelEntity, document),
      { key, fromItem: DocumentSessionEntity.fromItem },
      itemOf(ApiKeyEntity, { apiKey: document.tenant }),
    );
    if (!channel || !session || !apiKey) return undefined;
    const isRevoked = session.tokenRevocations < (apiKey.userTokenRevocations ?? 0);
    return session.endedAt === undefined && !isRevoked && channel.activeUntil > now ? { channel, session } : undefined;
  }

  async tokenRevocations(tenant: string): Promise<number> {
    const apiKey = await this.#table.get(ApiKeyEntity, { apiKey: tenant });
    return apiKey?.userTokenRevocations ?? 0;
  }

  /**
   * Marks sessions whose user tokens are older than the revocation. The publisher reads the marks from the stream and
   * ends the sessions. A marked session leaves the index, so a repeated call continues where a failed one stopped.
   */
  async markRevokedSessions(tenant: string, revocations: number): Promise<void> {
    const partition = openSessions(tenant);
    for await (const { keys } of pages((after) => this.#table.queryIndex('gsi1', partition, { limit: PAGE, after }))) {
      const sessions = await this.#table.getByKeys(DocumentSessionEntity, keys);
      await inParallel(sessions, PARALLEL, async (session) => {
        if (session) await this.#markRevoked({ ...session, tenant }, revocations);
      });
    }
  }

  async #markRevoked(key: DocumentKeys & { readonly userId: string }, revocations: number): Promise<void> {
    await retryOnConflict(async () => {
      const session = await this.#table.get(DocumentSessionEntity, key);
      if (!session || session.endedAt !== undefined || session.tokenRevocations >= revocations) return 'done';
      const marked = { ...session, tenant: key.tenant, hasExpired: true };
      return this.#table.tryWrite([replace(DocumentSessionEntity, marked, session._r)]);
    });
  }

  /** A document or organization counts as deleted even if another one was added under the same id. */
  async loadDocument(
    document: DocumentKeys,
    channel: Pick<LiveChannel, 'organizationId' | 'documentId'>,
  ): Promise<DocumentContext | undefined> {
    const { tenant, organizationKey, documentKey } = document;
    const [organization, stored] = await this.#table.batchGet(
      itemOf(OrganizationEntity, { tenant, organizationId: channel.organizationId }),
      itemOf(DocumentEntity, { tenant, organizationKey, documentId: channel.documentId }),
    );
    if (organization?.internalId !== organizationKey || stored?.internalId !== documentKey) return undefined;
    return {
      organization,
      document: stored,
      scope: { ...organizationScope(tenant, organization), documentKey },
    };
  }

  async openDocument(context: DocumentContext | undefined): Promise<OpenDocument | undefined> {
    if (!context || context.organization.disabled || context.document.disabled) return undefined;
    const { scope, document } = context;
    const [documentInFolder] = await new DocumentReader(this.#table).attachFolders(scope, [{ ...document, _r: 0 }]);
    return documentInFolder && { ...context, documentInFolder };
  }

  async accessOfUsers(
    { scope, organization, documentInFolder }: OpenDocument,
    userIds: readonly string[],
    now: number,
  ): Promise<ReadonlyMap<string, AccessOfUser>> {
    return readAccessOfUsers(this.#table, { scope, organization, now }, documentInFolder, userIds);
  }

  async usersWhoCanSee(
    { scope, organization, documentInFolder }: OpenDocument,
    record: RecordAccess,
    sessions: readonly LiveSession[],
    now: number,
  ): Promise<ReadonlySet<string>> {
    const byStoredAccess = Map.groupBy(sessions, ({ hasStoredAccess }) => hasStoredAccess);
    const allowed = await Promise.all(
      [...byStoredAccess].map(([isStored, group]) =>
        findUsersWhoCanSee(
          this.#table,
          { scope, organization, now },
          { ...record, knownUsersOnly: true, document: isStored ? documentInFolder : undefined },
          group.map(({ userId }) => userId),
        ),
      ),
    );
    return new Set(allowed.flatMap((userIds) => [...userIds]));
  }

  /**
   * `connected` are users whom the notification may name. With `isForOthers`, the notification is also for the users of
   * `sessions`.
   */
  async usersWhoCanReadNotification(
    document: OpenDocument,
    key: { readonly id: string; readonly createdAt: number },
    {
      connected,
      sessions,
      isForOthers,
    }: {
      readonly connected: readonly string[];
      readonly sessions: readonly LiveSession[];
      readonly isForOthers: boolean;
    },
    now: number,
  ): Promise<ReadonlySet<string>> {
    const { scope, organization, documentInFolder } = document;
    const notification = await this.#table.get(NotificationEntity, { ...scope, ...key });
    if (!notification) return new Set();
    const located = { documentKey: scope.documentKey, notification };
    const [guard = {}] = await notificationGuards(this.#table, scope, organization.organizationId, [located]);
    const named = connected.filter((userId) => notifiesUser(notification, userId));
    const byToken = new Set(sessions.flatMap(({ userId, hasStoredAccess }) => (hasStoredAccess ? [] : [userId])));
    const record = accessForUser(guard, documentInFolder, true);
    const [byGrants, byTokens, others] = await Promise.all([
      findUsersWhoCanSee(
        this.#table,
        { scope, organization, now },
        record,
        named.filter((userId) => !byToken.has(userId)),
      ),
      findUsersWhoCanSee(
        this.#table,
        { scope, organization, now },
        { ...record, document: undefined },
        named.filter((userId) => byToken.has(userId)),
      ),
      isForOthers && notification.notifyAll ? this.usersWhoCanSee(document, guard, sessions, now) : [],
    ]);
    return new Set([...byGrants, ...byTokens, ...others]);
  }

  async announcedRecords(
    document: NamedDocument,
    hints: readonly Hint[],
    announced: HintCatalogue['announced'],
  ): Promise<(ThreadAccess | undefined)[]> {
    return findAnnouncedRecords(this.#table, document, hints, announced);
  }

  async hiddenDeletions(
    document: DocumentKeys,
    comments: readonly { readonly thread: ThreadPosition; readonly commentId: number }[],
  ): Promise<(ThreadAccess | undefined)[]> {
    const keys = comments.map(({ thread: { annotationId, createdAt: threadCreatedAt }, commentId }) => ({
      ...document,
      annotationId,
      threadCreatedAt,
      commentId,
    }));
    const deletions = await this.#table.getMany(HiddenCommentDeletionEntity, keys);
    return deletions.map((deletion) => deletion && (JSON.parse(deletion.access) as ThreadAccess));
  }

  async readParts(document: DocumentKeys, editorId: string, blob: Blob): Promise<Buffer | undefined> {
    const parts = await this.#table.getMany(
      EditorPartEntity,
      partsOf(blob).map((part) => ({ ...document, editorId, ...part })),
    );
    const bytes = parts.flatMap((part) => (part ? [part.bytes] : []));
    return bytes.length === parts.length ? Buffer.concat(bytes) : undefined;
  }

  /**
   * Gives the document new channels and ends the sessions, in one transaction. Afterwards, only `system.revoked` is
   * published to the old channels. `by` is the id of the stream record that caused the loss of access. Returns
   * `conflict` if a session or the channels have changed.
   */
  async renewChannels(
    document: DocumentKeys,
    channel: StoredChannel,
    lost: readonly Stored<LiveSession>[],
    by: string,
    now: number,
  ): Promise<'done' | 'conflict'> {
    const revoking = [...(channel.revoking ?? []), { epoch: channel.epoch, by }];
    const next = { ...channel, epoch: channel.epoch + 1, revoking };
    return this.#table.tryWrite([
      replace(LiveChannelEntity, { ...document, ...next }, channel._r),
      ...lost.map((session) =>
        replace(DocumentSessionEntity, { ...document, ...session, accessEndsAt: undefined, endedAt: now }, session._r),
      ),
    ]);
  }

  async updateSessions(document: DocumentKeys, sessions: readonly Stored<LiveSession>[]): Promise<'done' | 'conflict'> {
    const ops = sessions.map((session) => replace(DocumentSessionEntity, { ...document, ...session }, session._r));
    return this.#table.tryWrite(ops);
  }

  async endRevocations(document: DocumentKeys, by: ReadonlySet<string>): Promise<void> {
    await retryOnConflict(async () => {
      const channel = await this.#table.get(LiveChannelEntity, document);
      const revoking = channel?.revoking?.filter((each) => !by.has(each.by));
      if (!channel || revoking?.length === channel.revoking?.length) return 'done';
      return this.#table.tryWrite([replace(LiveChannelEntity, { ...document, ...channel, revoking }, channel._r)]);
    });
  }
}

function accessChanged(): ApiError {
  return new ApiError('ABORTED', 'The access of the user has just changed. Try again');
}

function markOf({ stream, sequence }: StreamPosition): string {
  return `${stream} ${sequence}`;
}

/** A restored table has a new stream, whose positions cannot be compared with old ones: returns false then. */
function isUpTo({ stream, sequence }: StreamPosition, mark: string | undefined): boolean {
  const [markedStream, markedSequence = '0'] = mark?.split(' ') ?? [];
  return markedStream === stream && BigInt(sequence) <= BigInt(markedSequence);
}

export const connectLive: Capability<LiveStore> = /* @__PURE__ */ storeCapability(LiveStore, [
  'GetItem',
  'BatchGetItem',
  'Query',
  'PutItem',
]);

export const readChanges: Capability<Pick<LiveStore, 'changes'>> = /* @__PURE__ */ storeCapability(LiveStore, [
  'GetItem',
  'BatchGetItem',
  'Query',
]);

export const authorizeSessions: Capability<
  Pick<LiveStore, 'session' | 'loadDocument' | 'openDocument' | 'accessOfUsers'>
> = /* @__PURE__ */ storeCapability(LiveStore, ['GetItem', 'BatchGetItem', 'Query']);

export const recordHints: Capability<LiveStore> = /* @__PURE__ */ storeCapability(
  LiveStore,
  ['GetItem', 'BatchGetItem', 'Query', 'PutItem'],
  ['gsi1'],
);
