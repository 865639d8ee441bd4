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
import { insert, type ItemRead, type PageOptions, replace, type Table, upsert, type WriteOp } from '../table/table.ts';
import { isInboxOnly } from './rules/inboxOnly.ts';
import { type EventPayload, MAX_PAYLOAD_BYTES } from './rules/payload.ts';

export const EVENT_LIFETIME_SECONDS = 30 * 24 * 60 * 60;

export function eventPartition({ tenant, eventId }: { tenant: string; eventId: string }): string[] {
  return [tenant, 'EVENT', eventId];
}

/** A partition of an index allows about 1,000 writes per second. Due deliveries have as many partitions. */
export const outboxShards = 128;
export const tenantShards = 16;

const Schema = z.object({
  eventId: z.string(),
  event: z.string(),
  organizationId: z.string().optional(),
  documentId: z.string().optional(),
  channels: z.array(z.string()).optional(),
  createdAt: z.number(),
  shard: z.number(),
  hasAudience: z.boolean().optional(),
  smallPayload: z.string().optional(),
  fannedOutAt: z.number().optional(),
  /** Epoch ms. Set if mails wait longer for their time than events live. */
  keptUntil: z.number().optional(),
});

export type StoredEvent = Stored<z.output<typeof Schema>> & { readonly tenant: string };

export type EventToDeliver = StoredEvent & { readonly payload: EventPayload };

export const EventEntity = defineEntity({
  type: 'Event',
  version: 2,
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
      holds: 'events of a tenant that webhooks can have, by shard and time, with their types',
      pk: ({ tenant, shard, event }) => (isInboxOnly(event) ? undefined : tenantEvents(tenant, shard % tenantShards)),
      sk: ({ createdAt, eventId, event }) => [isoTime(createdAt), eventId, event],
    },
  },
  expiresAt,
});

function expiresAt({ createdAt, keptUntil = 0 }: { createdAt: number; keptUntil?: number | undefined }): number {
  return Math.max(Math.floor(createdAt / 1000) + EVENT_LIFETIME_SECONDS, Math.ceil(keptUntil / 1000));
}

export function tenantEvents(tenant: string, shard: number): string[] {
  return [tenant, 'EVENTS', String(shard)];
}

export function pendingEvents(shard: number): string[] {
  return ['PENDING', String(shard)];
}

/**
 * With ids of usual length, such an event has at most 3 KB, so its two writes cost no more than with a separate
 * payload.
 */
const SMALL_PAYLOAD_BYTES = 2_400;

export const EventPayloadEntity = defineEntity({
  type: 'EventPayload',
  version: 2,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'The payload of an event as JSON text, if it has more than 2,400 bytes',
  schema: z.object({ payload: z.string(), createdAt: z.number(), keptUntil: z.number().optional() }),
  pk: eventPartition,
  sk: (_key: unknown) => ['PAYLOAD'],
  expiresAt,
});

export function payloadItem(key: { tenant: string; eventId: string }): ItemRead<EventPayload> {
  return { key: EventPayloadEntity.key(key), fromItem: parsePayload };
}

function parsePayload(item: Record<string, unknown>, now: number): Stored<EventPayload> | undefined {
  const stored = EventPayloadEntity.fromItem(item, now);
  return stored && { ...(JSON.parse(stored.payload) as EventPayload), _r: stored._r };
}

export function smallPayloadOf({ smallPayload }: Pick<StoredEvent, 'smallPayload'>): EventPayload | undefined {
  return smallPayload === undefined ? undefined : (JSON.parse(smallPayload) as EventPayload);
}

/** If no event id is given, it derives from the cause, so a repeated request writes no second event. */
export interface Cause {
  readonly type: string;
  readonly id: string;
  readonly revision: number | string;
}

export interface NewEvent {
  readonly event: string;
  readonly cause: Cause;
  readonly organizationId?: string | undefined;
  readonly documentId?: string | undefined;
  readonly channels?: readonly string[] | undefined;
  readonly payload: EventPayload;
}

/** Add the operations to the transaction of the change. Throws INVALID_ARGUMENT for a payload above 256 KB. */
export function emit(tenant: string, event: NewEvent, now: number): WriteOp[] {
  return recordEvent(tenant, event, now).ops;
}

/** With `fannedOut`, the event does not enter the outbox. */
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

const MESSAGE_ID = /^(?!msg_)[\w-]{1,64}$/;

/** The id that a customer chose, or its digest if it cannot be a message id. */
export function publishedId(tenant: string, id: string): string {
  return MESSAGE_ID.test(id) ? id : toMessageId(digestOf([tenant, 'Published', id]));
}

/** Undefined if the event has expired or was never in the outbox. */
export function toInsertedEvent(item: Record<string, unknown>, now: number): StoredEvent | undefined {
  const event = EventEntity.fromItem(item, now);
  return event && event.fannedOutAt === undefined ? { ...event, tenant: tenantOf(item as unknown as Key) } : undefined;
}

export class OutboxStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Leaves out events that have left the outbox or whose payload has expired. Lambda repeats the events after a failed
   * one in its batch: without this read, a notification that a user has deleted would come back.
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

  async markFannedOut(event: StoredEvent, now: number): Promise<void> {
    await this.#table.write([replace(EventEntity, { ...event, fannedOutAt: now }, event._r)]);
  }

  /**
   * Writes the event and its payload again, so that they live until `keptUntil` (epoch ms). Changes nothing if they
   * live longer anyway. Returns the event to mark as fanned out.
   */
  async keep(event: EventToDeliver, keptUntil: number): Promise<StoredEvent> {
    const { payload, ...stored } = event;
    if (keptUntil <= expiresAt(event) * 1000) return stored;
    const { tenant, eventId, createdAt, smallPayload } = event;
    if (smallPayload === undefined)
      await this.#table.write([
        upsert(EventPayloadEntity, { tenant, eventId, payload: JSON.stringify(payload), createdAt, keptUntil }),
      ]);
    return { ...stored, keptUntil };
  }

  async listPending(shard: number, before: number, options: PageOptions): Promise<ItemPage<StoredEvent>> {
    const { values, next } = await readDue(this.#table, EventEntity, pendingEvents(shard), before, options);
    return { values: values.filter(({ fannedOutAt }) => fannedOutAt === undefined), next };
  }
}

export const processOutbox: Capability<Pick<OutboxStore, 'withPayloads' | 'keep' | 'markFannedOut'>> =
  /* @__PURE__ */ storeCapability(OutboxStore, ['BatchGetItem', 'PutItem']);

export const endOutbox: Capability<Pick<OutboxStore, 'markFannedOut'>> = /* @__PURE__ */ storeCapability(OutboxStore, [
  'PutItem',
]);

export const listOutbox: Capability<Pick<OutboxStore, 'listPending'>> = /* @__PURE__ */ storeCapability(
  OutboxStore,
  ['BatchGetItem'],
  ['gsi3'],
);
