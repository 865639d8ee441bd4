import { createHash } from 'node:crypto';
import * as z from 'zod';
import { isLongerThan } from '../shared/bytes.ts';
import type { Capability } from '../app/capability.ts';
import { isoTime } from '../shared/isoTime.ts';
import { type EventPayload, LARGEST_PAYLOAD_BYTES } from './rules/payload.ts';
import { ApiError } from '../shared/errors.ts';
import { defineEntity, indexPartition, type Key, type Stored } from '../table/entity.ts';
import { tenantOf } from '../table/keys.ts';
import { insert, type ItemRead, replace, type Table, type WriteOp } from '../table/table.ts';
import { storeCapability } from '../table/storeCapability.ts';

const LIFETIME_SECONDS = 30 * 24 * 60 * 60;
/** The entries of the outbox and of due deliveries are spread over this many index partitions, each for about 1,000 writes a second. */
export const outboxShards = 128;
/** The events of a tenant are listed from this many index partitions. */
export const tenantShards = 16;

const Schema = z.object({
  eventId: z.string(),
  event: z.string(),
  /** Under the customer's ids. */
  organizationId: z.string().optional(),
  documentId: z.string().optional(),
  channels: z.array(z.string()).optional(),
  createdAt: z.number(),
  /** From 0 to 127. */
  shard: z.number(),
  /** Whether the event has an audience: users who may get a mail or an in-app notification. */
  hasAudience: z.boolean().optional(),
  /** When the event left the outbox, epoch ms: its first attempts have ended or are in groups, and mails and notifications are written. */
  fannedOutAt: z.number().optional(),
});

/** An event with its tenant. */
export type StoredEvent = Stored<z.output<typeof Schema>> & { readonly tenant: string };

/** An event with its payload. */
export type EventToDeliver = StoredEvent & { readonly payload: EventPayload };

/** An event. It is in the outbox, which is in gsi3, until nothing depends on it any more: all its work is done, or is stored elsewhere. */
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
  expiresAt: ({ createdAt }) => Math.floor(createdAt / 1000) + LIFETIME_SECONDS,
});

/** Returns the index partition (gsi4) of a tenant's events in one shard. */
export function tenantEvents(tenant: string, shard: number): string[] {
  return [tenant, 'EVENTS', String(shard)];
}

function pendingEvents(shard: number): string[] {
  return ['PENDING', String(shard)];
}

/** The payload of an event. A separate item keeps the mark for fan-out cheap. */
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

/** Returns the item of an event's payload for a batch read. */
export function payloadItem(key: { tenant: string; eventId: string }): ItemRead<EventPayload> {
  return { key: EventPayloadEntity.key(key), fromItem: parsePayload };
}

function parsePayload(item: Record<string, unknown>, now: number): Stored<EventPayload> | undefined {
  const stored = EventPayloadEntity.fromItem(item, now);
  return stored && { ...(JSON.parse(stored.payload) as EventPayload), _r: stored._r };
}

/** The change behind an event. The event id derives from it, so a repeated request writes no second event. */
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
 * Returns the operations that write an event, for the transaction of the change that causes it. Throws INVALID_ARGUMENT for a payload larger
 * than 256 KB.
 */
export function emit(tenant: string, event: NewEvent, now: number): WriteOp[] {
  return recordEvent(tenant, event, now).ops;
}

/** Does the same and also returns the event. `fannedOut`: its first attempts are in the same transaction. `eventId`: the id is not derived from the cause. */
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
  const eventId = chosen ?? toMessageId(digest);
  const shard = (digest.at(-1) ?? 0) % outboxShards;
  const stored = {
    eventId,
    ...event,
    channels: channels && [...channels],
    createdAt: now,
    shard,
    ...(payload.audience && { hasAudience: true }),
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

function toMessageId(digest: Buffer): string {
  return `msg_${digest.toString('base64url').replace(/[-_]/g, '0').slice(0, 27)}`;
}

/** Publishers' ids that can be message ids unchanged, in a header and in signatures. Generated ids begin with `msg_`. */
const MESSAGE_ID = /^(?!msg_)[\w-]{1,64}$/;

/** Returns the message id of an event with a publisher's id: that id if it is valid, else one derived from it. */
export function publishedId(tenant: string, id: string): string {
  return MESSAGE_ID.test(id) ? id : toMessageId(digestOf([tenant, 'Published', id]));
}

/** Returns the event of a stream record; undefined when it has expired, or its first attempts were written together with it. */
export function toInsertedEvent(item: Record<string, unknown>, now: number): StoredEvent | undefined {
  const event = EventEntity.fromItem(item, now);
  return event && event.fannedOutAt === undefined ? { ...event, tenant: tenantOf(item as unknown as Key) } : undefined;
}

/** The outbox, for fan-out and the sweeper. */
export class OutboxStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Returns these events with their payloads, except expired ones. One BatchGet per 100 events, in parallel. */
  async withPayloads(events: readonly StoredEvent[]): Promise<EventToDeliver[]> {
    const payloads = await this.#table.batchGet(...events.map(payloadItem));
    return events.flatMap((event, index) => {
      const payload = payloads[index];
      return payload ? [{ ...event, payload }] : [];
    });
  }

  /** Removes an event from the outbox. Does nothing if another worker did. */
  async markFannedOut(event: StoredEvent, now: number): Promise<void> {
    await this.#table.write([replace(EventEntity, { ...event, fannedOutAt: now }, event._r)]);
  }

  /** Lists the events of a shard in the outbox that were written before a time (epoch ms), oldest first. */
  async listPending(
    shard: number,
    before: number,
    options: { limit: number; after?: string | undefined },
  ): Promise<{ values: StoredEvent[]; next: string | undefined }> {
    const between = [isoTime(0), isoTime(before)] as const;
    const { keys, next } = await this.#table.queryIndex('gsi3', indexPartition('tenant', pendingEvents(shard)), {
      ...options,
      between,
    });
    const found = await this.#table.getByKeys(EventEntity, keys);
    const values = keys.flatMap((key, index) => {
      const event = found[index];
      return event && event.fannedOutAt === undefined ? [{ ...event, tenant: tenantOf(key) }] : [];
    });
    return { values, next };
  }
}

/** Read the payloads of events and remove them from the outbox. */
export const processOutbox: Capability<Pick<OutboxStore, 'withPayloads' | 'markFannedOut'>> =
  /* @__PURE__ */ storeCapability(OutboxStore, ['BatchGetItem', 'PutItem']);

/** Remove events from the outbox. */
export const endOutbox: Capability<Pick<OutboxStore, 'markFannedOut'>> = /* @__PURE__ */ storeCapability(OutboxStore, [
  'PutItem',
]);

export const listOutbox: Capability<Pick<OutboxStore, 'listPending'>> = /* @__PURE__ */ storeCapability(
  OutboxStore,
  ['BatchGetItem'],
  ['gsi3'],
);
