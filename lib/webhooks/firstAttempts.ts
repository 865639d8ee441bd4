import { hash } from 'node:crypto';
import type { Capability } from '../app/capability.ts';
import { EVENT_LIFETIME_SECONDS, eventPartition, outboxShards, type StoredEvent } from '../events/outbox.ts';
import { inParallel } from '../shared/inParallel.ts';
import { isoTime } from '../shared/isoTime.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { readDue } from '../table/indexValues.ts';
import type { ItemPage } from '../table/pages.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insert, type PageOptions, remove, replace, type Table, type WriteOp } from '../table/table.ts';
import type { DueIndex } from '../workers/dueShards.ts';
import type { Timing } from '../workers/rules/schedule.ts';
import { afterGroupSweep, FirstAttempts, newFirstAttempts } from './rules/firstAttempts.ts';

const groupPartition = (shard: number) => ['FIRST', String(shard)];
export const dueGroupIndex: DueIndex = { shards: outboxShards, partition: groupPartition };

/** Deleted when each of its endpoints has a delivery. Until then, it has an entry in gsi3. */
export const FirstAttemptsEntity = defineEntity({
  type: 'FirstAttempts',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'Endpoints that an event must be sent to for the first time, until each of them has a delivery',
  schema: FirstAttempts,
  pk: eventPartition,
  sk: (key: { group: string }) => ['FIRST', key.group],
  indexes: {
    gsi3: {
      holds: 'groups of first attempts, by shard and due time',
      pk: ({ shard }) => groupPartition(shard),
      sk: ({ dueAt, eventId, group }) => [isoTime(dueAt), eventId, group],
    },
  },
  expiresAt: ({ createdAt }) => Math.floor(createdAt / 1000) + EVENT_LIFETIME_SECONDS,
});

export type FirstAttemptGroup = FirstAttempts & { readonly tenant: string };

const PARALLEL = 10;

/** The name of a group derives from the endpoint ids, so a repeated fan-out finds a stored group. */
export function toFirstAttempts(
  { tenant, eventId, createdAt, shard }: Pick<StoredEvent, 'tenant' | 'eventId' | 'createdAt' | 'shard'>,
  endpointIds: readonly string[],
  now: number,
  timing: Timing,
): FirstAttemptGroup {
  const digest = hash('sha256', JSON.stringify(endpointIds), 'base64url').slice(0, 12);
  return { ...newFirstAttempts({ eventId, group: digest, endpointIds, createdAt, shard }, now, timing), tenant };
}

export function insertFirstAttempts(group: FirstAttemptGroup): WriteOp {
  return insert(FirstAttemptsEntity, { ...group, endpointIds: [...group.endpointIds] });
}

export class FirstAttemptStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async create(groups: readonly FirstAttemptGroup[]): Promise<FirstAttemptGroup[]> {
    const created: FirstAttemptGroup[] = [];
    await inParallel(groups, PARALLEL, async (group) => {
      if ((await this.#table.write([insertFirstAttempts(group)])) === 'done') created.push(group);
    });
    return created;
  }

  async delete(of: Pick<FirstAttemptGroup, 'tenant' | 'eventId' | 'group'>): Promise<void> {
    await this.#table.write([remove(FirstAttemptsEntity, of)]);
  }

  async listDue(shard: number, at: number, options: PageOptions): Promise<ItemPage<Stored<FirstAttemptGroup>>> {
    const { values, next } = await readDue(this.#table, FirstAttemptsEntity, groupPartition(shard), at, options);
    return { values: values.filter(({ dueAt }) => dueAt <= at), next };
  }

  async postpone(group: Stored<FirstAttemptGroup>, now: number, timing: Timing): Promise<'done' | 'lost'> {
    const { _r, tenant } = group;
    const next = { ...afterGroupSweep(group, now, timing), tenant };
    return (await this.#table.write([replace(FirstAttemptsEntity, next, _r)])) === 'done' ? 'done' : 'lost';
  }
}

export const createFirstAttempts: Capability<Pick<FirstAttemptStore, 'create'>> = /* @__PURE__ */ storeCapability(
  FirstAttemptStore,
  ['PutItem'],
);

export const endFirstAttempts: Capability<Pick<FirstAttemptStore, 'delete'>> = /* @__PURE__ */ storeCapability(
  FirstAttemptStore,
  ['DeleteItem'],
);

export const dueFirstAttempts: Capability<Pick<FirstAttemptStore, 'listDue' | 'postpone'>> =
  /* @__PURE__ */ storeCapability(FirstAttemptStore, ['BatchGetItem', 'PutItem'], ['gsi3']);
