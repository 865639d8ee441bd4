import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { READS_SETTLED_MS, type StepResult, type StoredJob } from '../../jobs/jobStore.ts';
import type { EmbeddingState } from '../entities.ts';
import type { EmbeddingStore } from '../embeddings.ts';
import type { Stored } from '../../table/entity.ts';
import type { Embedders } from '../embedder.ts';
import { arrived, towards, without } from '../embeddingModels.ts';
import { embedJudgments } from '../makeVectors.ts';

export interface ChangeDeps {
  readonly store: Pick<EmbeddingStore, 'state' | 'changeState' | 'pending' | 'putVectors' | 'removeVectors'>;
  readonly embedders: Embedders;
}

/** How far the walk over a tenant's judgments got. */
const Walk = z.object({
  /** By which model they are embedded. */
  model: z.string(),
  /** When everybody could know of that model, epoch ms; a walk that began a while later finds what was written without its vectors. */
  since: z.number(),
  /** When this walk began. */
  from: z.number(),
  /** How many it embedded so far. */
  embedded: z.number(),
  after: z.string().optional(),
});
type Walk = z.output<typeof Walk>;
/** How far the removal of a model's vectors got. */
const Removal = z.object({ stale: z.string(), after: z.string().optional() });
type Removal = z.output<typeof Removal>;

const Progress = z.object({ walk: Walk.optional(), removal: Removal.optional() });
type Progress = z.output<typeof Progress>;

/** Judgments of one step, as in `embedJudgments`. */
const STEP = 25;
const REMOVED = 100;

interface Change {
  readonly tenant: string;
  readonly state: EmbeddingState;
  readonly revision: number;
  readonly now: number;
}

/**
 * A step of the job that makes the model of the setting that of a tenant's searches: it makes vectors of all judgments, lets searches go by
 * them, and removes those of the model before. Until then searches go by the model before, of which new judgments get vectors as well.
 * When the setting changes meanwhile, also back, the job goes from there to the new one.
 */
export async function changeEmbeddingStep(
  { store, embedders }: ChangeDeps,
  job: StoredJob,
  clock: () => number,
): Promise<StepResult> {
  const { tenant } = job;
  const [stored, now] = [await store.state(tenant), clock()];
  if (!stored) return 'done';
  const { walk, removal }: Progress = job.progress === undefined ? {} : Progress.parse(JSON.parse(job.progress));
  const setting = embedders.current.model;
  const state = towards(stored, setting);
  const change: Change = { tenant, state, revision: stored._r, now };
  if (!isDeepStrictEqual(state, plain(stored))) return begin(store, change);
  if (state.next !== undefined)
    return embedSome(
      { store, embedders },
      change,
      walk?.model === setting ? walk : { model: setting, since: now, from: now, embedded: 0 },
    );
  const [stale] = state.stale ?? [];
  return stale === undefined ? 'done' : removeSome(store, change, removal?.stale === stale ? removal : { stale });
}

/** Turns to the setting. What is not needed any more is left until nobody writes or searches it. */
async function begin(store: ChangeDeps['store'], { tenant, state, revision, now }: Change): Promise<StepResult> {
  await store.changeState(tenant, state, revision);
  return { progress: {}, ...(state.next === undefined && { notBefore: now + READS_SETTLED_MS }) };
}

async function embedSome(
  { store, embedders }: ChangeDeps,
  { tenant, state, revision, now }: Change,
  walk: Walk,
): Promise<StepResult> {
  const { judgments, next } = await store.pending(tenant, walk.model, { limit: STEP, after: walk.after });
  await store.putVectors(tenant, walk.model, await embedJudgments(embedders.current, judgments));
  const embedded = walk.embedded + judgments.length;
  if (next !== undefined) return { progress: { walk: { ...walk, embedded, after: next } } satisfies Progress };
  const settled = walk.since + READS_SETTLED_MS;
  // Nothing is missing any more when a walk finds all done that began after everybody knew of the model.
  if (embedded > 0 || walk.from < settled) {
    const from = Math.max(now, settled);
    return {
      progress: { walk: { model: walk.model, since: walk.since, from, embedded: 0 } } satisfies Progress,
      notBefore: from,
    };
  }
  await store.changeState(tenant, arrived(state), revision);
  return { progress: {}, notBefore: now + READS_SETTLED_MS };
}

async function removeSome(
  store: ChangeDeps['store'],
  { tenant, state, revision }: Change,
  { stale, after }: Removal,
): Promise<StepResult> {
  const { next } = await store.removeVectors(tenant, stale, { limit: REMOVED, after });
  if (next !== undefined) return { progress: { removal: { stale, after: next } } satisfies Progress };
  await store.changeState(tenant, without(state, stale), revision);
  return { progress: {} };
}

function plain({ model, next, stale }: Stored<EmbeddingState>): EmbeddingState {
  return { model, ...(next !== undefined && { next }), ...(stale !== undefined && { stale }) };
}
