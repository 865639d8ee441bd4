import type { Capability } from '../app/capability.ts';
import { restartJob } from '../jobs/jobStore.ts';
import { isoTime } from '../shared/isoTime.ts';
import { defineEntity, type Key, type Stored } from '../table/entity.ts';
import { tenantOf } from '../table/keys.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insertOrReplace, type Table } from '../table/table.ts';
import { parkingJob } from './parkingJob.ts';
import { checkBreaker } from './rules/breaker.ts';
import { EndpointHealth, healthAt } from './rules/health.ts';
import { parkingRestartAt } from './rules/parking.ts';
import { type EndpointKey, targetItem } from './targets.ts';
import { AdvancedWebhookConfigEntity } from './webhookConfigs.ts';

const LIFETIME_SECONDS = 30 * 24 * 60 * 60;

/** Each endpoint has its own partition, so a busy endpoint does not slow others down. */
export const healthPartition = (of: EndpointKey) => [of.tenant, 'ENDPOINT_RUNTIME', of.endpointId];
const UNHEALTHY = ['UNHEALTHY'];

/** An endpoint that was never slow and never failed has no such item. */
export const EndpointHealthEntity = defineEntity({
  type: 'EndpointHealth',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'The health of a webhook endpoint: its breaker, and since when all attempts have failed',
  schema: EndpointHealth,
  pk: healthPartition,
  sk: (_key: unknown) => ['HEALTH'],
  indexes: {
    // One index partition is enough, because only a changed breaker or a warning writes to it.
    gsi3: {
      holds: 'endpoints whose breaker is open or whose owner was warned',
      pk: ({ breaker, failing }) => (breaker.open || failing?.warned ? UNHEALTHY : undefined),
      sk: ({ breaker, failing, endpointId }) => [
        failing?.warned ? 'WARNED' : 'OPEN',
        isoTime(breaker.open?.until ?? 0),
        endpointId,
      ],
    },
  },
  expiresAt: ({ writtenAt }) => Math.floor(writtenAt / 1000) + LIFETIME_SECONDS,
});

const MAX_UNHEALTHY = 2_000;

export class EndpointHealthStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async get(key: EndpointKey): Promise<Stored<EndpointHealth> | undefined> {
    return this.#table.get(EndpointHealthEntity, key);
  }

  /**
   * Returns `lost` if another writer was first. A write that begins, shortens or ends the breaker's pause starts the
   * `releaseParked` job in the same transaction, so an open breaker always has this job.
   */
  async write(
    { tenant, endpointId }: EndpointKey,
    health: EndpointHealth,
    read: Stored<EndpointHealth> | undefined,
  ): Promise<'done' | 'lost'> {
    const value = { ...health, tenant, endpointId };
    const dueAt = parkingRestartAt(read, health);
    const outcome = await this.#table.write([
      insertOrReplace(EndpointHealthEntity, value, read),
      ...(dueAt === undefined ? [] : [restartJob(tenant, parkingJob(endpointId, dueAt), health.writtenAt)]),
    ]);
    return outcome === 'done' ? 'done' : 'lost';
  }

  /** Ignores health of earlier revisions, and endpoints whose webhooks are off. */
  async countUnhealthy(now: number): Promise<{ readonly open: number; readonly warned: number }> {
    // Endpoints with a warning come first, so the limit leaves out others before them.
    const { keys } = await this.#table.queryIndex('gsi3', UNHEALTHY, {
      between: [`OPEN#${isoTime(now)}`, 'WARNED~'],
      limit: MAX_UNHEALTHY,
      descending: true,
    });
    const endpoints = keys.map(endpointOf);
    const [stored, targets, advanced] = await Promise.all([
      this.#table.getByKeys(EndpointHealthEntity, keys),
      this.#table.batchGet(...endpoints.map(targetItem)),
      this.#table.getMany(AdvancedWebhookConfigEntity, endpoints),
    ]);
    const current = targets.flatMap((target, index) =>
      target && (target.kind === 'basic' || advanced[index]?.isEnabled) ? [healthAt(stored[index], target._r)] : [],
    );
    return {
      open: current.filter(({ breaker }) => typeof checkBreaker(breaker, now) === 'object').length,
      warned: current.filter(({ failing }) => failing?.warned).length,
    };
  }
}

/** Generated endpoint ids need no escapes in keys, so the end of the key is the id. */
function endpointOf(key: Key): EndpointKey {
  const tenant = tenantOf(key);
  return { tenant, endpointId: key.PK.slice(EndpointHealthEntity.partition({ tenant, endpointId: '' }).length) };
}

export const writeEndpointHealth: Capability<Pick<EndpointHealthStore, 'get' | 'write'>> =
  /* @__PURE__ */ storeCapability(EndpointHealthStore, ['GetItem', 'PutItem']);

export const countUnhealthyEndpoints: Capability<Pick<EndpointHealthStore, 'countUnhealthy'>> =
  /* @__PURE__ */ storeCapability(EndpointHealthStore, ['BatchGetItem'], ['gsi3']);
