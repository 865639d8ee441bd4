import type { EmbeddingState } from './entities.ts';

/**
 * Which embedding models a tenant's judgments have vectors of. The operator's setting names one; until all judgments have vectors of
 * it, searches go by the one before. Values only: jobs and endpoints do what these functions say.
 */

/** The models that vectors of a new judgment are made by: that of the setting, that of searches, and that which takes its place. */
export function wantedModels(state: EmbeddingState | undefined, setting: string): string[] {
  return [...new Set([setting, state?.model ?? setting, state?.next ?? setting])];
}

/** Whether somebody has to begin the job that makes the setting the model of searches; once it is under way it does not have to be begun again. */
export function needsChange(state: EmbeddingState | undefined, setting: string): boolean {
  if (!state) return false;
  return state.model === setting ? state.next !== undefined : state.next !== setting;
}

/** The state on the way to a setting, or at it; the same again when it is there. */
export function towards({ model, next, stale = [] }: EmbeddingState, setting: string): EmbeddingState {
  const coming = model === setting ? undefined : setting;
  const left = new Set([...stale, ...(next === undefined ? [] : [next])]);
  left.delete(model);
  if (coming !== undefined) left.delete(coming);
  return stateOf(model, coming, [...left]);
}

/** The state once all judgments have vectors of the next model. */
export function arrived({ model, next, stale = [] }: EmbeddingState): EmbeddingState {
  return next === undefined ? stateOf(model, next, stale) : stateOf(next, undefined, [...stale, model]);
}

/** The state once a stale model's vectors are gone. */
export function without({ model, next, stale = [] }: EmbeddingState, removed: string): EmbeddingState {
  return stateOf(
    model,
    next,
    stale.filter((one) => one !== removed),
  );
}

function stateOf(model: string, next: string | undefined, stale: readonly string[]): EmbeddingState {
  return { model, ...(next !== undefined && { next }), ...(stale.length > 0 && { stale: [...stale] }) };
}
