import { lastSeenAt } from '../../comments/rules/readState.ts';
import { ThreadEntity } from '../../comments/threads.ts';
import { readViews } from '../../comments/threadViews.ts';
import { type Involvement, InvolvementEntity } from '../../content/involvements.ts';
import { MAX_INVOLVED_USERS } from '../../content/rules/contentUser.ts';
import { findUsers, type MaybeUser } from '../../directory/users.ts';
import { EventEntity, payloadItem, smallPayloadOf } from '../../events/outbox.ts';
import type { Audience, AudienceThread } from '../../events/rules/payload.ts';
import { recipientsOf } from '../../events/rules/recipients.ts';
import {
  type AudienceDeps,
  audienceMembers,
  type OccurredEvent,
  readRecipientRules,
} from '../../notifications/audience.ts';
import { readNotifications } from '../../notifications/notifications.ts';
import { distinct } from '../../shared/collections.ts';
import { derivedId } from '../../shared/ids.ts';
import { inParallel } from '../../shared/inParallel.ts';
import { inSlices } from '../../shared/inSlices.ts';
import { isoTime } from '../../shared/isoTime.ts';
import { mailAddressOf } from '../../shared/mailAddress.ts';
import type { Table } from '../../table/table.ts';
import type { MessageChannel, People } from '../rules/mailRecord.ts';
import type { Collection } from './entryStore.ts';

export const EVENT_EXPIRED = 'the event does not exist any more';
export const NO_RECIPIENT = 'the user may not receive the event any more';
export const NOT_SENT = 'events of this type are not sent any more';
const ACTOR_GONE = 'the user who did it was erased';
const OWN = 'the user did it as another user with the same address';
const SEEN = 'the user has seen it';

const PARALLEL = 10;

/** `reason` says why an entry is not sent. */
export type CheckedEntry =
  | { readonly event: OccurredEvent; readonly reason?: undefined }
  | { readonly event?: undefined; readonly reason: string };

export interface EntryChecks {
  readonly people: People | undefined;
  /** Whether events of the type are still sent. */
  readonly isSent: (event: string) => boolean;
  /** So many of the events that are sent keep their data. */
  readonly contents: number;
}

/** Limits memory: a payload can have 256 KB. */
const CHECKED_AT_ONCE = 50;

/**
 * In the order of the ids. An entry is not sent if its event has expired, the user may not receive it any more, or has
 * seen it.
 */
export async function checkEntries(
  deps: AudienceDeps,
  of: Collection,
  eventIds: readonly string[],
  checks: EntryChecks,
): Promise<CheckedEntry[]> {
  let sent = 0;
  return inSlices(eventIds, CHECKED_AT_ONCE, async (slice) => {
    const checked = await checkSlice(deps, of, slice, checks);
    return checked.map((entry) =>
      entry.event && ++sent > checks.contents ? { event: withoutData(entry.event) } : entry,
    );
  });
}

function withoutData(event: OccurredEvent): OccurredEvent {
  return { ...event, payload: { ...event.payload, data: {} } };
}

async function checkSlice(
  deps: AudienceDeps,
  of: Collection,
  eventIds: readonly string[],
  { isSent, people = {} }: EntryChecks,
): Promise<CheckedEntry[]> {
  const { table } = deps;
  const { tenant, userId, channel } = of;
  const events = await readEvents(table, tenant, eventIds);
  const existing = events.filter((event) => event !== undefined);
  const actorIds = distinct(existing.flatMap((event) => actorOf(event) ?? []));
  const [[user, ...actors], allowed, seen] = await Promise.all([
    findUsers(table, tenant, [userId, ...actorIds]),
    inParallel(existing, PARALLEL, (event) => isRecipient(deps, event, userId, channel)),
    findSeen(table, of, existing),
  ]);
  const mayReceive = new Set(existing.filter((_event, index) => allowed[index]));
  return events.map((event) => {
    if (!event) return { reason: EVENT_EXPIRED };
    if (!isSent(event.event)) return { reason: NOT_SENT };
    if (isGone(people, userId, user)) return { reason: NO_RECIPIENT };
    const actorId = actorOf(event);
    const actor = actorId === undefined ? undefined : actors[actorIds.indexOf(actorId)];
    if (actorId !== undefined && isGone(people, actorId, actor)) return { reason: ACTOR_GONE };
    if (hasSameAddress(user, actor)) return { reason: OWN };
    if (seen.has(event)) return { reason: SEEN };
    return mayReceive.has(event) ? { event } : { reason: NO_RECIPIENT };
  });
}

function actorOf({ payload: { audience } }: OccurredEvent): string | undefined {
  return audience?.actorId;
}

/** Whether the user was erased since, even if another one has the id now. */
function isGone(people: People, userId: string, user: MaybeUser): boolean {
  const before = people[userId];
  return before !== undefined && before !== user?.internalId;
}

function hasSameAddress(user: MaybeUser, actor: MaybeUser): boolean {
  const [address, ofActor] = [mailAddressOf(user), mailAddressOf(actor)];
  return address !== undefined && address.toLowerCase() === ofActor?.toLowerCase();
}

export async function readEvents(
  table: Table,
  tenant: string,
  eventIds: readonly string[],
): Promise<(OccurredEvent | undefined)[]> {
  const keys = eventIds.map((eventId) => ({ tenant, eventId }));
  const stored = await table.getMany(EventEntity, keys);
  const large = stored.filter((event) => event && event.smallPayload === undefined);
  const payloads = await table.batchGet(
    ...large.map((event) => payloadItem({ tenant, eventId: event?.eventId ?? '' })),
  );
  const nextLarge = payloads.values();
  return stored.map((event) => {
    const payload = event && (smallPayloadOf(event) ?? nextLarge.next().value);
    return payload && { ...event, tenant, payload };
  });
}

export async function isRecipient(
  deps: AudienceDeps,
  event: OccurredEvent,
  userId: string,
  channel: MessageChannel,
): Promise<boolean> {
  const { audience } = event.payload;
  if (!audience) return false;
  const onlyUser = (userIds: readonly string[]) => userIds.filter((id) => id === userId);
  const audienceOfOne: Audience = {
    ...audience,
    addressed: onlyUser(audience.addressed),
    following: onlyUser(audience.following),
  };
  const rules = await readRecipientRules(deps, event.tenant, {
    ...event,
    payload: { ...event.payload, audience: audienceOfOne },
  });
  return recipientsOf(audienceOfOne, channel, rules).includes(userId);
}

/** Events whose thread the user has seen since, or whose notification the user has read. */
async function findSeen(
  table: Table,
  of: Collection,
  events: readonly OccurredEvent[],
): Promise<ReadonlySet<OccurredEvent>> {
  const [viewed, read] = await Promise.all([findViewed(table, of, events), findRead(table, of, events)]);
  return new Set([...viewed, ...read]);
}

async function findViewed(
  table: Table,
  { tenant, userId }: Collection,
  events: readonly OccurredEvent[],
): Promise<OccurredEvent[]> {
  const about = events.flatMap((event) => {
    const thread = event.payload.audience?.thread;
    return thread ? [{ event, scope: scopeOf(tenant, thread), thread }] : [];
  });
  const heads = await table.getMany(
    ThreadEntity,
    about.map(({ scope, thread }) => ({ ...scope, ...thread })),
  );
  const existing = about.flatMap(({ event, scope }, index) => {
    const thread = heads[index];
    return thread ? [{ event, scope, thread, userId }] : [];
  });
  const views = await readViews(table, existing);
  return existing.flatMap(({ event, thread }, index) =>
    lastSeenAt(thread, userId, views[index]) >= event.createdAt ? [event] : [],
  );
}

function scopeOf(tenant: string, { organizationKey, documentKey }: AudienceThread) {
  return { tenant, organizationKey, documentKey };
}

async function findRead(table: Table, of: Collection, events: readonly OccurredEvent[]): Promise<OccurredEvent[]> {
  const { tenant, organizationKey, userId } = of;
  const found = await inParallel(events, PARALLEL, async (event) => {
    const keys = await notificationKeys(table, of, event);
    return keys.map((key) => ({ event, key }));
  });
  const notifications = await readNotifications(
    table,
    { tenant, organizationKey },
    found.flat().map(({ key }) => key),
  );
  return found
    .flat()
    .flatMap(({ event }, index) => (notifications[index]?.readByUserIds?.includes(userId) ? [event] : []));
}

/** For more groups of recipients, a query for those of the user costs less. */
const MAX_READ_GROUPS = 2;
/** Events of one call have the same time. */
const MAX_OF_SAME_TIME = 500;

/** An event has one notification for each group of recipients. Their ids derive from the event. */
async function notificationKeys(
  table: Table,
  of: Collection,
  { eventId, createdAt, payload: { audience } }: OccurredEvent,
): Promise<Pick<Involvement, 'documentKey' | 'id' | 'createdAt'>[]> {
  const groups = Math.ceil((audience ? audienceMembers(audience).length : 0) / MAX_INVOLVED_USERS);
  const ids = Array.from({ length: groups }, (_value, index) => derivedId('ntf', createdAt, [eventId, index]));
  const { documentKey } = audience?.thread ?? {};
  if (documentKey !== undefined && groups <= MAX_READ_GROUPS) return ids.map((id) => ({ documentKey, id, createdAt }));
  // An event without a thread does not have the internal id of its document.
  const { values } = await table.query(InvolvementEntity, of, {
    prefix: ['DATA', 'notification', isoTime(createdAt), ...(documentKey === undefined ? [] : [documentKey])],
    limit: MAX_OF_SAME_TIME,
  });
  const own = new Set(ids);
  return values.filter(({ id }) => own.has(id));
}
