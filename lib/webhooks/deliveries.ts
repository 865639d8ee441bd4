import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { instantKey } from '../shared/times.ts';
import { Delivery, hasFailed, isPending, newDelivery, type Pending, recovered, resent } from './rules/delivery.ts';
import type { EndpointHealth } from './rules/health.ts';
import { attemptOutcomes } from './rules/outcome.ts';
import type { Timing } from './rules/schedule.ts';
import { inParallel } from '../shared/inParallel.ts';
import { defineEntity, indexPartition, type Stored } from '../table/entity.ts';
import { EventEntity, eventShards, type NewEvent, recordEvent, type StoredEvent } from '../events/outbox.ts';
import { tenantOf } from '../table/keys.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { insert, replace, type Table, upsert, itemOf, type WriteOp } from '../table/table.ts';
import { EndpointHealthEntity } from './endpointHealth.ts';
import { type Target, wantedTarget } from './targets.ts';
import { storeCapability } from '../table/storeCapability.ts';

const LIFETIME_SECONDS = 30 * 24 * 60 * 60;
const eventPartition = (of: { tenant: string; eventId: string }) => [of.tenant, 'EVENT', of.eventId];
const dueDeliveries = (shard: number) => ['DUE', String(shard)];
/** The index partition of an endpoint's deliveries, and that of the failed ones among them. */
export const deliveriesTo = (tenant: string, endpointId: string) => [tenant, 'ENDPOINT', endpointId];
export const failedDeliveriesTo = (tenant: string, endpointId: string) => [tenant, 'FAILED', endpointId];

/** What becomes of an event at one endpoint. In gsi3 it is while it is due, and when it has failed, until it is recovered. */
export const DeliveryEntity = defineEntity({
  type: 'Delivery',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'The delivery of an event to one endpoint: its state, attempts so far, and when the next one is due',
  schema: Delivery,
  pk: eventPartition,
  sk: (key: { endpointId: string }) => ['DELIVERY', key.endpointId],
  indexes: {
    gsi3: {
      holds:
        'deliveries that are pending, by shard and the time when the sweeper looks after them; those that failed, by endpoint and the time of their event',
      pk({ tenant, endpointId, status, shard, dueAt }) {
        if (dueAt !== undefined) return dueDeliveries(shard);
        return hasFailed(status) ? failedDeliveriesTo(tenant, endpointId) : undefined;
      },
      sk: ({ dueAt, createdAt, eventId, endpointId }) =>
        dueAt === undefined ? [instantKey(createdAt), eventId] : [instantKey(dueAt), eventId, endpointId],
    },
    gsi4: {
      holds: 'deliveries to an endpoint, by the time of their event',
      pk: ({ tenant, endpointId }) => deliveriesTo(tenant, endpointId),
      sk: ({ createdAt, eventId }) => [instantKey(createdAt), eventId],
    },
  },
  expiresAt: ({ createdAt }) => Math.floor(createdAt / 1000) + LIFETIME_SECONDS,
});

const AttemptSchema = z.object({
  endpointId: z.string(),
  /** From 1. */
  attempt: z.number(),
  /** Who made it. */
  claim: z.string(),
  /** When it began, epoch ms. */
  at: z.number(),
  outcome: z.enum(attemptOutcomes),
  responseStatus: z.number().optional(),
  /** The first 16 KiB, as they came: a text of the receiver's, to be escaped wherever it is shown. */
  responseBody: z.instanceof<typeof Uint8Array<ArrayBufferLike>>(Uint8Array).optional(),
  /** Why there was no answer or no good one, in a few words of ours. */
  error: z.string().optional(),
  durationMs: z.number(),
  /** Whether somebody asked for it, out of schedule. */
  byHand: z.boolean(),
});
export type Attempt = z.output<typeof AttemptSchema>;

/** One attempt, as the log shows it. Its key says who made it, so that one that was made twice is there twice. */
export const AttemptEntity = defineEntity({
  type: 'Attempt',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'One attempt of a delivery and what the receiver answered',
  schema: AttemptSchema,
  pk: eventPartition,
  sk: (key: { endpointId: string; attempt: number; claim: string }) => [
    'ATTEMPT',
    key.endpointId,
    String(key.attempt).padStart(6, '0'),
    key.claim,
  ],
  expiresAt: ({ at }) => Math.floor(at / 1000) + LIFETIME_SECONDS,
});

/** Whose delivery it is, which is a part of its key, and at which revision it was read. */
export interface Revision {
  readonly tenant: string;
  readonly _r: number;
}
export type StoredDelivery = Delivery & Revision;

/** A delivery that a message is to be sent about. */
export type DueDelivery = Pending & { readonly tenant: string };

/** Which delivery. */
export interface DeliveryKey {
  readonly tenant: string;
  readonly eventId: string;
  readonly endpointId: string;
}

/** Spread over the shards, so that what is due of one event does not lie in one of them. */
function shardOf({ shard }: { shard: number }, endpointId: string): number {
  return ([...endpointId].reduce((sum, character) => sum + (character.codePointAt(0) ?? 0), 0) + shard) % eventShards;
}

function made(
  event: Pick<StoredEvent, 'eventId' | 'event' | 'createdAt' | 'shard'>,
  endpointId: string,
  now: number,
  timing: Timing,
): Pending {
  const { eventId, event: type, createdAt } = event;
  return newDelivery({ eventId, endpointId, event: type, createdAt, shard: shardOf(event, endpointId) }, now, timing);
}

/** How many deliveries of one event are written at a time. */
const PARALLEL = 10;

export class DeliveryStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Writes the deliveries of an event to these endpoints; those that are there stay as they are. Gives what was to be written. */
  async make(event: StoredEvent, endpointIds: readonly string[], now: number, timing: Timing): Promise<DueDelivery[]> {
    const { tenant } = event;
    const deliveries = endpointIds.map((endpointId) => ({ ...made(event, endpointId, now, timing), tenant }));
    await inParallel(
      deliveries,
      PARALLEL,
      async (delivery) => void (await this.#table.write([insert(DeliveryEntity, delivery)])),
    );
    return deliveries;
  }

  /** What decides whether there is something to do: a delivery, where it goes and what is known of that, as they are now. One BatchGet. */
  async look(key: DeliveryKey): Promise<{
    delivery: StoredDelivery | undefined;
    target: Stored<Target> | undefined;
    health: Stored<EndpointHealth> | undefined;
  }> {
    const [stored, target, health] = await this.#table.batchGet(
      itemOf(DeliveryEntity, key),
      wantedTarget(key),
      itemOf(EndpointHealthEntity, key),
    );
    return { delivery: stored && { ...stored, tenant: key.tenant }, target, health };
  }

  async get(key: DeliveryKey): Promise<StoredDelivery | undefined> {
    const stored = await this.#table.get(DeliveryEntity, key);
    return stored && { ...stored, tenant: key.tenant };
  }

  /**
   * Writes what became of a delivery over the revision that was read, with whatever belongs to the change; gives it as it is stored then,
   * or `lost` when somebody else wrote.
   */
  async replace<D extends Delivery>(
    { tenant, _r }: Revision,
    next: D,
    more: readonly WriteOp[] = [],
  ): Promise<(D & Revision) | 'lost'> {
    const outcome = await this.#table.write([replace(DeliveryEntity, { ...next, tenant }, _r), ...more]);
    return outcome === 'done' ? { ...next, tenant, _r: _r + 1 } : 'lost';
  }

  /** Writes an attempt into the log. */
  async log(key: DeliveryKey, attempt: Omit<Attempt, 'endpointId'>): Promise<void> {
    await this.#table.write([upsert(AttemptEntity, { ...attempt, ...key })]);
  }

  /** Deliveries of a shard that were due at a time (epoch ms), the longest overdue first. */
  async due(
    shard: number,
    at: number,
    options: { limit: number; after?: string | undefined },
  ): Promise<{ deliveries: (Pending & Revision)[]; next: string | undefined }> {
    const between = [instantKey(0), instantKey(at)] as const;
    const { keys, next } = await this.#table.queryIndex('gsi3', indexPartition('tenant', dueDeliveries(shard)), {
      ...options,
      between,
    });
    const found = await this.#table.getByKeys(DeliveryEntity, keys);
    const deliveries = found.flatMap((delivery, index) =>
      delivery && isDueAt(delivery, at) ? [{ ...delivery, tenant: tenantOf(keys[index]!), _r: delivery._r }] : [],
    );
    return { deliveries, next };
  }

  /** The deliveries of an event. */
  async of(tenant: string, eventId: string): Promise<Stored<Delivery>[]> {
    const { values } = await this.#table.query(
      DeliveryEntity,
      { tenant, eventId },
      { prefix: ['DELIVERY'], limit: MOST_OF_ONE_EVENT },
    );
    return values;
  }

  /** The attempts of an event's deliveries, or of the one to an endpoint, by endpoint and number. */
  async attempts(
    tenant: string,
    eventId: string,
    options: { endpointId?: string | undefined; limit: number; after?: string | undefined },
  ): Promise<{ attempts: Stored<Attempt>[]; next: string | undefined }> {
    const { endpointId, limit, after } = options;
    // Bodies as JSON are many times as large as they are.
    const page = await this.#table.query(
      AttemptEntity,
      { tenant, eventId },
      { prefix: ['ATTEMPT', ...(endpointId === undefined ? [] : [endpointId])], limit, after, bytes: Infinity },
    );
    return { attempts: page.values, next: page.next };
  }

  /** Deliveries to an endpoint of events since a time (epoch ms), oldest first or newest first. Indexes show what is new a moment later. */
  async deliveriesOf(
    tenant: string,
    endpointId: string,
    since: number,
    options: { limit: number; after?: string | undefined; descending?: boolean },
  ): Promise<{ deliveries: StoredDelivery[]; next: string | undefined }> {
    const between = [instantKey(since), LAST] as const;
    const { keys, next } = await this.#table.queryIndex(
      'gsi4',
      indexPartition('tenant', deliveriesTo(tenant, endpointId)),
      { ...options, between },
    );
    const found = await this.#table.getByKeys(DeliveryEntity, keys);
    return { deliveries: found.flatMap((delivery) => (delivery ? [{ ...delivery, tenant }] : [])), next };
  }

  /**
   * Has an event attempted once more at an endpoint, at once and out of schedule, whatever became of it before; one that never was for
   * that endpoint is delivered like a new one. Gives the delivery that a message is to be sent about; undefined when there is no such event.
   */
  async resend(
    { tenant, eventId, endpointId }: DeliveryKey,
    now: number,
    timing: Timing,
  ): Promise<DueDelivery | undefined> {
    return retryOnConflict(async () => {
      const [event, stored] = await Promise.all([
        this.#table.get(EventEntity, { tenant, eventId }),
        this.get({ tenant, eventId, endpointId }),
      ]);
      if (!event) return undefined;
      const delivery = { ...(stored ? resent(stored, now, timing) : made(event, endpointId, now, timing)), tenant };
      const outcome = await this.#table.write([
        stored ? replace(DeliveryEntity, delivery, stored._r) : insert(DeliveryEntity, delivery),
      ]);
      return outcome === 'done' ? delivery : 'conflict';
    });
  }

  /**
   * Begins the schedule of a delivery anew that failed or was cancelled. Gives the delivery that a message is to be sent about; undefined
   * when it is in another state, also because somebody else was faster.
   */
  async recover(delivery: StoredDelivery, now: number, timing: Timing): Promise<DueDelivery | undefined> {
    if (!hasFailed(delivery.status)) return undefined;
    const stored = await this.replace(delivery, recovered(delivery, now, timing));
    return stored === 'lost' ? undefined : stored;
  }
}

/** An endpoint each, and the two of basic webhooks, with room for those that were deleted. */
const MOST_OF_ONE_EVENT = 1_000;
/** Behind all instants. */
const LAST = '~';

function isDueAt(delivery: Stored<Delivery>, at: number): delivery is Stored<Delivery> & Pending {
  return isPending(delivery) && delivery.dueAt <= at;
}

/**
 * The operations that write an event for one endpoint alone, with its delivery, and the delivery that a message is to be sent about:
 * for what is tried out.
 */
export function emitTo(
  tenant: string,
  endpointId: string,
  event: NewEvent,
  now: number,
  timing: Timing,
): { delivery: DueDelivery; ops: WriteOp[] } {
  const recorded = recordEvent(tenant, event, now, { fannedOut: true });
  const delivery = { ...made(recorded.event, endpointId, now, timing), tenant };
  return { delivery, ops: [...recorded.ops, insert(DeliveryEntity, delivery)] };
}

/** Make the deliveries of events. */
export const makeDeliveries: Capability<Pick<DeliveryStore, 'make'>> = /* @__PURE__ */ storeCapability(DeliveryStore, [
  'PutItem',
]);

/** Attempt deliveries. */
export const attemptDeliveries: Capability<Pick<DeliveryStore, 'look' | 'get' | 'replace' | 'log'>> =
  /* @__PURE__ */ storeCapability(DeliveryStore, ['GetItem', 'BatchGetItem', 'PutItem']);

/** Find deliveries that are due, and put them off. */
export const sweepDeliveries: Capability<Pick<DeliveryStore, 'due' | 'replace'>> = /* @__PURE__ */ storeCapability(
  DeliveryStore,
  ['BatchGetItem', 'PutItem'],
  ['gsi3'],
);

/** Read deliveries and their attempts. */
export const readDeliveries: Capability<Pick<DeliveryStore, 'get' | 'of' | 'attempts' | 'deliveriesOf'>> =
  /* @__PURE__ */ storeCapability(DeliveryStore, ['GetItem', 'BatchGetItem', 'Query'], ['gsi4']);

/** Have something delivered again. */
export const repeatDeliveries: Capability<Pick<DeliveryStore, 'resend' | 'recover'>> = /* @__PURE__ */ storeCapability(
  DeliveryStore,
  ['GetItem', 'PutItem'],
);
