import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { recordPartition } from '../content/involvements.ts';
import { distinct } from '../shared/collections.ts';
import { inParallel } from '../shared/inParallel.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { readGsi3 } from '../table/indexValues.ts';
import { pages } from '../table/pages.ts';
import { shardOf } from '../table/queryShards.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insertOrReplace, type Table, type WriteOp } from '../table/table.ts';
import { type SweepCall, sweepShards } from '../workers/sweep.ts';
import {
  endPresence,
  isPresent,
  Presence,
  type PresenceResponse,
  type Renewal,
  renewPresence,
  type SentUser,
  toPresenceResponse,
} from './rules.ts';

const SHARDS = 8;
/** A presence expires this long after the end of its lease. */
const KEPT_SECONDS = 3_600;
const PARALLEL = 8;
const PAGE = 500;

const Schema = Presence.extend({
  organizationKey: z.string(),
  documentKey: z.string(),
  shard: z.number(),
});
type PresenceItem = z.output<typeof Schema>;

/**
 * After the user leaves, the item stays for a time without a lease, so that the stream reports the change. The index
 * has only users with a lease. A renewal does not change the index.
 */
export const PresenceEntity = defineEntity({
  type: 'Presence',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'The presence of a user in a document, with its lease',
  schema: Schema,
  pk: (of: DocumentScope) => recordPartition(of, 'PRESENCE'),
  sk: (key: { userId: string }) => [key.userId],
  indexes: {
    gsi3: {
      holds: 'users who are present, by shard',
      pk: ({ shard, leaseEndsAt }) => (leaseEndsAt === undefined ? undefined : presentUsers(shard)),
      sk: ({ tenant, documentKey, userId }) => [tenant, documentKey, userId],
    },
  },
  expiresAt: ({ leaseEndsAt, changedAt }) => Math.ceil((leaseEndsAt ?? changedAt) / 1000) + KEPT_SECONDS,
});

function presentUsers(shard: number): string[] {
  return ['PRESENT', String(shard)];
}

export class PresenceStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async list(scope: DocumentScope, now: number): Promise<PresenceResponse[]> {
    const users: PresenceResponse[] = [];
    for await (const { values } of pages((after) => this.#table.query(PresenceEntity, scope, { limit: PAGE, after })))
      for (const presence of values) if (isPresent(presence, now)) users.push(toPresenceResponse(presence));
    return users;
  }

  /**
   * If a user occurs several times, the last entry counts. `watch` is called for a user without a stored lease, or
   * whose lease ends earlier than before. Its operation is written in the transaction of the presence.
   */
  async renew(
    scope: DocumentScope,
    users: readonly SentUser[],
    { watch, ...renewal }: Renewal & { readonly watch?: (presence: Presence) => WriteOp | undefined },
  ): Promise<void> {
    const byUser = new Map(users.map((user) => [user.userId, user]));
    await this.#changeEach(scope, [...byUser.keys()], (stored, userId) => {
      const presence = renewPresence(stored, byUser.get(userId) as SentUser, renewal);
      const endsEarlier = Number(presence.leaseEndsAt) < (stored?.leaseEndsAt ?? Infinity);
      const op = endsEarlier ? watch?.(presence) : undefined;
      return { presence, ops: op ? [op] : [] };
    });
  }

  async end(scope: DocumentScope, userIds: readonly string[], now: number): Promise<void> {
    await this.#changeEach(scope, distinct(userIds), (stored) =>
      stored?.leaseEndsAt === undefined ? undefined : { presence: endPresence(stored, now), ops: [] },
    );
  }

  async #changeEach(
    scope: DocumentScope,
    userIds: readonly string[],
    decide: (
      stored: Presence | undefined,
      userId: string,
    ) => { readonly presence: Presence; readonly ops: readonly WriteOp[] } | undefined,
  ): Promise<void> {
    const presences = await this.#table.getMany(
      PresenceEntity,
      userIds.map((userId) => ({ ...scope, userId })),
    );
    await inParallel(userIds, PARALLEL, async (userId, index) => {
      let firstRead: { readonly stored: Stored<PresenceItem> | undefined } | undefined = { stored: presences[index] };
      await retryOnConflict(async () => {
        const { stored } = firstRead ?? { stored: await this.#table.get(PresenceEntity, { ...scope, userId }) };
        firstRead = undefined;
        const next = decide(stored, userId);
        if (!next) return 'done';
        const ops = [presenceWrite(scope, next.presence, stored), ...next.ops];
        return this.#table.tryWrite(ops);
      });
    });
  }
}

export function presenceWrite(scope: DocumentScope, next: Presence, stored: Stored<Presence> | undefined): WriteOp {
  const value = { ...scope, ...next, shard: shardOf(scope.documentKey, SHARDS) };
  return insertOrReplace(PresenceEntity, value, stored, next.changedAt);
}

export async function endIfExpired(
  table: Table,
  scope: DocumentScope,
  presence: Stored<Presence>,
  now: number,
): Promise<'done' | 'conflict'> {
  if (isPresent(presence, now)) return 'done';
  return table.tryWrite([presenceWrite(scope, endPresence(presence, now), presence)]);
}

export class PresenceSweeper {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** A presence stays if a user renews it at the same time. Returns whether any user is still present. */
  async endExpired(call: Pick<SweepCall, 'clock' | 'deadline'>): Promise<boolean> {
    const now = call.clock();
    let isAnybodyPresent = false;
    await sweepShards(
      SHARDS,
      call,
      (shard, options) => readGsi3(this.#table, PresenceEntity, presentUsers(shard), options),
      async (values) => {
        await inParallel(values, PARALLEL, async (presence) => {
          if (presence.leaseEndsAt === undefined) return;
          if (isPresent(presence, now)) {
            isAnybodyPresent = true;
            return;
          }
          const { tenant, organizationKey, documentKey } = presence;
          await endIfExpired(this.#table, { tenant, organizationKey, documentKey }, presence, now);
        });
      },
    );
    return isAnybodyPresent;
  }
}

export const listPresence: Capability<Pick<PresenceStore, 'list'>> = /* @__PURE__ */ storeCapability(PresenceStore, [
  'Query',
]);

export const changePresence: Capability<Pick<PresenceStore, 'renew' | 'end'>> = /* @__PURE__ */ storeCapability(
  PresenceStore,
  ['GetItem', 'BatchGetItem', 'PutItem'],
);

export const sweepPresence: Capability<PresenceSweeper> = /* @__PURE__ */ storeCapability(
  PresenceSweeper,
  ['BatchGetItem', 'PutItem'],
  ['gsi3'],
);
