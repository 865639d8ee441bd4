import type { Capability } from '../app/capability.ts';
import {
  EVENT_LIFETIME_SECONDS,
  EventEntity,
  eventPartition,
  type NewEvent,
  outboxShards,
  recordEvent,
  type StoredEvent,
} from '../events/outbox.ts';
import { AFTER_ALL_TIMES, isoTime } from '../shared/isoTime.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { readDue, readGsi3, valuesOf } from '../table/indexValues.ts';
import type { ItemPage } from '../table/pages.ts';
import { queryShards, shardNumbers, shardOf } from '../table/queryShards.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insert, itemOf, type PageOptions, replace, type Table, upsert, type WriteOp } from '../table/table.ts';
import type { DueIndex } from '../workers/dueShards.ts';
import { deliveryLifetime, type Timing } from '../workers/rules/schedule.ts';
import { type DueDelivery, TEST_ATTEMPT } from './deliveryMessage.ts';
import { type FirstAttemptGroup, insertFirstAttempts, toFirstAttempts } from './firstAttempts.ts';
import {
  Delivery,
  hasFailed,
  isPending,
  newDelivery,
  type PendingDelivery,
  recoverDelivery,
  resendDelivery,
} from './rules/delivery.ts';
import { Attempt } from './rules/loggedAttempt.ts';
import type { EndpointKey } from './targets.ts';

const duePartition = (shard: number) => ['DUE', String(shard)];
export const dueDeliveryIndex: DueIndex = { shards: outboxShards, partition: duePartition };
/** Each index partition allows about 1,000 writes per second. */
const endpointShards = 8;
const deliveriesTo = (tenant: string, endpointId: string, shard: number) => [
  tenant,
  'ENDPOINT',
  endpointId,
  String(shard % endpointShards),
];
export const endpointPartitions = (tenant: string, endpointId: string) =>
  shardNumbers(endpointShards).map((shard) => deliveriesTo(tenant, endpointId, shard));
export const failedDeliveriesTo = (tenant: string, endpointId: string) => [tenant, 'FAILED', endpointId];

export const parkedShards = 8;
export const parkedDeliveriesTo = ({ tenant, endpointId }: EndpointKey, shard: number) => [
  tenant,
  'PARKED',
  endpointId,
  String(shard % parkedShards),
];

export const DeliveryEntity = defineEntity({
  type: 'Delivery',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose:
    'The delivery of an event to one endpoint: its status, its number of attempts, and the time of the next attempt',
  schema: Delivery,
  pk: eventPartition,
  sk: (key: { endpointId: string }) => ['DELIVERY', key.endpointId],
  indexes: {
    gsi3: {
      holds:
        'pending deliveries, by shard and due time; parked deliveries, by endpoint, shard and deadline; failed deliveries, by endpoint and the time of their event',
      pk({ tenant, endpointId, status, parked, shard, dueAt }) {
        if (dueAt !== undefined) return duePartition(shard);
        if (parked) return parkedDeliveriesTo({ tenant, endpointId }, shard);
        return hasFailed(status) ? failedDeliveriesTo(tenant, endpointId) : undefined;
      },
      sk({ dueAt, parked, deadline, createdAt, eventId, endpointId, event }) {
        if (dueAt !== undefined) return [isoTime(dueAt), eventId, endpointId];
        return parked ? [isoTime(deadline), eventId] : [isoTime(createdAt), eventId, event];
      },
    },
    gsi4: {
      holds: 'deliveries to an endpoint, by shard and the time of their event, with its type',
      pk: ({ tenant, endpointId, shard }) => deliveriesTo(tenant, endpointId, shard),
      sk: ({ createdAt, eventId, event }) => [isoTime(createdAt), eventId, event],
    },
  },
  expiresAt: ({ createdAt }) => Math.floor(createdAt / 1000) + EVENT_LIFETIME_SECONDS,
});

/**
 * The entry of most successful first attempts is in the delivery (`first`). Two attempts with the same number have
 * different claims.
 */
export const AttemptEntity = defineEntity({
  type: 'Attempt',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'One attempt of a delivery and what the receiver answered',
  schema: Attempt,
  pk: eventPartition,
  sk: (key: { endpointId: string; attempt: number; claim: string }) => [
    'ATTEMPT',
    key.endpointId,
    String(key.attempt).padStart(6, '0'),
    key.claim,
  ],
  expiresAt: ({ at }) => Math.floor(at / 1000) + EVENT_LIFETIME_SECONDS,
});

export interface DeliveryRevision {
  readonly tenant: string;
  readonly _r: number;
}
export type StoredDelivery<D extends Delivery = Delivery> = D & DeliveryRevision;

export interface DeliveryKey extends EndpointKey {
  readonly eventId: string;
}

export interface FailedRange extends EndpointKey {
  readonly since: number;
  readonly until: number;
}

/** Deliveries to deleted endpoints count too. */
const MAX_DELIVERIES_PER_EVENT = 1_000;

export function toDelivery(
  { tenant, eventId, event: type, createdAt, shard }: StoredEvent,
  endpointId: string,
  now: number,
  timing: Timing,
): StoredDelivery<PendingDelivery> {
  const dueShard = (shard + shardOf(endpointId, outboxShards)) % outboxShards;
  const of = { eventId, endpointId, event: type, createdAt, shard: dueShard };
  return { ...newDelivery(of, now, timing), tenant, _r: 0 };
}

export class DeliveryStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Returns the group of the first attempt, even if an event with the same cause exists and nothing is written. */
  async createFor(
    { tenant, endpointId }: EndpointKey,
    event: NewEvent,
    now: number,
    timing: Timing,
  ): Promise<FirstAttemptGroup> {
    const recorded = recordEvent(tenant, event, now, { fannedOut: true });
    const group = { ...toFirstAttempts({ ...recorded.event, tenant }, [endpointId], now, timing), group: TEST_ATTEMPT };
    // A failed condition means that the event is stored, because no other call uses its cause.
    await this.#table.write([...recorded.ops, insertFirstAttempts(group)]);
    return group;
  }

  async get(key: DeliveryKey): Promise<StoredDelivery | undefined> {
    const stored = await this.#table.get(DeliveryEntity, key);
    return stored && { ...stored, tenant: key.tenant };
  }

  /** Inserts the delivery if `_r` is 0. Returns `lost` on a conflict, and has then written nothing. */
  async replace<D extends Delivery>(
    { tenant, _r }: DeliveryRevision,
    next: D,
    more: readonly WriteOp[] = [],
  ): Promise<StoredDelivery<D> | 'lost'> {
    const value = { ...next, tenant };
    const op = _r === 0 ? insert(DeliveryEntity, value) : replace(DeliveryEntity, value, _r);
    const outcome = await this.#table.write([op, ...more]);
    return outcome === 'done' ? { ...next, tenant, _r: _r + 1 } : 'lost';
  }

  async logAttempt(key: DeliveryKey, attempt: Omit<Attempt, 'endpointId'>): Promise<void> {
    const { tenant, eventId, endpointId } = key;
    await this.#table.write([upsert(AttemptEntity, { ...attempt, tenant, eventId, endpointId })]);
  }

  async listDue(shard: number, at: number, options: PageOptions): Promise<ItemPage<StoredDelivery<PendingDelivery>>> {
    const { values, next } = await readDue(this.#table, DeliveryEntity, duePartition(shard), at, options);
    const isDue = (delivery: StoredDelivery): delivery is StoredDelivery<PendingDelivery> =>
      isPending(delivery) && delivery.dueAt <= at;
    return { values: values.filter(isDue), next };
  }

  /** The newest first. New deliveries can be missing for a moment, because the index is eventually consistent. */
  async latestOfEndpoint({ tenant, endpointId }: EndpointKey, limit: number): Promise<StoredDelivery[]> {
    const entries = await queryShards(this.#table, 'gsi4', endpointPartitions(tenant, endpointId), {
      between: [isoTime(0), AFTER_ALL_TIMES],
      limit,
      descending: true,
    });
    return valuesOf(
      this.#table,
      DeliveryEntity,
      entries.map(({ key }) => key),
    );
  }

  async listFailed(range: FailedRange, options: PageOptions): Promise<ItemPage<StoredDelivery>> {
    const partition = failedDeliveriesTo(range.tenant, range.endpointId);
    const { values, next } = await readGsi3(this.#table, DeliveryEntity, partition, {
      ...options,
      between: failedBounds(range),
    });
    return { values: values.filter(({ status }) => hasFailed(status)), next };
  }

  async countFailed(range: FailedRange, most: number): Promise<number> {
    const partition = failedDeliveriesTo(range.tenant, range.endpointId);
    const { keys } = await this.#table.queryIndex('gsi3', partition, {
      between: failedBounds(range),
      limit: most + 1,
    });
    return keys.length;
  }

  async listOfEvent(tenant: string, eventId: string): Promise<Stored<Delivery>[]> {
    const { values } = await this.#table.query(
      DeliveryEntity,
      { tenant, eventId },
      { prefix: ['DELIVERY'], limit: MAX_DELIVERIES_PER_EVENT, bytes: Infinity },
    );
    return values;
  }

  /**
   * Ordered by endpoint and number. Above `limit` attempts, lists only the last ones of this order, and `isComplete` is
   * false.
   */
  async listAttempts(
    tenant: string,
    eventId: string,
    { endpointId, limit }: { endpointId?: string | undefined; limit: number },
  ): Promise<{ attempts: Attempt[]; isComplete: boolean }> {
    const prefix = endpointId === undefined ? ['ATTEMPT'] : ['ATTEMPT', endpointId];
    // Only `limit` ends the page: `bytes` counts JSON, in which response bodies are many times larger.
    const options = { prefix, limit, descending: true, bytes: Infinity };
    const [{ values, next }, deliveries] = await Promise.all([
      this.#table.query(AttemptEntity, { tenant, eventId }, options),
      endpointId === undefined
        ? this.listOfEvent(tenant, eventId)
        : this.#table.batchGet(itemOf(DeliveryEntity, { tenant, eventId, endpointId })),
    ]);
    const firsts = deliveries.flatMap((delivery) =>
      delivery?.first ? [{ ...delivery.first, endpointId: delivery.endpointId, attempt: 1 }] : [],
    );
    const attempts = [...firsts, ...values].sort((a, b) => {
      if (a.endpointId !== b.endpointId) return a.endpointId < b.endpointId ? -1 : 1;
      return a.attempt - b.attempt;
    });
    return { attempts: attempts.slice(-limit), isComplete: next === undefined && attempts.length <= limit };
  }

  /**
   * Plans one more attempt now, outside the schedule. A repetition with the same `resendId` plans no other. Returns the
   * delivery for the queue message, an empty list if a repetition finds it not pending, and undefined if the event does
   * not exist.
   */
  async resend(
    { tenant, eventId, endpointId, resendId }: DeliveryKey & { readonly resendId: string },
    now: number,
    timing: Timing,
  ): Promise<DueDelivery[] | undefined> {
    return retryOnConflict(async () => {
      const [event, stored] = await Promise.all([
        this.#table.get(EventEntity, { tenant, eventId }),
        this.get({ tenant, eventId, endpointId }),
      ]);
      if (!event) return undefined;
      if (stored?.resendId === resendId) return isPending(stored) ? [stored] : [];
      const first = toDelivery({ ...event, tenant }, endpointId, now, timing);
      const next = stored
        ? resendDelivery(stored, now, timing)
        : { ...first, deadline: now + deliveryLifetime(timing.schedule) };
      const written = await this.replace(stored ?? first, { ...next, resendId });
      return written === 'lost' ? 'conflict' : [written];
    });
  }

  /** Starts the schedule again. Undefined if the delivery has not failed or another writer was first. */
  async recover(delivery: StoredDelivery, now: number, timing: Timing): Promise<DueDelivery | undefined> {
    if (!hasFailed(delivery.status)) return undefined;
    const stored = await this.replace(delivery, recoverDelivery(delivery, now, timing));
    return stored === 'lost' ? undefined : stored;
  }
}

function failedBounds({ since, until }: FailedRange): readonly [string, string] {
  // The upper bound sorts after all event ids at `until`.
  return [isoTime(since), `${isoTime(until)}${AFTER_ALL_TIMES}`];
}

export const createDeliveries: Capability<Pick<DeliveryStore, 'createFor'>> = /* @__PURE__ */ storeCapability(
  DeliveryStore,
  ['PutItem'],
);

export const attemptDeliveries: Capability<Pick<DeliveryStore, 'get' | 'replace' | 'logAttempt'>> =
  /* @__PURE__ */ storeCapability(DeliveryStore, ['GetItem', 'PutItem']);

export const dueDeliveries: Capability<Pick<DeliveryStore, 'listDue' | 'replace'>> = /* @__PURE__ */ storeCapability(
  DeliveryStore,
  ['BatchGetItem', 'PutItem'],
  ['gsi3'],
);

export const readAttempts: Capability<Pick<DeliveryStore, 'listAttempts'>> = /* @__PURE__ */ storeCapability(
  DeliveryStore,
  ['BatchGetItem', 'Query'],
);

export const resendDeliveries: Capability<Pick<DeliveryStore, 'resend'>> = /* @__PURE__ */ storeCapability(
  DeliveryStore,
  ['GetItem', 'PutItem'],
);

export const countFailedDeliveries: Capability<Pick<DeliveryStore, 'countFailed'>> = /* @__PURE__ */ storeCapability(
  DeliveryStore,
  [],
  ['gsi3'],
);

export const recoverDeliveries: Capability<Pick<DeliveryStore, 'listFailed' | 'recover'>> =
  /* @__PURE__ */ storeCapability(DeliveryStore, ['GetItem', 'BatchGetItem', 'PutItem'], ['gsi3']);
