import { type Capability, combine } from '../app/capability.ts';
import type { ChangedItem, FromChanges } from '../app/worker.ts';
import { type AddressedHint, type ContentHint, type HintAudience, partitionName } from '../content/rules/hints.ts';
import { isOpenToAll } from '../content/rules/threadAccess.ts';
import type { ThreadAccess } from '../directory/rules/visibility.ts';
import { EditorUpdateEntity } from '../editors/entities.ts';
import type { Notification } from '../notifications/rules.ts';
import * as logMessages from '../observability/logMessages.ts';
import { withoutAddresses } from '../shared/addresses.ts';
import { distinct, distinctBy } from '../shared/collections.ts';
import { inParallel } from '../shared/inParallel.ts';
import { decodePart } from '../shared/keyParts.ts';
import { lazy } from '../shared/lazy.ts';
import { readDefined } from '../shared/readDefined.ts';
import type { Stored } from '../table/entity.ts';
import { tableWith } from '../table/storeCapability.ts';
import { ChannelPublisher, type PublishCall } from './channelPublisher.ts';
import { toEditorPush } from './editorPushes.ts';
import { DocumentSessionEntity, type LiveChannel, type StoredChannel } from './entities.ts';
import { publishEventsLive } from './eventApi.ts';
import type { RecordedChange, StreamPosition } from './hintLog.ts';
import { liveKeys } from './liveKeys.ts';
import { type LivePorts, liveStores } from './livePorts.ts';
import { revokeAccess } from './revokeAccess.ts';
import { type AccessChange, accessChangeOf, accessTypesOfItems } from './rules/access.ts';
import { withinLimit } from './rules/events.ts';
import {
  type DocumentKeys,
  documentOf,
  type HintCatalogue,
  type UserHint,
  withoutManyIds,
  withoutRepetitions,
} from './rules/hints.ts';

/** Returns the entities whose new or changed items are published or can take access away. */
export function publishedTypes({ hintedTypes, pushedTypes }: HintCatalogue): FromChanges['changes'] {
  return [EditorUpdateEntity.type, ...hintedTypes, ...accessTypesOfItems, ...pushedTypes];
}

/**
 * Of a removed item, the worker reads only the keys. Those of an organization lack its internal id, which its purge job
 * has.
 */
export const publishedJobs: FromChanges['newJobs'] = ['purgeOrganization'];

/** Returns the keys of items whose removal is published or can take access away. */
export function publishedRemovals({ removed }: HintCatalogue): FromChanges['removals'] {
  const partitions = Object.entries(removed).map(([name, { suffix }]) => ({ PK: { suffix: `#${name}` }, suffix }));
  return [
    {
      PK: [
        ...partitions.flatMap(({ PK, suffix }) => (suffix === undefined ? [PK] : [])),
        { suffix: '#DOCUMENTS' },
        { suffix: '#FOLDERS' },
      ],
    },
    ...partitions.flatMap(({ PK, suffix }) => (suffix === undefined ? [] : [{ PK: [PK], SK: [{ suffix }] }])),
    { SK: ['PROFILE', { prefix: 'GRANT#' }] },
  ];
}

const PARALLEL = 8;

/**
 * Publishes one batch of the table's stream. Then documents to which a user lost access get new channels. Returns the
 * ids of the changes that failed. A repeated run is harmless.
 */
export async function publishChanges(
  ports: LivePorts,
  changes: readonly ChangedItem[],
  call: PublishCall,
): Promise<readonly string[]> {
  const failed = new Set<string>();
  const run = async (some: readonly ChangedItem[], work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      for (const { id } of some) failed.add(id);
      call.log.error(logMessages.livePublishFailed, { error });
    }
  };
  const now = call.clock();
  const byDocument = Map.groupBy(
    changes.filter(({ key, item }) => item?._t !== DocumentSessionEntity.type && documentOf(key.PK) !== undefined),
    ({ key }) => key.PK.split('#', 6).join('#'),
  );
  const documents = [...byDocument.values()].map((some) => ({
    document: documentOf(some[0]?.key.PK ?? '') as DocumentKeys,
    changes: some,
  }));
  await run(changes, async () => {
    const channels = await ports.hintLog.activeChannels(
      documents.map(({ document }) => document),
      now,
    );
    await inParallel(documents, PARALLEL, async ({ document, changes: some }, index) => {
      const channel = channels[index];
      await run(some, async () => {
        if (channel) {
          await publishDocument(ports, document, channel, some, call);
          await publishOwnChanges(ports, document, channel, some, call);
        }
        await publishNotifications(ports, document, channel, some, call);
      });
    });
  });
  const accessChanges = changes.flatMap((change) => {
    const access = accessChangeOf(change);
    return access ? [{ change, id: change.id, access }] : [];
  });
  await run(
    accessChanges.map(({ change }) => change),
    async () => {
      await revokeAccess(ports, accessChanges, call);
      await publishAccessUpdates(ports, accessChanges, call);
    },
  );
  return changes.flatMap(({ id }) => (failed.has(id) ? [id] : []));
}

interface PositionedHint extends AddressedHint {
  readonly position: StreamPosition;
}

async function publishDocument(
  ports: LivePorts,
  document: DocumentKeys,
  channel: StoredChannel,
  changes: readonly ChangedItem[],
  call: PublishCall,
): Promise<void> {
  const { hintLog, editorParts, keys, publisher, hints } = ports;
  const payloads = new Map<string, object>();
  const edits: RecordedChange[] = [];
  const addressed: PositionedHint[] = [];
  const states: object[] = [];
  for (const change of changes) {
    const position = positionOf(change);
    if (change.item?._t === EditorUpdateEntity.type) {
      const push = change.change === 'insert' ? await toEditorPush(editorParts, document, change) : undefined;
      if (!push) continue;
      edits.push({ hint: push.hint, position });
      if (push.payload) payloads.set(position.sequence, push.payload);
      continue;
    }
    const state = hints.pushOf(change, call.clock());
    if (state) states.push(withoutAddresses(state));
    const hint = hints.hintOf(change);
    if (hint && !['user', 'users'].includes(hint.audience.kind)) addressed.push({ ...hint, position });
  }
  const { open, hidden } = await splitByAudience(ports, document, channel, addressed);
  const order = new Map(changes.map(({ id }, index) => [id, index]));
  const recordable = [...edits, ...withoutRepetitions(open)].sort(
    (a, b) => (order.get(a.position.sequence) ?? 0) - (order.get(b.position.sequence) ?? 0),
  );
  const recorded =
    recordable.length > 0
      ? await hintLog.record(document, recordable, changes.map(positionOf), call.clock())
      : { channel, hints: [] };
  if (!recorded) return;
  const events = [
    ...recorded.hints.map(({ hint, position }) => withinLimit(hint, payloads.get(position.sequence) ?? {})),
    ...states,
  ];
  if (events.length > 0) {
    const { document: name } = (await keys.names()).ofDocument({ ...document, epoch: recorded.channel.epoch });
    const isCurrent = async () =>
      (await hintLog.activeChannels([document], call.clock()))[0]?.epoch === recorded.channel.epoch;
    await publisher.publish(name, events, call, isCurrent);
    for (const { hint } of recorded.hints) call.measures.record('LivePushLatency', Math.max(0, call.clock() - hint.at));
  }
  await publishHidden(ports, document, channel, withoutRepetitions(hidden), call);
}

/** For users who may see the record by `access`, but not for those who may also see it by `except`. */
interface HiddenHint extends PositionedHint {
  readonly access: ThreadAccess;
  readonly except?: ThreadAccess | undefined;
}

/** Drops hints about records that no longer exist: their deletion has its own hint. */
async function splitByAudience(
  { audienceReader, hints: { announced } }: LivePorts,
  document: DocumentKeys,
  { organizationId, documentId }: LiveChannel,
  sent: readonly PositionedHint[],
): Promise<{ open: PositionedHint[]; hidden: HiddenHint[] }> {
  const open: PositionedHint[] = [];
  const hidden: HiddenHint[] = [];
  const deletions = sent.map(({ audience }) => (audience.kind === 'deletedComment' ? audience : undefined));
  const [records, deleted] = await Promise.all([
    audienceReader.announcedRecords({ scope: document, organizationId, documentId }, sent.map(recordOf), announced),
    readDefined(deletions, (comments) => audienceReader.hiddenDeletions(document, comments)),
  ]);
  for (const [index, hint] of sent.entries()) {
    const { audience } = hint;
    const record = records[index];
    if (audience.kind === 'formerReaders') {
      hidden.push({ ...hint, access: audience.formerAccess, except: record });
      continue;
    }
    const access = audience.kind === 'deletedThread' ? audience.access : (deleted[index] ?? record);
    if (!access) continue;
    if (isOpenToAll({ thread: access })) open.push(hint);
    else hidden.push({ ...hint, access });
  }
  return { open, hidden };
}

function recordOf({ hint, audience }: PositionedHint): ContentHint {
  if (audience.kind === 'deletedComment') return { ...hint, type: 'comment_annotation.update' };
  if (audience.kind !== 'formerReaders') return hint;
  return { ...hint, type: hint.type === 'comment.hide' ? 'comment.update' : 'comment_annotation.update' };
}

async function publishHidden(
  ports: LivePorts,
  document: DocumentKeys,
  channel: LiveChannel,
  hints: readonly HiddenHint[],
  call: PublishCall,
): Promise<void> {
  const { findViewers } = audienceOf(ports, document, channel, call);
  for (const { hint, position, access, except } of hints) {
    const allowed = await findViewers(access);
    const excluded = except ? await findViewers(except) : new Set<string>();
    const recipients = [...allowed].filter((userId) => !excluded.has(userId));
    const named = { ...hint, ids: { ...hint.ids, documentId: channel.documentId } };
    await publishToUsers(ports, document, recipients, { hint: named, position }, call);
  }
}

/** For the other devices of the user who made the change. */
async function publishOwnChanges(
  ports: LivePorts,
  document: DocumentKeys,
  { documentId }: LiveChannel,
  changes: readonly ChangedItem[],
  call: PublishCall,
): Promise<void> {
  const own = changes.flatMap((change) => {
    const { hint, audience } = ports.hints.hintOf(change) ?? {};
    if (!hint || audience?.kind !== 'user') return [];
    const named = { ...hint, ids: { ...hint.ids, documentId } };
    return [{ userId: audience.userId, recorded: { hint: named, position: positionOf(change) } }];
  });
  const latest = distinctBy(own.toReversed(), ({ userId, recorded }) => JSON.stringify([userId, recorded.hint.type]));
  await inParallel(latest, PARALLEL, async ({ userId, recorded }) => {
    const [connected] = await ports.sessionStore.connectedUsers(document, [userId]);
    if (connected) await publishToUsers(ports, document, [userId], recorded, call);
  });
}

interface UsersHint extends PositionedHint {
  readonly hint: ContentHint;
  readonly audience: Extract<HintAudience, { readonly kind: 'users' }>;
}

/** `channel` is undefined if changes of the document are not recorded. */
async function publishNotifications(
  ports: LivePorts,
  document: DocumentKeys,
  channel: LiveChannel | undefined,
  changes: readonly ChangedItem[],
  call: PublishCall,
): Promise<void> {
  const { sessionStore, hints } = ports;
  const addressed = changes.flatMap((change): UsersHint[] => {
    const { hint, audience } = hints.hintOf(change) ?? {};
    return hint && audience?.kind === 'users' ? [{ hint, audience, position: positionOf(change) }] : [];
  });
  const userIds = distinct(addressed.flatMap(({ audience }) => audience.userIds));
  const sessions = await sessionStore.connectedUsers(document, userIds);
  const connected = new Set(sessions.map(({ userId }) => userId));
  const heard = addressed.filter(
    ({ audience }) =>
      (audience.isForOthers && channel !== undefined) || audience.userIds.some((userId) => connected.has(userId)),
  );
  const [first] = heard;
  if (!first) return;
  // Only the `organizationId` is needed, which the channels of all documents of the organization have.
  const named = channel ?? (await sessionStore.channel({ ...document, documentKey: sessions[0]?.documentKey ?? '' }));
  if (!named) return;
  const names = { organizationId: named.organizationId, documentId: String(first.hint.ids.documentId) };
  const found = await audienceOf(ports, document, names, call).readSessions();
  const received = await inParallel(heard, PARALLEL, (each) =>
    recipientsOf(ports, document, found, connected, each, call),
  );
  const byUser = Map.groupBy(received.flat(), ({ userId }) => userId);
  const hintsOfUsers = [...byUser].map(([userId, ofUser]) => [userId, withoutManyIds(ofUser)] as const);
  await publishToEach(ports, document, new Map(hintsOfUsers), call);
}

type OpenSessions = Awaited<ReturnType<ReturnType<typeof audienceOf>['readSessions']>>;

/**
 * Rights on a document that is deleted cannot be read. The users whom its notifications name then get a hint without
 * ids, so that they count again.
 */
async function recipientsOf(
  { audienceReader }: LivePorts,
  document: DocumentKeys,
  found: OpenSessions,
  connected: ReadonlySet<string>,
  { hint, audience, position }: UsersHint,
  call: PublishCall,
): Promise<{ readonly userId: string; readonly hint: ContentHint; readonly position: StreamPosition }[]> {
  const addressed = audience.userIds.filter((userId) => connected.has(userId));
  const { removed, createdAt, isForOthers } = audience;
  if (!found) return removed ? addressed.map((userId) => ({ userId, hint: { ...hint, ids: {} }, position })) : [];
  const id = String(hint.ids.notificationId);
  const notification = removed
    ? (removed as unknown as Stored<Notification>)
    : await audienceReader.notification(document, { id, createdAt });
  if (!notification) return [];
  const recipients = await audienceReader.usersWhoCanReadNotification(
    found.openDocument,
    notification,
    { connected: addressed, sessions: found.sessions, isForOthers },
    call.clock(),
  );
  return [...recipients].map((userId) => ({ userId, hint, position }));
}

function audienceOf(
  { sessionStore, audienceReader }: LivePorts,
  document: DocumentKeys,
  names: Pick<LiveChannel, 'organizationId' | 'documentId'>,
  call: PublishCall,
) {
  const readSessions = lazy(async () => {
    const [sessions, context] = await Promise.all([
      sessionStore.sessions(document),
      audienceReader.loadDocument(document, names),
    ]);
    const openDocument = await audienceReader.openDocument(context);
    return openDocument && { sessions, openDocument };
  });
  const findViewers = async (rules: ThreadAccess): Promise<ReadonlySet<string>> => {
    const found = await readSessions();
    if (!found) return new Set();
    const thread = { ...rules, organizationId: found.openDocument.organization.organizationId };
    return audienceReader.usersWhoCanSee(found.openDocument, { thread }, found.sessions, call.clock());
  };
  return { readSessions, findViewers };
}

/**
 * A change of the access context of grants can hide threads. The stream does not have the former context, so users get
 * one hint that their access has changed.
 */
async function publishAccessUpdates(
  ports: LivePorts,
  changes: readonly { readonly change: ChangedItem; readonly access: AccessChange }[],
  call: PublishCall,
): Promise<void> {
  const ofUsers = changes.flatMap(({ change, access }) => (access.kind === 'user' ? [{ change, access }] : []));
  const latest = distinctBy(ofUsers.toReversed(), ({ access }) => JSON.stringify([access.tenantPart, access.userPart]));
  await inParallel(latest, PARALLEL, async ({ change, access: { tenantPart, userPart } }) => {
    const [session] = await ports.sessionStore.sessionsOfUser(tenantPart, userPart);
    if (!session) return;
    const hint = { type: 'access.update', at: change.at, ids: {} } as const;
    await publishToUsers(
      ports,
      { tenant: decodePart(tenantPart) ?? '' },
      [session.userId],
      { hint, position: positionOf(change) },
      call,
    );
  });
}

async function publishToUsers(
  ports: LivePorts,
  about: Pick<DocumentKeys, 'tenant'> & Partial<DocumentKeys>,
  userIds: readonly string[],
  change: RecordedChange,
  call: PublishCall,
): Promise<void> {
  await publishToEach(ports, about, new Map(userIds.map((userId) => [userId, [change]])), call);
}

async function publishToEach(
  { sessionStore, hintLog, audienceReader, keys, publisher }: LivePorts,
  about: Pick<DocumentKeys, 'tenant'> & Partial<DocumentKeys>,
  changesOf: ReadonlyMap<string, readonly RecordedChange[]>,
  call: PublishCall,
): Promise<void> {
  if (changesOf.size === 0) return;
  const { tenant } = about;
  const [names, tokenRevocations, users] = await Promise.all([
    keys.names(),
    sessionStore.tokenRevocations(tenant),
    audienceReader.userKeys(tenant, [...changesOf.keys()]),
  ]);
  await inParallel([...users], PARALLEL, async ([userId, userKey]) => {
    const changes = changesOf.get(userId) ?? [];
    const hints = changes.map(({ hint, position }): UserHint => ({ ...hint, id: position.sequence }));
    await inParallel(changes, PARALLEL, ({ position }, index) =>
      hintLog.recordForUser({ tenant, userId, userKey }, about, { hint: hints[index] as UserHint, position }),
    );
    await publisher.publish(names.ofUser({ tenant, userKey, tokenRevocations }), hints, call);
  });
}

function positionOf({ id, stream, key }: ChangedItem): StreamPosition {
  return { stream, sequence: id, partition: partitionName(key.PK) };
}

export const publishChangesCapability: Capability<Omit<LivePorts, 'hints'>> = /* @__PURE__ */ combine(
  {
    table: /* @__PURE__ */ tableWith(['GetItem', 'BatchGetItem', 'Query', 'PutItem'], ['gsi1']),
    keys: liveKeys,
    events: publishEventsLive,
  },
  ({ table, keys, events }) => ({ ...liveStores(table), keys, publisher: new ChannelPublisher(events) }),
);
