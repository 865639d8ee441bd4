import * as z from 'zod';
import type { StepResult, StoredJob } from '../jobs/jobStore.ts';
import type { Embedders } from './embedders.ts';
import { PendingJudgments } from './embeddingJobs.ts';
import type { EmbeddingStore } from './embeddingStore.ts';
import { embedJudgments } from './embedJudgments.ts';

const Progress = z.object({ done: z.number() });

const JUDGMENTS_PER_STEP = 25;
/**
 * The wait (milliseconds) if this deployment is not configured for a model that searches will use. The next attempt may
 * run in one that is.
 */
const RETRY_DELAY_MS = 60_000;

/**
 * Embeds judgments that their request has not embedded. Throws if a model fails, so the job repeats the step, after a
 * pause that grows with each try.
 */
export async function embedJudgmentsStep(
  store: EmbeddingStore,
  embedders: Embedders,
  { tenant, data, progress }: StoredJob,
  clock: () => number,
): Promise<StepResult> {
  const refs = PendingJudgments.parse(JSON.parse(data)).judgments;
  const { done } = Progress.parse(JSON.parse(progress ?? '{"done":0}'));
  const next = done + JUDGMENTS_PER_STEP;
  const [state, stored] = await Promise.all([
    ensureState(store, tenant, embedders.current.model),
    store.getJudgments(tenant, refs.slice(done, next)),
  ]);
  const judgments = stored.filter((judgment) => judgment !== undefined);
  const { vectors, failure, unavailableModel } = await embedJudgments(embedders, state, judgments);
  for (const { model, embedded } of vectors) await store.putVectors(tenant, model, embedded);
  if (failure !== undefined) throw failure;
  if (unavailableModel !== undefined && judgments.length > 0)
    return { progress: { done }, notBefore: clock() + RETRY_DELAY_MS };
  return next < refs.length ? { progress: { done: next } } : 'done';
}

async function ensureState(store: EmbeddingStore, tenant: string, model: string) {
  const state = await store.getState(tenant);
  if (state) return state;
  await store.createState(tenant, model);
  return store.getState(tenant);
}
