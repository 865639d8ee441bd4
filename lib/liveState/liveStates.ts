import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { recordPartition } from '../content/involvements.ts';
import { distinct } from '../shared/collections.ts';
import { ApiError, invalid } from '../shared/errors.ts';
import { limits } from '../shared/schema.ts';
import { countDown, countUp } from '../table/counters.ts';
import { defineEntity } from '../table/entity.ts';
import type { ItemPage } from '../table/pages.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insertOrReplace, type PageOptions, type Table } from '../table/table.ts';
import {
  applyBroadcast,
  type Broadcast,
  LiveState,
  type LiveStateResponse,
  MAX_LIVE_STATES,
  toLiveStateResponse,
} from './rules.ts';

export const LiveStateEntity = defineEntity({
  type: 'LiveState',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'The last data that was broadcast in a document under an id',
  schema: LiveState.extend({
    organizationKey: z.string(),
    documentKey: z.string(),
  }),
  pk: (of: DocumentScope) => recordPartition(of, 'LIVE_STATE'),
  sk: (key: { liveStateDataId: string }) => [key.liveStateDataId],
});

/** Counted up before an addition, and down after a deletion: an interruption leaves it too high. */
export const LiveStateCountEntity = defineEntity({
  type: 'LiveStateCount',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'The number of live states of a document',
  schema: z.object({ count: z.number() }),
  pk: (of: DocumentScope) => recordPartition(of, 'LIVE_STATE_COUNT'),
  sk: (_key: unknown) => ['COUNT'],
});

export class LiveStateStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Newer data stays, unless the call merges. Throws INVALID_ARGUMENT if merged data is too large, RESOURCE_EXHAUSTED
   * at 1,000 other live states, and ABORTED after too many conflicts.
   */
  async broadcast(scope: DocumentScope, broadcast: Broadcast, now: number): Promise<void> {
    const key = { ...scope, liveStateDataId: broadcast.liveStateDataId };
    let hasPlace = false;
    const { leftPlace } = await retryOnConflict(async () => {
      const stored = await this.#table.get(LiveStateEntity, key);
      const next = applyBroadcast(stored, broadcast, now);
      if (next === 'superseded') return { leftPlace: hasPlace };
      if (next === 'too large')
        throw invalid({
          path: ['data'],
          code: 'too_big',
          message: `data must be at most ${limits.objectBytes} bytes as JSON together with the stored data`,
        });
      const value = { ...scope, ...next };
      const op = insertOrReplace(LiveStateEntity, value, stored, now);
      hasPlace ||= !stored && (await countUp(this.#table, LiveStateCountEntity, scope, MAX_LIVE_STATES));
      if (!stored && !hasPlace) throw tooManyStates();
      const outcome = await this.#table.tryWrite([op]);
      return outcome === 'conflict' ? outcome : { leftPlace: hasPlace && stored !== undefined };
    });
    if (leftPlace) await countDown(this.#table, LiveStateCountEntity, scope);
  }

  async getByIds(scope: DocumentScope, ids: readonly string[]): Promise<LiveStateResponse[]> {
    const keys = distinct(ids).map((liveStateDataId) => ({ ...scope, liveStateDataId }));
    const states = await this.#table.getMany(LiveStateEntity, keys);
    return states.flatMap((state) => (state ? [toLiveStateResponse(state)] : []));
  }

  async list(scope: DocumentScope, options: PageOptions): Promise<ItemPage<LiveStateResponse>> {
    const { values, next } = await this.#table.query(LiveStateEntity, scope, options);
    return { values: values.map(toLiveStateResponse), next };
  }
}

function tooManyStates(): ApiError {
  return new ApiError(
    'RESOURCE_EXHAUSTED',
    `The document has ${MAX_LIVE_STATES} live states. Broadcast under an existing liveStateDataId.`,
  );
}

export const broadcastLiveState: Capability<Pick<LiveStateStore, 'broadcast'>> = /* @__PURE__ */ storeCapability(
  LiveStateStore,
  ['GetItem', 'PutItem', 'UpdateItem'],
);

export const listLiveStates: Capability<Pick<LiveStateStore, 'getByIds' | 'list'>> = /* @__PURE__ */ storeCapability(
  LiveStateStore,
  ['BatchGetItem', 'Query'],
);
