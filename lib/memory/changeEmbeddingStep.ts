import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { REQUESTS_ENDED_MS, type StepResult, type StoredJob } from '../jobs/jobStore.ts';
import type { Embedders } from './embedders.ts';
import type { EmbeddingStore } from './embeddingStore.ts';
import { embedWith } from './embedJudgments.ts';
import { changeTo, completeChange, type EmbeddingState, withoutStaleModel } from './rules/embeddingModels.ts';

/** A pass through all judgments of a tenant, which embeds those without vectors of `model`. Times are epoch ms. */
const Walk = z.object({
  model: z.string(),
  /**
   * When the embedding state first named the model. A request that read the state before can still write judgments
   * without its vectors.
   */
  since: z.number(),
  from: z.number(),
  embedded: z.number(),
  after: z.string().optional(),
});
type Walk = z.output<typeof Walk>;

const Purge = z.object({ stale: z.string(), after: z.string().optional() });
type Purge = z.output<typeof Purge>;

const EmbeddingProgress = z.object({ walk: Walk.optional(), removal: Purge.optional() });
type EmbeddingProgress = z.output<typeof EmbeddingProgress>;

const JUDGMENTS_PER_STEP = 25;
const PURGED_PER_STEP = 100;

interface Change {
  readonly store: EmbeddingStore;
  readonly tenant: string;
  readonly state: EmbeddingState;
  readonly revision: number;
  readonly now: number;
}

/**
 * Runs a step of the job that changes a tenant's searches to the configured model:
 *
 * - embeds all judgments with it
 * - switches searches to the new vectors
 * - purges the vectors of the old model
 *
 * Until the switch, new judgments get vectors of both models. If the configuration changes, the next step continues
 * with the new one.
 */
export async function changeEmbeddingStep(
  store: EmbeddingStore,
  embedders: Embedders,
  { tenant, progress = '{}' }: StoredJob,
  clock: () => number,
): Promise<StepResult> {
  const stored = await store.getState(tenant);
  const now = clock();
  if (!stored) return 'done';
  const { _r: revision, ...before } = stored;
  const { walk, removal } = EmbeddingProgress.parse(JSON.parse(progress));
  const { model } = embedders.current;
  const state = changeTo(before, model);
  const change: Change = { store, tenant, state, revision, now };
  if (!isDeepStrictEqual(state, before)) {
    await store.replaceState(tenant, state, revision);
    // Requests that read the old state may still search or write vectors that became unused.
    return { progress: {}, ...(state.next === undefined && { notBefore: now + REQUESTS_ENDED_MS }) };
  }
  if (state.next !== undefined)
    return continueWalk(
      change,
      embedders,
      walk?.model === model ? walk : { model, since: now, from: now, embedded: 0 },
    );
  const [stale] = state.stale ?? [];
  return stale === undefined ? 'done' : continuePurge(change, removal?.stale === stale ? removal : { stale });
}

async function continueWalk(
  { store, tenant, state, revision, now }: Change,
  { current }: Embedders,
  walk: Walk,
): Promise<StepResult> {
  const { model, since } = walk;
  const { values: judgments, next } = await store.listWithoutVectors(tenant, model, {
    limit: JUDGMENTS_PER_STEP,
    after: walk.after,
  });
  await store.putVectors(tenant, model, await embedWith(current, judgments));
  const embedded = walk.embedded + judgments.length;
  if (next !== undefined) return { progress: { walk: { ...walk, embedded, after: next } } satisfies EmbeddingProgress };
  const everyFunctionReadAt = since + REQUESTS_ENDED_MS;
  // After this time, no request uses a state without the new model. If a pass that started later finds nothing to
  // embed, all judgments have vectors of the model.
  if (embedded > 0 || walk.from < everyFunctionReadAt) {
    const from = Math.max(now, everyFunctionReadAt);
    return { progress: { walk: { model, since, from, embedded: 0 } } satisfies EmbeddingProgress, notBefore: from };
  }
  await store.replaceState(tenant, completeChange(state), revision);
  return { progress: {}, notBefore: now + REQUESTS_ENDED_MS };
}

async function continuePurge({ store, tenant, state, revision }: Change, { stale, after }: Purge): Promise<StepResult> {
  const next = await store.purgeVectors(tenant, stale, { limit: PURGED_PER_STEP, after });
  if (next !== undefined) return { progress: { removal: { stale, after: next } } satisfies EmbeddingProgress };
  await store.replaceState(tenant, withoutStaleModel(state, stale), revision);
  return { progress: {} };
}
