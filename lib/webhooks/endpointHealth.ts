import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { instantKey } from '../shared/times.ts';
import { gateOf } from './rules/breaker.ts';
import { EndpointHealth, healthAt } from './rules/health.ts';
import { interval, TOLERANCE } from './rules/limiter.ts';
import { defineEntity, indexPartition, type Key, type Stored } from '../table/entity.ts';
import { tenantOf } from '../table/keys.ts';
import { insert, replace, type Table } from '../table/table.ts';
import { AdvancedWebhookConfigEntity } from './configs.ts';
import { type EndpointKey, wantedTarget } from './targets.ts';
import { storeCapability } from '../table/storeCapability.ts';

const DAY_SECONDS = 24 * 60 * 60;
/** What was learnt so long ago says nothing; deliveries are not tried for longer. */
const LIFETIME_SECONDS = 30 * DAY_SECONDS;

/** A partition for each endpoint, so that a busy one slows none of the others. */
const runtimeOf = (of: { tenant: string; endpointId: string }) => [of.tenant, 'ENDPOINT_RUNTIME', of.endpointId];
const AILING = ['AILING'];

/** What attempts have shown of an endpoint. Of one that is well there is no such item, or one that is not written. */
export const EndpointHealthEntity = defineEntity({
  type: 'EndpointHealth',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'The failures of a webhook endpoint: its breaker, and since when nothing has succeeded',
  schema: EndpointHealth,
  pk: runtimeOf,
  sk: (_key: unknown) => ['HEALTH'],
  indexes: {
    // One partition is enough: it is written to when a breaker moves, not when something is delivered.
    gsi3: {
      holds: 'endpoints whose breaker is open or whose owner was warned',
      pk: ({ breaker, failing }) => (breaker.open || failing?.warned ? AILING : undefined),
      sk: ({ breaker, failing, endpointId }) => [
        failing?.warned ? 'WARNED' : 'OPEN',
        instantKey(breaker.open?.until ?? 0),
        endpointId,
      ],
    },
  },
  expiresAt: ({ writtenAt }) => Math.floor(writtenAt / 1000) + LIFETIME_SECONDS,
});

/** The first free place in the rate limit of an endpoint. An item of its own: it is moved on without being read. */
export const EndpointSlotsEntity = defineEntity({
  type: 'EndpointSlots',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'When the next delivery to a webhook endpoint with a rate limit may begin',
  schema: z.object({ at: z.number(), expiresAt: z.number() }),
  pk: runtimeOf,
  sk: (_key: unknown) => ['SLOTS'],
  expiresAt: ({ expiresAt }) => expiresAt,
});

/** How many endpoints are in trouble. */
export interface Ailing {
  /** To which deliveries pause. */
  readonly open: number;
  /** Whose owner was warned that they will be disabled. */
  readonly warned: number;
}

/** More than so many are not counted. */
const MOST_AILING = 2_000;

/** Those who wait for a reservation, which is made for all of them at once. */
interface Group {
  count: number;
  readonly first: Promise<number>;
}

export class EndpointRuntime {
  readonly #table: Table;
  readonly #underWay = new Map<string, Promise<number>>();
  readonly #waiting = new Map<string, Group>();

  constructor(table: Table) {
    this.#table = table;
  }

  async health(key: EndpointKey): Promise<Stored<EndpointHealth> | undefined> {
    return this.#table.get(EndpointHealthEntity, key);
  }

  /** Writes what is known of an endpoint over what was read, or where nothing was; `lost` when somebody else wrote. */
  async learn(
    key: EndpointKey,
    health: EndpointHealth,
    read: { readonly _r: number } | undefined,
  ): Promise<'done' | 'lost'> {
    const value = { ...health, ...key };
    const outcome = await this.#table.write([
      read ? replace(EndpointHealthEntity, value, read._r) : insert(EndpointHealthEntity, value),
    ]);
    return outcome === 'done' ? 'done' : 'lost';
  }

  /**
   * Reserves the next free place in an endpoint's rate limit, epoch ms. Those of this process that ask while a reservation is under way
   * share the next one, because one item takes about 1,000 writes per second.
   */
  async reserve(key: EndpointKey, rateLimit: number, clock: () => number): Promise<number> {
    const name = EndpointSlotsEntity.partition(key);
    const step = interval(rateLimit);
    const group = this.#waiting.get(name);
    if (group) {
      const position = group.count++;
      return (await group.first) + position * step;
    }
    const ahead = this.#underWay.get(name);
    if (!ahead) return this.#reserveFor(name, key, { count: 1, step, now: clock() });
    const next: Group = {
      count: 1,
      first: ahead
        .catch(() => undefined)
        .then(() => {
          this.#waiting.delete(name);
          return this.#reserveFor(name, key, { count: next.count, step, now: clock() });
        }),
    };
    this.#waiting.set(name, next);
    return next.first;
  }

  #reserveFor(
    name: string,
    key: EndpointKey,
    { count, step, now }: { count: number; step: number; now: number },
  ): Promise<number> {
    const expiresAt = Math.ceil(now / 1000) + LIFETIME_SECONDS;
    const made = this.#table.advanceNumber(EndpointSlotsEntity, key, {
      by: count * step,
      least: now - TOLERANCE,
      from: now,
      expiresAt,
    });
    this.#underWay.set(name, made);
    return made.finally(() => {
      if (this.#underWay.get(name) === made) this.#underWay.delete(name);
    });
  }

  /**
   * How many endpoints are in trouble now. What was learnt of one is kept when that is disabled, deleted or changed, or webhooks are turned
   * off: then nobody delivers to it, or nothing is known of it yet, and it is not counted.
   */
  async ailing(now: number): Promise<Ailing> {
    // From the end: of too many, those whose owner was warned are counted first.
    const { keys } = await this.#table.queryIndex('gsi3', indexPartition('tenant', AILING), {
      between: [`OPEN#${instantKey(now)}`, 'WARNED~'],
      limit: MOST_AILING,
      descending: true,
    });
    const endpoints = keys.map(endpointOf);
    const [learnt, targets, advanced] = await Promise.all([
      this.#table.getByKeys(EndpointHealthEntity, keys),
      this.#table.batchGet(...endpoints.map(wantedTarget)),
      this.#table.getMany(AdvancedWebhookConfigEntity, endpoints),
    ]);
    const known = targets.flatMap((target, index) =>
      target && (target.kind === 'basic' || advanced[index]?.isEnabled) ? [healthAt(learnt[index], target._r)] : [],
    );
    return {
      open: known.filter(({ breaker }) => typeof gateOf(breaker, now) === 'object').length,
      warned: known.filter(({ failing }) => failing?.warned).length,
    };
  }
}

/** The endpoint that the key of its health names. Ids of endpoints are ours: nothing in them is escaped. */
function endpointOf(key: Key): EndpointKey {
  const tenant = tenantOf(key);
  return { tenant, endpointId: key.PK.slice(EndpointHealthEntity.partition({ tenant, endpointId: '' }).length) };
}

/** Keep to the rate limits of endpoints, and know which of them fail. */
export const endpointRuntime: Capability<Pick<EndpointRuntime, 'health' | 'learn' | 'reserve'>> =
  /* @__PURE__ */ storeCapability(EndpointRuntime, ['GetItem', 'PutItem', 'UpdateItem']);

/** Count the endpoints that are in trouble. */
export const countAiling: Capability<Pick<EndpointRuntime, 'ailing'>> = /* @__PURE__ */ storeCapability(
  EndpointRuntime,
  ['BatchGetItem'],
  ['gsi3'],
);
