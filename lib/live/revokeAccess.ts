import type { Stored } from '../table/entity.ts';
import type { PublishCall } from './channelPublisher.ts';
import type { LiveSession, StoredChannel } from './entities.ts';
import type { LivePorts } from './livePorts.ts';
import type { AccessChange } from './rules/access.ts';
import { decodePart, type DocumentKeys, REVOKED } from './rules/hints.ts';

/** The largest number of sessions that one transaction ends. */
const MAX_SESSIONS_IN_TRANSACTION = 50;

/** A change that can take access away, with the id of its stream record. */
export interface RecordedAccessChange {
  readonly id: string;
  readonly access: AccessChange;
}

/** A document whose sessions are checked. `userIds` limits the check to some of its users. */
interface Candidate {
  readonly document: DocumentKeys;
  readonly userIds: readonly string[] | undefined;
  /** The id of the stream record. */
  readonly by: string;
}

/**
 * Gives new channels to documents if users with a session lost access, and publishes `system.revoked` on the old channels. No
 * event follows on the old channels. Only the run that ended the old channels publishes `system.revoked`. If this run fails,
 * its repetition publishes it.
 */
export async function revokeAccess(
  ports: LivePorts,
  changes: readonly RecordedAccessChange[],
  call: PublishCall,
): Promise<void> {
  const now = call.clock();
  const candidates = (await Promise.all(changes.map((change) => candidatesOf(ports, change, now)))).flat();
  const byDocument = Map.groupBy(candidates, ({ document }) => document.documentKey);
  for (const some of byDocument.values()) await revokeDocument(ports, some, call);
}

async function candidatesOf(
  { store }: LivePorts,
  { id: by, access }: RecordedAccessChange,
  now: number,
): Promise<Candidate[]> {
  if (access.kind === 'document') return [{ document: access, userIds: undefined, by }];
  const tenant = decodePart(access.tenantPart) ?? '';
  if (access.kind === 'user') {
    const sessions = await store.sessionsOfUser(access.tenantPart, access.userPart, access.organizationKey);
    return sessions.map(({ userId, organizationKey, documentKey }) => ({
      document: { tenant, organizationKey, documentKey },
      userIds: [userId],
      by,
    }));
  }
  const { organizationKey } = access;
  const channels = await store.channelsOfOrganization({ tenant, organizationKey }, now);
  return channels.map(({ documentKey }) => ({
    document: { tenant, organizationKey, documentKey },
    userIds: undefined,
    by,
  }));
}

/** Ends the sessions of a document whose users lost access, and publishes `system.revoked` on the channels that this run ended. */
async function revokeDocument(ports: LivePorts, candidates: readonly Candidate[], call: PublishCall): Promise<void> {
  const { store } = ports;
  const [first] = candidates;
  if (!first) return;
  const { document, by } = first;
  const userIds = candidates.every((each) => each.userIds)
    ? candidates.flatMap((each) => each.userIds ?? [])
    : undefined;
  for (;;) {
    const now = call.clock();
    const [channel] = await store.activeChannels([document], now);
    if (!channel) return;
    const lost = await lostSessions(ports, document, userIds, channel, now);
    if (lost.length === 0) {
      await publishRevocations(ports, document, channel, new Set(candidates.map((each) => each.by)), call);
      return;
    }
    // After a conflict, or if one transaction cannot end all sessions, read the channels and the sessions again.
    await store.renewChannels(document, channel, lost.slice(0, MAX_SESSIONS_IN_TRANSACTION), by, now);
  }
}

/** Returns the sessions of users who may no longer open the document. */
async function lostSessions(
  { store }: LivePorts,
  document: DocumentKeys,
  userIds: readonly string[] | undefined,
  channel: StoredChannel,
  now: number,
): Promise<Stored<LiveSession>[]> {
  const sessions = await store.sessions(document);
  // A change of the document does not end access that only a user token grants.
  const checked = sessions.filter(({ userId, hasStoredAccess }) =>
    userIds ? userIds.includes(userId) : hasStoredAccess,
  );
  if (checked.length === 0) return [];
  const allowed = await store.usersWithAccess(
    await store.loadDocument(document, channel),
    checked.map(({ userId }) => userId),
    now,
  );
  return checked.filter(({ userId }) => !allowed.has(userId));
}

/** Publishes `system.revoked` on the channels of the access epochs that these stream records ended. */
async function publishRevocations(
  { store, keys, publisher }: LivePorts,
  document: DocumentKeys,
  { revoking = [] }: StoredChannel,
  by: ReadonlySet<string>,
  call: PublishCall,
): Promise<void> {
  const epochs = revoking.filter((each) => by.has(each.by)).map(({ epoch }) => epoch);
  if (epochs.length === 0) return;
  await publisher.waitForRunning();
  const names = await keys.names();
  for (const epoch of epochs) {
    const channels = names.ofDocument({ ...document, epoch });
    for (const channel of [channels.document, channels.awareness])
      await publisher.publishOrThrow(channel, { type: REVOKED }, call);
  }
  await store.endRevocations(document, by);
}
