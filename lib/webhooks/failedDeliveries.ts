import type { Capability } from '../app/capability.ts';
import { instantKey } from '../shared/times.ts';
import { hasFailed } from './rules/delivery.ts';
import { indexPartition } from '../table/entity.ts';
import type { Table } from '../table/table.ts';
import { DeliveryEntity, failedDeliveriesTo, type StoredDelivery } from './deliveries.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** Deliveries to an endpoint of events between two times, epoch ms, both included. */
export interface FailedRange {
  readonly tenant: string;
  readonly endpointId: string;
  readonly since: number;
  readonly until: number;
}

/** Finds deliveries that have failed, by an index that holds no others: however many were delivered, these cost what they are. */
export class FailedDeliveries {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** How many there are; more than `most` are not counted. */
  async count(range: FailedRange, most: number): Promise<number> {
    return (await this.#keys(range, { limit: most + 1 })).keys.length;
  }

  /** Those of a page of up to `limit`, oldest event first, that are still failed. */
  async list(
    range: FailedRange,
    options: { limit: number; after?: string | undefined },
  ): Promise<{ deliveries: StoredDelivery[]; next: string | undefined }> {
    const { tenant } = range;
    const { keys, next } = await this.#keys(range, options);
    const found = await this.#table.getByKeys(DeliveryEntity, keys);
    return {
      deliveries: found.flatMap((delivery) =>
        delivery && hasFailed(delivery.status) ? [{ ...delivery, tenant }] : [],
      ),
      next,
    };
  }

  #keys({ tenant, endpointId, since, until }: FailedRange, options: { limit: number; after?: string | undefined }) {
    // The last instant is followed by the ids of its events.
    const between = [instantKey(since), `${instantKey(until)}~`] as const;
    return this.#table.queryIndex('gsi3', indexPartition('tenant', failedDeliveriesTo(tenant, endpointId)), {
      ...options,
      between,
    });
  }
}

/** Count deliveries that have failed. */
export const countFailedDeliveries: Capability<Pick<FailedDeliveries, 'count'>> = /* @__PURE__ */ storeCapability(
  FailedDeliveries,
  [],
  ['gsi3'],
);

/** Find deliveries that have failed. */
export const findFailedDeliveries: Capability<Pick<FailedDeliveries, 'list'>> = /* @__PURE__ */ storeCapability(
  FailedDeliveries,
  ['BatchGetItem'],
  ['gsi3'],
);
