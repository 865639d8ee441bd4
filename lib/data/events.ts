import { createHash } from 'node:crypto';
import * as z from 'zod';
import { isLongerThan } from '../bytes.ts';
import { ApiError } from '../errors.ts';
import type { EventPayload } from '../domain/events/payload.ts';
import { defineEntity } from './entity.ts';
import { insert, type WriteOp } from './table.ts';

const LIFETIME_SECONDS = 30 * 24 * 60 * 60;
const LARGEST_PAYLOAD_BYTES = 256 * 1024;
/** Pending events are spread over this many index partitions, so that no tenant's burst can throttle the table's writes. */
const SHARDS = 16;

const day = (at: number) => new Date(at).toISOString().slice(0, 10);
const instant = (at: number) => new Date(at).toISOString();

/** That something happened: the outbox. It is pending, and in gsi3, until deliveries have been made of it. */
export const EventEntity = defineEntity({
  type: 'Event',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'An event, written in the transaction of the change that caused it',
  schema: z.object({
    eventId: z.string(),
    event: z.string(),
    organizationId: z.string().optional(),
    documentId: z.string().optional(),
    channels: z.array(z.string()).optional(),
    createdAt: z.number(),
    shard: z.number(),
  }),
  pk: (of: { tenant: string; eventId: string }) => [of.tenant, 'EVENT', of.eventId],
  sk: (_key: unknown) => ['META'],
  indexes: {
    gsi3: { holds: 'events not yet fanned out, by shard and time', pk: ({ shard }) => ['PENDING', String(shard)], sk: ({ createdAt, eventId }) => [instant(createdAt), eventId] },
    gsi4: { holds: 'events of a tenant, by day, shard and time', pk: ({ tenant, createdAt, shard }) => [tenant, 'EVENTS', day(createdAt), String(shard)], sk: ({ createdAt, eventId }) => [instant(createdAt), eventId] },
  },
  expiresAt: ({ createdAt }) => Math.floor(createdAt / 1000) + LIFETIME_SECONDS,
});

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
export function emit(tenant: string, { payload, cause, channels, ...event }: NewEvent, now: number): WriteOp[] {
  const text = JSON.stringify(payload);
  if (isLongerThan(text, LARGEST_PAYLOAD_BYTES)) throw new ApiError('INVALID_ARGUMENT', `The payload of ${event.event} is larger than ${LARGEST_PAYLOAD_BYTES} bytes`);
  const digest = createHash('sha256').update(JSON.stringify([tenant, cause.type, cause.id, cause.revision, event.event])).digest();
  const eventId = `msg_${digest.toString('base64url').replace(/[-_]/g, '0').slice(0, 27)}`;
  const shard = (digest.at(-1) ?? 0) % SHARDS;
  return [
    insert(EventEntity, { tenant, eventId, ...event, channels: channels && [...channels], createdAt: now, shard }),
    insert(EventPayloadEntity, { tenant, eventId, payload: text, createdAt: now }),
  ];
}
