import { hash } from 'node:crypto';
import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { isLongerThan } from '../shared/bytes.ts';
import { invalid } from '../shared/errors.ts';
import { isoTime } from '../shared/isoTime.ts';
import { defineEntity, type Key, type Stored } from '../table/entity.ts';
import { readDue } from '../table/indexValues.ts';
import { tenantOf } from '../table/keys.ts';
import type { ItemPage } from '../table/pages.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insert, type ItemRead, type PageOptions, replace, type Table, type WriteOp } from '../table/table.ts';
import { type EventPayload, MAX_PAYLOAD_BYTES } from './rules/payload.ts';

/** How long an event, its deliveries and their attempts are kept, in seconds. */
export const EVENT_LIFETIME_SECONDS = 30 * 24 * 60 * 60;

/** Returns the table partition of an event, its deliveries and their attempts. */
export function eventPartition({ tenant, eventId }: { tenant: string; eventId: string }): string[] {
  return [tenant, 'EVENT', eventId];
}

/**
 * The outbox and the due deliveries have this number of index partitions each. A partition allows about 1,000 writes per second.
 */
export const outboxShards = 128;
/** The number of index partitions for the events of one tenant. */
export const tenantShards = 16;

const Schema = z.object({
  eventId: z.string(),
  event: z.string(),
  /** The organization id that the customer chose. */
  organizationId: z.string().optional(),
  /** The document id that the customer chose. */
  documentId: z.string().optional(),
  channels: z.array(z.string()).optional(),
  createdAt: z.number(),
  /** The number of the outbox partition in gsi3 that contains the event, from 0 to 127. */
  shard: z.number(),
  /** Whether the event has an audience: users who may get a mail or an in-app notification. */
  hasAudience: z.boolean().optional(),
  /** The payload as JSON text, if it is small. A larger payload is an item of its own. */
  smallPayload: z.string().optional(),
  /**
   * When the event left the outbox, epoch ms. Its first attempts have then ended or are in groups, and its mails and notifications
   * are written.
   */
  fannedOutAt: z.number().optional(),
});

export type StoredEvent = Stored<z.output<typeof Schema>> & { readonly tenant: string };

export type EventToDeliver = StoredEvent & { readonly payload: EventPayload };

/** An event. It is in the outbox (gsi3) until its work is done or is stored in other items. */
export const EventEntity = defineEntity({
  type: 'Event',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'An event, written in the transaction of the change that caused it',
  schema: Schema,
  pk: eventPartition,
  sk: (_key: unknown) => ['META'],
  indexes: {
    gsi3: {
      holds: 'events in the outbox, by shard and time',
      pk: ({ shard, fannedOutAt }) => (fannedOutAt === undefined ? pendingEvents(shard) : undefined),
      sk: ({ createdAt, eventId }) => [isoTime(createdAt), eventId],
    },
    gsi4: {
      holds: 'events of a tenant, by shard and time',
      pk: ({ tenant, shard }) => tenantEvents(tenant, shard % tenantShards),
      sk: ({ createdAt, eventId }) => [isoTime(createdAt), eventId],
    },
  },
  expiresAt: ({ createdAt }) => Math.floor(createdAt / 1000) + EVENT_LIFETIME_SECONDS,
});

/** Returns the index partition (gsi4) of a tenant's events in one shard. */
export function tenantEvents(tenant: string, shard: number): string[] {
  return [tenant, 'EVENTS', String(shard)];
}

/** Returns the index partition (gsi3) with the outbox events of a shard. */
export function pendingEvents(shard: number): string[] {
  return ['PENDING', String(shard)];
}

/**
 * A payload of at most this many bytes is stored in its event. With ids of usual length, the event then has at most 3 KB, and its two
 * writes cost no more than they would with a separate payload.
 */
const SMALL_PAYLOAD_BYTES = 2_400;

/**
 * The payload of an event, if it is not small. It is a separate item, so that the write which removes the event from the outbox
 * stays small.
 */
export const EventPayloadEntity = defineEntity({
  type: 'EventPayload',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'The payload of an event as JSON text, if it has more than 2,400 bytes',
  schema: z.object({ payload: z.string(), createdAt: z.number() }),
  pk: eventPartition,
  sk: (_key: unknown) => ['PAYLOAD'],
  expiresAt: ({ createdAt }) => Math.floor(createdAt / 1000) + EVENT_LIFETIME_SECONDS,
});

/** Returns the read of a payload that is an item of its own, for `batchGet`. */
export function payloadItem(key: { tenant: string; eventId: string }): ItemRead<EventPayload> {
  return { key: EventPayloadEntity.key(key), fromItem: parsePayload };
}

function parsePayload(item: Record<string, unknown>, now: number): Stored<EventPayload> | undefined {
  const stored = EventPayloadEntity.fromItem(item, now);
  return stored && { ...(JSON.parse(stored.payload) as EventPayload), _r: stored._r };
}

/** Returns the payload in an event. Returns undefined if the payload is an item of its own. */
export function smallPayloadOf({ smallPayload }: Pick<StoredEvent, 'smallPayload'>): EventPayload | undefined {
  return smallPayload === undefined ? undefined : (JSON.parse(smallPayload) as EventPayload);
}

/** The change that caused an event. The event id derives from it, so a repeated request writes no second event. */
export interface Cause {
  readonly type: string;
  readonly id: string;
  readonly revision: number | string;
}

export interface NewEvent {
  /** The event type, for example `comment.add`. */
  readonly event: string;
  readonly cause: Cause;
  readonly organizationId?: string | undefined;
  readonly documentId?: string | undefined;
  readonly channels?: readonly string[] | undefined;
  readonly payload: EventPayload;
}

/**
 * Returns the operations that write an event, for the transaction of the change that causes it. Throws INVALID_ARGUMENT for a
 * payload larger than 256 KB, which only a published event can have.
 */
export function emit(tenant: string, event: NewEvent, now: number): WriteOp[] {
  return recordEvent(tenant, event, now).ops;
}

/**
 * Returns an event and the operations that write it. With `fannedOut`, the event does not enter the outbox. A given `eventId`
 * replaces the id that derives from the cause.
 */
export function recordEvent(
  tenant: string,
  { payload, cause, channels, ...event }: NewEvent,
  now: number,
  { fannedOut = false, eventId: givenId }: { fannedOut?: boolean; eventId?: string | undefined } = {},
): { event: z.output<typeof Schema>; ops: WriteOp[] } {
  const text = JSON.stringify(payload);
  if (isLongerThan(text, MAX_PAYLOAD_BYTES))
    throw invalid({
      path: ['data'],
      code: 'too_big',
      message: `data is too large: together with actionUser and metadata it must be at most ${MAX_PAYLOAD_BYTES} bytes as JSON`,
    });
  const digest = digestOf([tenant, cause.type, cause.id, cause.revision, event.event]);
  const eventId = givenId ?? toMessageId(digest);
  const shard = (digest.at(-1) ?? 0) % outboxShards;
  const isSmall = !isLongerThan(text, SMALL_PAYLOAD_BYTES);
  const stored = {
    eventId,
    ...event,
    channels: channels && [...channels],
    createdAt: now,
    shard,
    ...(payload.audience && { hasAudience: true }),
    ...(isSmall && { smallPayload: text }),
    ...(fannedOut && { fannedOutAt: now }),
  };
  const ops = [insert(EventEntity, { tenant, ...stored })];
  if (!isSmall) ops.push(insert(EventPayloadEntity, { tenant, eventId, payload: text, createdAt: now }));
  return { event: stored, ops };
}

function digestOf(parts: readonly (string | number)[]): Buffer {
  return hash('sha256', JSON.stringify(parts), 'buffer');
}

function toMessageId(digest: Buffer): string {
  return `msg_${digest.toString('base64url').replace(/[-_]/g, '0').slice(0, 27)}`;
}

/**
 * Matches event ids of customers that can be message ids. They are valid in a header, and do not begin with `msg_` as generated ids
 * do.
 */
const MESSAGE_ID = /^(?!msg_)[\w-]{1,64}$/;

/**
 * Returns the message id for an event id that a customer chose. An id that matches `MESSAGE_ID` is the message id itself. For any
 * other id, the message id is a digest.
 */
export function publishedId(tenant: string, id: string): string {
  return MESSAGE_ID.test(id) ? id : toMessageId(digestOf([tenant, 'Published', id]));
}

/** Returns the event in a stream record. Returns undefined if the event has expired or was never in the outbox. */
export function toInsertedEvent(item: Record<string, unknown>, now: number): StoredEvent | undefined {
  const event = EventEntity.fromItem(item, now);
  return event && event.fannedOutAt === undefined ? { ...event, tenant: tenantOf(item as unknown as Key) } : undefined;
}

/** Reads events in the outbox and removes them from it. */
export class OutboxStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Returns events with their payloads, without events whose payload has expired, and without events that have left the outbox.
   * Lambda also repeats the events that follow a failed event in its batch. If their work were repeated, a notification that a
   * user has deleted would come back. Reads all events, and the payloads that are not small.
   */
  async withPayloads(events: readonly StoredEvent[]): Promise<EventToDeliver[]> {
    const [current, largePayloads] = await Promise.all([
      this.#table.getMany(EventEntity, events),
      this.#table.batchGet(...events.filter(({ smallPayload }) => smallPayload === undefined).map(payloadItem)),
    ]);
    const nextLarge = largePayloads.values();
    return events.flatMap((event, index) => {
      const payload = smallPayloadOf(event) ?? nextLarge.next().value;
      return payload && current[index]?.fannedOutAt === undefined ? [{ ...event, payload }] : [];
    });
  }

  /** Removes an event from the outbox. Does nothing if another worker has changed the event. */
  async markFannedOut(event: StoredEvent, now: number): Promise<void> {
    await this.#table.write([replace(EventEntity, { ...event, fannedOutAt: now }, event._r)]);
  }

  /** Lists a shard's events in the outbox that were written before `before` (epoch ms), oldest first. */
  async listPending(shard: number, before: number, options: PageOptions): Promise<ItemPage<StoredEvent>> {
    const { values, next } = await readDue(this.#table, EventEntity, pendingEvents(shard), before, options);
    return { values: values.filter(({ fannedOutAt }) => fannedOutAt === undefined), next };
  }
}

export const processOutbox: Capability<Pick<OutboxStore, 'withPayloads' | 'markFannedOut'>> =
  /* @__PURE__ */ storeCapability(OutboxStore, ['BatchGetItem', 'PutItem']);

export const endOutbox: Capability<Pick<OutboxStore, 'markFannedOut'>> = /* @__PURE__ */ storeCapability(OutboxStore, [
  'PutItem',
]);

export const listOutbox: Capability<Pick<OutboxStore, 'listPending'>> = /* @__PURE__ */ storeCapability(
  OutboxStore,
  ['BatchGetItem'],
  ['gsi3'],
);
