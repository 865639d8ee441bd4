import * as z from 'zod';
import type { StepResult, StoredJob } from '../jobs/jobStore.ts';
import type { Embedders } from './embedders.ts';
import { PendingJudgments } from './embeddingJobs.ts';
import type { EmbeddingStore } from './embeddingStore.ts';
import { embedJudgments } from './embedJudgments.ts';

const Progress = z.object({ done: z.number() });

/** Judgments of one step: at most 50 texts, and Bedrock embeds eight at a time. */
const JUDGMENTS_PER_STEP = 25;
/** Delay until the next try when this deployment cannot call the model. A deployment that can call it follows. */
const RETRY_DELAY_MS = 60_000;

/**
 * Runs a step of the job that embeds judgments: their model did not answer the request, or the request does not
 * embed. Throws the error of a model; the job then continues from this step, with a longer delay each time.
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
  const [state, found] = await Promise.all([
    ensureState(store, tenant, embedders.current.model),
    store.getJudgments(tenant, refs.slice(done, next)),
  ]);
  const judgments = found.filter((judgment) => judgment !== undefined);
  const { made, failure, unavailableModel } = await embedJudgments(embedders, state, judgments);
  for (const { model, embedded } of made) await store.putVectors(tenant, model, embedded);
  if (failure !== undefined) throw failure;
  if (unavailableModel !== undefined && judgments.length > 0)
    return { progress: { done }, notBefore: clock() + RETRY_DELAY_MS };
  return next < refs.length ? { progress: { done: next } } : 'done';
}

/**
 * Returns the embedding state of a tenant. A judgment from a thread is written without it, so this job may be the first
 * to need it.
 */
async function ensureState(store: EmbeddingStore, tenant: string, model: string) {
  const state = await store.getState(tenant);
  if (state) return state;
  await store.createState(tenant, model);
  return store.getState(tenant);
}
