import * as z from 'zod';

/**
 * The embedding models of a tenant's judgments. If the operator configures another model, searches use the old model
 * until all judgments have vectors of the new one.
 */
export const EmbeddingState = z.object({
  /** The model whose vectors searches compare. */
  model: z.string(),
  /** The model that replaces `model` as soon as all judgments have its vectors. */
  next: z.string().optional(),
  /** The models that are no longer used, and whose vectors must be purged. */
  stale: z.array(z.string()).optional(),
});
export type EmbeddingState = z.output<typeof EmbeddingState>;

/**
 * Returns the models that embed a new judgment: the configured model, the one that searches use, and the one that
 * searches will use next.
 */
export function modelsToEmbed(state: EmbeddingState | undefined, configured: string): string[] {
  return [...new Set([configured, state?.model ?? configured, state?.next ?? configured])];
}

/**
 * Returns whether a job must adapt the state to the configured model. Returns false if searches use this model and no
 * change is planned, or if `next` is this model already.
 */
export function needsModelChange(state: EmbeddingState | undefined, configured: string): boolean {
  if (!state) return false;
  return state.model === configured ? state.next !== undefined : state.next !== configured;
}

/**
 * Returns the state in which the configured model is `model` or `next`. A replaced `next` becomes stale. Returns an
 * equal state if nothing must change.
 */
export function changeTo({ model, next, stale = [] }: EmbeddingState, configured: string): EmbeddingState {
  const target = model === configured ? undefined : configured;
  const unused = new Set([...stale, ...(next === undefined ? [] : [next])]);
  unused.delete(model);
  unused.delete(configured);
  return newState(model, target, [...unused]);
}

/** Returns the state after all judgments have vectors of the next model, which searches then use. */
export function completeChange({ model, next, stale = [] }: EmbeddingState): EmbeddingState {
  return next === undefined ? newState(model, next, stale) : newState(next, undefined, [...stale, model]);
}

/** Returns the state without the stale model whose vectors are purged. */
export function withoutStaleModel({ model, next, stale = [] }: EmbeddingState, purged: string): EmbeddingState {
  const remaining = stale.filter((staleModel) => staleModel !== purged);
  return newState(model, next, remaining);
}

function newState(model: string, next: string | undefined, stale: readonly string[]): EmbeddingState {
  return { model, ...(next !== undefined && { next }), ...(stale.length > 0 && { stale: [...stale] }) };
}
