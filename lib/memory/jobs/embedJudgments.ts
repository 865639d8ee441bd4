import * as z from 'zod';
import type { StepResult, StoredJob } from '../../jobs/jobStore.ts';
import type { EmbeddingStore } from '../embeddings.ts';
import type { Embedders } from '../embedder.ts';
import { PendingJudgments } from '../pendingJudgments.ts';
import { makeVectors } from '../makeVectors.ts';

export interface EmbedDeps {
  readonly store: Pick<EmbeddingStore, 'state' | 'beginState' | 'byRefs' | 'putVectors'>;
  readonly embedders: Embedders;
}

const Progress = z.object({ done: z.number() });

/** Judgments of one step: 50 texts at most, of which a model of Bedrock gets eight at a time. */
const STEP = 25;
/** When to look again for a model that this deployment cannot ask: one that is under way will. */
const PATIENCE = 60_000;

/**
 * A step of the job that makes vectors of judgments for which nobody waits any more: their model did not answer, or they were written where
 * no model is asked. Fails as the model does; then the job goes on from here, later each time.
 */
export async function embedJudgmentsStep(
  { store, embedders }: EmbedDeps,
  job: StoredJob,
  clock: () => number,
): Promise<StepResult> {
  const { judgments: refs } = PendingJudgments.parse(JSON.parse(job.data));
  const { done } = job.progress === undefined ? { done: 0 } : Progress.parse(JSON.parse(job.progress));
  const some = refs.slice(done, done + STEP);
  const [state, found] = await Promise.all([
    stateOf(store, job.tenant, embedders.current.model),
    store.byRefs(job.tenant, some),
  ]);
  const judgments = found.filter((judgment) => judgment !== undefined);
  const { made, failure, unasked } = await makeVectors(embedders, state, judgments);
  for (const { model, embedded } of made) await store.putVectors(job.tenant, model, embedded);
  if (failure !== undefined) throw failure;
  if (unasked !== undefined && judgments.length > 0) return { progress: { done }, notBefore: clock() + PATIENCE };
  const next = done + some.length;
  return next < refs.length ? { progress: { done: next } satisfies z.output<typeof Progress> } : 'done';
}

/** By which model a tenant's judgments are searched. Those that are written where no model is asked begin without it, and a change of the setting would not be seen. */
async function stateOf(store: EmbedDeps['store'], tenant: string, model: string) {
  const state = await store.state(tenant);
  if (state) return state;
  await store.beginState(tenant, model);
  // Of two who begin it, one does.
  return store.state(tenant);
}
