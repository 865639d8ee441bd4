import { createHash } from 'node:crypto';
import * as z from 'zod';
import { isLongerThan } from '../shared/bytes.ts';
import type { Capability } from '../app/capability.ts';
import { instantKey } from '../shared/times.ts';
import { type EventPayload, LARGEST_PAYLOAD_BYTES } from './rules/payload.ts';
import { ApiError } from '../shared/errors.ts';
import { defineEntity, indexPartition, type Key, type Stored } from '../table/entity.ts';
import { tenantOf } from '../table/keys.ts';
import { insert, replace, type Table, itemOf, type WriteOp } from '../table/table.ts';
import { storeCapability } from '../table/storeCapability.ts';

const LIFETIME_SECONDS = 30 * 24 * 60 * 60;
/** Pending events are spread over this many index partitions, so that no tenant's burst can throttle the table's writes. */
export const eventShards = 16;

const Schema = z.object({
  eventId: z.string(),
  event: z.string(),
  /** Under the customer's ids. */
  organizationId: z.string().optional(),
  documentId: z.string().optional(),
  channels: z.array(z.string()).optional(),
  createdAt: z.number(),
  shard: z.number(),
  /** When all deliveries of it had been made and their messages sent, epoch ms. */
  fannedOutAt: z.number().optional(),
});

/** An event with its tenant, which is a part of its key. */
export type StoredEvent = Stored<z.output<typeof Schema>> & { readonly tenant: string };

/** An event with what it says. */
export type EventToDeliver = StoredEvent & { readonly payload: EventPayload };

/** That something happened: the outbox. It is pending, and in gsi3, until deliveries have been made of it. */
export const EventEntity = defineEntity({
  type: 'Event',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'An event, written in the transaction of the change that caused it',
  schema: Schema,
  pk: (of: { tenant: string; eventId: string }) => [of.tenant, 'EVENT', of.eventId],
  sk: (_key: unknown) => ['META'],
  indexes: {
    gsi3: {
      holds: 'events not yet fanned out, by shard and time',
      pk: ({ shard, fannedOutAt }) => (fannedOutAt === undefined ? pendingEvents(shard) : undefined),
      sk: ({ createdAt, eventId }) => [instantKey(createdAt), eventId],
    },
    gsi4: {
      holds: 'events of a tenant, by shard and time',
      pk: ({ tenant, shard }) => eventsOf(tenant, shard),
      sk: ({ createdAt, eventId }) => [instantKey(createdAt), eventId],
    },
  },
  expiresAt: ({ createdAt }) => Math.floor(createdAt / 1000) + LIFETIME_SECONDS,
});

/** The index partition of a tenant's events in one shard. */
export function eventsOf(tenant: string, shard: number): string[] {
  return [tenant, 'EVENTS', String(shard)];
}

function pendingEvents(shard: number): string[] {
  return ['PENDING', String(shard)];
}

/** What an event says, apart from the event itself so that marking that one as fanned out stays cheap. */
export const EventPayloadEntity = defineEntity({
  type: 'EventPayload',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'The payload of an event, as JSON text',
  schema: z.object({ payload: z.string(), createdAt: z.number() }),
  pk: (of: { tenant: string; eventId: string }) => [of.tenant, 'EVENT', of.eventId],
  sk: (_key: unknown) => ['PAYLOAD'],
  expiresAt: ({ createdAt }) => Math.floor(createdAt / 1000) + LIFETIME_SECONDS,
});

/** What changed, and to which revision: the same change makes the same event, however often the request is repeated. */
export interface Cause {
  readonly type: string;
  readonly id: string;
  readonly revision: number | string;
}

export interface NewEvent {
  /** A dotted event type, as in `comment.add`. */
  readonly event: string;
  readonly cause: Cause;
  readonly organizationId?: string | undefined;
  readonly documentId?: string | undefined;
  readonly channels?: readonly string[] | undefined;
  readonly payload: EventPayload;
}

/**
 * The operations that write an event; they go into the transaction of the change that caused it, so that neither can be
 * stored without the other. INVALID_ARGUMENT when the payload is larger than 256 KB.
 */
export function emit(tenant: string, event: NewEvent, now: number): WriteOp[] {
  return recordEvent(tenant, event, now).ops;
}

/**
 * The same, with the event itself; `fannedOut` for one of which all deliveries are written beside it, `eventId` for one whose id the
 * caller has chosen.
 */
export function recordEvent(
  tenant: string,
  { payload, cause, channels, ...event }: NewEvent,
  now: number,
  { fannedOut = false, eventId: chosen }: { fannedOut?: boolean; eventId?: string | undefined } = {},
): { event: z.output<typeof Schema>; ops: WriteOp[] } {
  const text = JSON.stringify(payload);
  if (isLongerThan(text, LARGEST_PAYLOAD_BYTES))
    throw new ApiError(
      'INVALID_ARGUMENT',
      `The payload of ${event.event} is larger than ${LARGEST_PAYLOAD_BYTES} bytes`,
    );
  const digest = digestOf([tenant, cause.type, cause.id, cause.revision, event.event]);
  const eventId = chosen ?? idOf(digest);
  const shard = (digest.at(-1) ?? 0) % eventShards;
  const stored = {
    eventId,
    ...event,
    channels: channels && [...channels],
    createdAt: now,
    shard,
    ...(fannedOut && { fannedOutAt: now }),
  };
  return {
    event: stored,
    ops: [
      insert(EventEntity, { tenant, ...stored }),
      insert(EventPayloadEntity, { tenant, eventId, payload: text, createdAt: now }),
    ],
  };
}

function digestOf(of: readonly (string | number)[]): Buffer {
  return createHash('sha256').update(JSON.stringify(of)).digest();
}

function idOf(digest: Buffer): string {
  return `msg_${digest.toString('base64url').replace(/[-_]/g, '0').slice(0, 27)}`;
}

/** What can be the id of a message as it is: it goes into a header and into signatures. Ours begin with `msg_`. */
const MESSAGE_ID = /^(?!msg_)[\w-]{1,64}$/;

/** The id of the message of an event that its publisher has an id for, whatever the event says: that id, or one that follows from it. */
export function publishedId(tenant: string, id: string): string {
  return MESSAGE_ID.test(id) ? id : idOf(digestOf([tenant, 'Published', id]));
}

/** The event of an item as the stream brings it; undefined when its time is over, or when deliveries were made of it as it was written. */
export function insertedEvent(item: Record<string, unknown>, now: number): StoredEvent | undefined {
  const event = EventEntity.fromItem(item, now);
  return event && event.fannedOutAt === undefined ? { ...event, tenant: tenantOf(item as unknown as Key) } : undefined;
}

/** The outbox as those see it who empty it. */
export class EventStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Those of the events that are still in the outbox, with what they say. One BatchGet per 50, in parallel. */
  async toDeliver(events: readonly { tenant: string; eventId: string }[]): Promise<EventToDeliver[]> {
    const found = await this.#table.batchGet(
      ...events.flatMap((event) => [itemOf(EventEntity, event), itemOf(EventPayloadEntity, event)] as const),
    );
    return events.flatMap(({ tenant }, index) => {
      const [event, text] = [found[2 * index], found[2 * index + 1]] as [
        Stored<z.output<typeof Schema>> | undefined,
        { payload: string } | undefined,
      ];
      return event && text && event.fannedOutAt === undefined
        ? [{ ...event, tenant, payload: JSON.parse(text.payload) as EventPayload }]
        : [];
    });
  }

  /** Takes an event out of the outbox: all deliveries of it are made. Once more changes nothing. */
  async fannedOut(event: StoredEvent, now: number): Promise<void> {
    await this.#table.write([replace(EventEntity, { ...event, fannedOutAt: now }, event._r)]);
  }

  /** Events of a shard that were written before a time (epoch ms) and are still in the outbox, oldest first. */
  async pending(
    shard: number,
    before: number,
    options: { limit: number; after?: string | undefined },
  ): Promise<{ events: StoredEvent[]; next: string | undefined }> {
    const between = [instantKey(0), instantKey(before)] as const;
    const { keys, next } = await this.#table.queryIndex('gsi3', indexPartition('tenant', pendingEvents(shard)), {
      ...options,
      between,
    });
    const found = await this.#table.getByKeys(EventEntity, keys);
    const events = found.flatMap((event, index) =>
      event && event.fannedOutAt === undefined ? [{ ...event, tenant: tenantOf(keys[index]!) }] : [],
    );
    return { events, next };
  }
}

/** Take events out of the outbox. */
export const emptyOutbox: Capability<Pick<EventStore, 'toDeliver' | 'fannedOut'>> = /* @__PURE__ */ storeCapability(
  EventStore,
  ['BatchGetItem', 'PutItem'],
);

/** Find what was left in the outbox. */
export const findPendingEvents: Capability<Pick<EventStore, 'pending'>> = /* @__PURE__ */ storeCapability(
  EventStore,
  ['BatchGetItem'],
  ['gsi3'],
);
