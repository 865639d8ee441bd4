import type { Stored } from '../table/entity.ts';
import type { PublishCall } from './channelPublisher.ts';
import type { LiveSession, StoredChannel } from './entities.ts';
import type { LivePorts } from './livePorts.ts';
import type { AccessChange } from './rules/access.ts';
import { decodePart, type DocumentKeys, REVOKED } from './rules/hints.ts';

/** Sessions that one transaction ends. */
const MOST_ENDED_AT_ONCE = 50;

/** A document whose sessions are checked. `userIds` limits the check to some of its users. */
interface Candidate {
  readonly document: DocumentKeys;
  readonly userIds: readonly string[] | undefined;
}

/**
 * Gives new channels to the documents to which users of recent sessions lost access, and publishes `system.revoked` on the
 * old ones. Nothing follows on the old channels.
 */
export async function revokeAccess(
  ports: LivePorts,
  changes: readonly AccessChange[],
  call: PublishCall,
): Promise<void> {
  const now = call.clock();
  const candidates = (await Promise.all(changes.map((change) => candidatesOf(ports, change, now)))).flat();
  const byDocument = Map.groupBy(candidates, ({ document }) => document.documentKey);
  for (const some of byDocument.values()) {
    const [first] = some;
    if (!first) continue;
    const userIds = some.every((each) => each.userIds) ? some.flatMap((each) => each.userIds ?? []) : undefined;
    await revokeDocument(ports, { document: first.document, userIds }, call);
  }
}

async function candidatesOf({ store }: LivePorts, change: AccessChange, now: number): Promise<Candidate[]> {
  if (change.kind === 'document') return [{ document: change, userIds: undefined }];
  const tenant = decodePart(change.tenantPart) ?? '';
  if (change.kind === 'user') {
    const sessions = await store.sessionsOfUser(change.tenantPart, change.userPart, change.organizationKey);
    return sessions.map(({ userId, organizationKey, documentKey }) => ({
      document: { tenant, organizationKey, documentKey },
      userIds: [userId],
    }));
  }
  const { organizationKey } = change;
  const channels = await store.channelsOfOrganization({ tenant, organizationKey }, now);
  return channels.map(({ documentKey }) => ({
    document: { tenant, organizationKey, documentKey },
    userIds: undefined,
  }));
}

async function revokeDocument(ports: LivePorts, { document, userIds }: Candidate, call: PublishCall): Promise<void> {
  const { store } = ports;
  for (;;) {
    const now = call.clock();
    const [channel] = await store.activeChannels([document], now);
    if (!channel) return;
    const lost = await lostSessions(ports, { document, userIds }, channel, now);
    if (lost.length === 0) {
      await publishRevocation(ports, document, channel, call);
      return;
    }
    // On a conflict, and for more sessions than one transaction can end, everything is read again.
    await store.renewChannels(document, channel, lost.slice(0, MOST_ENDED_AT_ONCE), now);
  }
}

/** Returns the sessions of users who may not open the document any more. */
async function lostSessions(
  { store }: LivePorts,
  { document, userIds }: Candidate,
  channel: StoredChannel,
  now: number,
): Promise<Stored<LiveSession>[]> {
  const sessions = await store.sessions(document);
  // A user whose access is only in a user token keeps it when the document changes.
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

/** Publishes `system.revoked` on the channels of all epochs that still have to get it. */
async function publishRevocation(
  { store, keys, publisher }: LivePorts,
  document: DocumentKeys,
  { revoking, epoch: current }: StoredChannel,
  call: PublishCall,
): Promise<void> {
  if (revoking === undefined) return;
  await publisher.waitForRunning();
  const names = await keys.names();
  for (let epoch = revoking; epoch < current; epoch++) {
    const channels = names.ofDocument({ ...document, epoch });
    for (const channel of [channels.document, channels.awareness])
      await publisher.publishOrThrow(channel, { type: REVOKED }, call);
  }
  await store.endRevocation(document, current);
}
