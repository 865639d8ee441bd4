import * as z from 'zod';

/**
 * The embedding models of a tenant's judgments. After the operator configures another model, searches use the old model
 * until all judgments have vectors of the new model.
 */
export const EmbeddingState = z.object({
  /** The model whose vectors searches use. */
  model: z.string(),
  /** The model that will replace `model` after all judgments have vectors of it. */
  next: z.string().optional(),
  /** The models whose vectors must be purged. */
  stale: z.array(z.string()).optional(),
});
export type EmbeddingState = z.output<typeof EmbeddingState>;

/** Returns the models that embed a new judgment: the configured model, the model of searches, and the model that will replace it. */
export function modelsToEmbed(state: EmbeddingState | undefined, configured: string): string[] {
  return [...new Set([configured, state?.model ?? configured, state?.next ?? configured])];
}

/** Returns whether a new job must make the configured model the model of searches. False if the state already names that change. */
export function needsModelChange(state: EmbeddingState | undefined, configured: string): boolean {
  if (!state) return false;
  return state.model === configured ? state.next !== undefined : state.next !== configured;
}

/** Returns the state in which the configured model is the model of searches or will replace it. Idempotent. */
export function changeTo({ model, next, stale = [] }: EmbeddingState, configured: string): EmbeddingState {
  const target = model === configured ? undefined : configured;
  const unused = new Set([...stale, ...(next === undefined ? [] : [next])]);
  unused.delete(model);
  unused.delete(configured);
  return newState(model, target, [...unused]);
}

/** Returns the state after all judgments have vectors of the next model. */
export function completeChange({ model, next, stale = [] }: EmbeddingState): EmbeddingState {
  return next === undefined ? newState(model, next, stale) : newState(next, undefined, [...stale, model]);
}

/** Returns the state after the vectors of a stale model are purged. */
export function withoutStaleModel({ model, next, stale = [] }: EmbeddingState, purged: string): EmbeddingState {
  const remaining = stale.filter((staleModel) => staleModel !== purged);
  return newState(model, next, remaining);
}

function newState(model: string, next: string | undefined, stale: readonly string[]): EmbeddingState {
  return { model, ...(next !== undefined && { next }), ...(stale.length > 0 && { stale: [...stale] }) };
}
