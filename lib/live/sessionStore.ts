import type { DocumentScope } from '../content/documentScope.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { ApiKeyEntity } from '../http/entities.ts';
import { ApiError } from '../shared/errors.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { Stored } from '../table/entity.ts';
import { pages, readAll } from '../table/pages.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { insert, insertOrReplace, itemOf, replace, type Table, upsert } from '../table/table.ts';
import {
  DocumentSessionEntity,
  type LiveChannel,
  LiveChannelEntity,
  type LiveSession,
  openSessions,
  type StoredChannel,
  type UserSession,
  UserSessionEntity,
  userSessionPartition,
  UserSessions,
} from './entities.ts';
import { TOKEN_SECONDS } from './liveKeys.ts';
import { LOG_SECONDS } from './rules/changes.ts';
import type { DocumentKeys } from './rules/hints.ts';
import type { SessionAccess } from './rules/sessionAccess.ts';

/** Changes are recorded for at most this time after the last connect. */
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
const PARALLEL = 8;

export class SessionStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * If changes were not recorded for a time, the version grows by one without a hint: clients with an older version
   * then read the document again.
   *
   * The endpoint must have read the rights of the user after `now`. Throws ABORTED if they may be outdated.
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
        // versions, so clients of the deleted one see a gap and read the document again.
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

  /** AppSync keeps a connection for up to a day, so a client can still be connected after `activeUntil`. */
  async channelsOfOrganization(scope: OrganizationScope, now: number): Promise<LiveChannel[]> {
    const channels = await readAll((after) => this.#table.query(LiveChannelEntity, scope, { limit: PAGE, after }));
    return channels.filter(({ activeUntil }) => activeUntil + CONNECTION_SECONDS * 1000 > now);
  }

  async channel(document: DocumentKeys): Promise<StoredChannel | undefined> {
    return this.#table.get(LiveChannelEntity, document);
  }

  /** Returns undefined unless the session is valid and changes of the document are recorded (`activeUntil`). */
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

  /**
   * Gives the document new channels and ends the sessions, in one transaction. `by` is the id of the stream record that
   * caused the loss of access. Returns `conflict` if a session or the channels have changed.
   */
  async renewChannels(
    document: DocumentKeys,
    channel: StoredChannel,
    lost: readonly Stored<LiveSession>[],
    by: string,
    now: number,
  ): Promise<'done' | 'conflict'> {
    const { epoch, migratedTo } = channel;
    const revoking = [...(channel.revoking ?? []), { epoch, by, ...(migratedTo !== undefined && { migratedTo }) }];
    const next = { ...channel, epoch: epoch + 1, revoking, migratedTo: undefined };
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
