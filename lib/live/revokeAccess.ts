import { inParallel } from '../shared/inParallel.ts';
import { decodePart } from '../shared/keyParts.ts';
import type { Stored } from '../table/entity.ts';
import type { PublishCall } from './channelPublisher.ts';
import type { LiveSession, StoredChannel } from './entities.ts';
import type { LivePorts } from './livePorts.ts';
import type { AccessChange } from './rules/access.ts';
import { type DocumentKeys, MIGRATED, REVOKED } from './rules/hints.ts';
import { hasLostTokenAccess, storedAccess } from './rules/sessionAccess.ts';

const MAX_SESSIONS_IN_TRANSACTION = 50;
const PARALLEL = 8;

export interface RecordedAccessChange {
  readonly id: string;
  readonly access: AccessChange;
}

/** If `userIds` is defined, only the sessions of these users are checked. */
interface Candidate {
  readonly document: DocumentKeys;
  readonly userIds: readonly string[] | undefined;
  /**
   * Whether the change can end access by a user token although the token's grants still apply to the document. Such
   * sessions are then checked too.
   */
  readonly endsTokens: boolean;
  readonly by: string;
}

/**
 * Gives new channels to documents whose users lost access, then publishes the last event on the old ones. Only the run
 * whose change ended the old channels, or its repetition, publishes the event.
 */
export async function revokeAccess(
  ports: LivePorts,
  changes: readonly RecordedAccessChange[],
  call: PublishCall,
): Promise<void> {
  const now = call.clock();
  const candidates = (await Promise.all(changes.map((change) => candidatesOf(ports, change, now)))).flat();
  const byDocument = Map.groupBy(candidates, ({ document }) => document.documentKey);
  const ended: EndedChannels[] = [];
  await inParallel([...byDocument.values()], PARALLEL, async (candidatesOfDocument) => {
    const channels = await endSessions(ports, candidatesOfDocument, call);
    if (channels) ended.push(channels);
  });
  if (ended.length > 0) {
    await ports.publisher.waitForRunning();
    await inParallel(ended, PARALLEL, async (channels) => publishRevocations(ports, channels, call));
  }
  const tokenRevocations = changes.map(({ access }) => access).filter((access) => access.kind === 'tokens');
  if (tokenRevocations.length > 0) await markRevokedSessions(ports, tokenRevocations);
}

async function markRevokedSessions(
  { sessionStore, publisher }: LivePorts,
  changes: readonly (AccessChange & { readonly kind: 'tokens' })[],
): Promise<void> {
  const mark = () =>
    inParallel(changes, PARALLEL, async ({ tenantPart, revocations }) =>
      sessionStore.markRevokedSessions(decodePart(tenantPart) ?? '', revocations),
    );
  await mark();
  // A session that was written just before the revocation can be missing from the index at the first query.
  await publisher.waitForIndex();
  await mark();
}

async function candidatesOf(
  { sessionStore }: LivePorts,
  { id: by, access }: RecordedAccessChange,
  now: number,
): Promise<Candidate[]> {
  if (access.kind === 'document') return [{ document: access, userIds: undefined, endsTokens: false, by }];
  if (access.kind === 'session') return [{ document: access, userIds: [access.userId], endsTokens: true, by }];
  if (access.kind === 'tokens') return [];
  const tenant = decodePart(access.tenantPart) ?? '';
  if (access.kind === 'user') {
    const { endsTokensOf } = access;
    const sessions = await sessionStore.sessionsOfUser(access.tenantPart, access.userPart, access.organizationKey);
    return sessions.map(({ userId, organizationKey, documentKey }) => ({
      document: { tenant, organizationKey, documentKey },
      userIds: [userId],
      endsTokens: endsTokensOf === 'all' || endsTokensOf.includes(documentKey),
      by,
    }));
  }
  const { organizationKey } = access;
  const channels = await sessionStore.channelsOfOrganization({ tenant, organizationKey }, now);
  return channels.map(({ documentKey }) => ({
    document: { tenant, organizationKey, documentKey },
    userIds: undefined,
    endsTokens: false,
    by,
  }));
}

/** Epochs whose channels lack their last event. `by` has the ids of the stream records that ended them. */
interface EndedChannels {
  readonly document: DocumentKeys;
  readonly epochs: readonly { readonly epoch: number; readonly migratedTo?: string | undefined }[];
  readonly by: ReadonlySet<string>;
}

async function endSessions(
  ports: LivePorts,
  candidates: readonly Candidate[],
  call: PublishCall,
): Promise<EndedChannels | undefined> {
  const { sessionStore } = ports;
  const [first] = candidates;
  if (!first) return undefined;
  const { document, by } = first;
  const records = new Set(candidates.map((each) => each.by));
  for (;;) {
    const now = call.clock();
    const channel = await sessionStore.channel(document);
    if (!channel) return undefined;
    const { lost, changed } = await checkSessions(ports, document, candidates, channel, now);
    if (lost.length === 0 && changed.length === 0 && channel.migratedTo === undefined) {
      const epochs = (channel.revoking ?? []).filter((each) => records.has(each.by));
      return epochs.length > 0 ? { document, epochs, by: records } : undefined;
    }
    // The next pass reads again, after a conflict or for the sessions that did not fit into the transaction.
    if (lost.length > 0 || channel.migratedTo !== undefined)
      await sessionStore.renewChannels(document, channel, lost.slice(0, MAX_SESSIONS_IN_TRANSACTION), by, now);
    else await sessionStore.updateSessions(document, changed.slice(0, MAX_SESSIONS_IN_TRANSACTION));
  }
}

interface CheckedSessions {
  /** Sessions that end: the user lost access or was erased, or the user tokens were revoked. */
  readonly lost: readonly Stored<LiveSession>[];
  readonly changed: readonly Stored<LiveSession>[];
}

async function checkSessions(
  { sessionStore, audienceReader }: LivePorts,
  document: DocumentKeys,
  candidates: readonly Candidate[],
  channel: StoredChannel,
  now: number,
): Promise<CheckedSessions> {
  const sessions = await sessionStore.sessions(document);
  if (sessions.length === 0) return { lost: [], changed: [] };
  const openDocument = await audienceReader.openDocument(await audienceReader.loadDocument(document, channel));
  if (!openDocument) return { lost: sessions, changed: [] };
  const isAffected = (session: LiveSession, endsTokens: boolean) =>
    session.hasStoredAccess ||
    endsTokens ||
    hasLostTokenAccess(session, document.organizationKey, openDocument.documentInFolder);
  const checked = sessions.filter((session) =>
    candidates.some(
      ({ userIds, endsTokens }) => (userIds?.includes(session.userId) ?? true) && isAffected(session, endsTokens),
    ),
  );
  const userIds = checked.map(({ userId }) => userId);
  const [accesses, revocations] = await Promise.all([
    audienceReader.accessOfUsers(openDocument, userIds, now),
    sessionStore.tokenRevocations(document.tenant),
  ]);
  // A new user does not inherit the session of an erased user with the same user id.
  const isErased = ({ userId, userKey }: LiveSession) =>
    userKey !== undefined && userKey !== accesses.get(userId)?.userKey;
  const hasLost = (session: LiveSession) =>
    !accesses.has(session.userId) || isErased(session) || session.tokenRevocations < revocations;
  return {
    lost: checked.filter(hasLost),
    changed: checked.flatMap((session) => {
      const stored = accesses.get(session.userId);
      if (!stored || hasLost(session)) return [];
      const access = storedAccess(stored.endsAt);
      const isSame =
        session.hasStoredAccess && session.accessEndsAt === access.accessEndsAt && session.hasExpired === undefined;
      return isSame ? [] : [{ ...session, ...access, tokenResources: undefined, hasExpired: undefined }];
    }),
  };
}

async function publishRevocations(
  { sessionStore, keys, publisher }: LivePorts,
  { document, epochs, by }: EndedChannels,
  call: PublishCall,
): Promise<void> {
  const names = await keys.names();
  for (const { epoch, migratedTo } of epochs) {
    const event = migratedTo === undefined ? { type: REVOKED } : { type: MIGRATED, newDocumentId: migratedTo };
    const channels = names.ofDocument({ ...document, epoch });
    for (const channel of [channels.document, channels.awareness]) await publisher.publishOrThrow(channel, event, call);
  }
  await sessionStore.endRevocations(document, by);
}
