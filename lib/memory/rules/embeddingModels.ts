import * as z from 'zod';

/** The embedding models of a tenant's judgments. The operator configures one; searches use the old model until all judgments have vectors of it. */
export const EmbeddingState = z.object({
  /** The model whose vectors searches use. */
  model: z.string(),
  /** The model that replaces it once all judgments have its vectors. */
  next: z.string().optional(),
  /** Models whose vectors are to be purged. */
  stale: z.array(z.string()).optional(),
});
export type EmbeddingState = z.output<typeof EmbeddingState>;

/** Returns the models that embed a new judgment: the configured one, the one of searches, and its replacement. */
export function modelsToEmbed(state: EmbeddingState | undefined, configured: string): string[] {
  return [...new Set([configured, state?.model ?? configured, state?.next ?? configured])];
}

/** Returns whether the job that changes the model of searches to the configured one must be started. */
export function needsModelChange(state: EmbeddingState | undefined, configured: string): boolean {
  if (!state) return false;
  return state.model === configured ? state.next !== undefined : state.next !== configured;
}

/** Returns the state that changes to the configured model, or that has it. Idempotent. */
export function changeTo({ model, next, stale = [] }: EmbeddingState, configured: string): EmbeddingState {
  const target = model === configured ? undefined : configured;
  const unused = new Set([...stale, ...(next === undefined ? [] : [next])]);
  unused.delete(model);
  unused.delete(configured);
  return newState(model, target, [...unused]);
}

/** Returns the state once all judgments have vectors of the next model. */
export function completeChange({ model, next, stale = [] }: EmbeddingState): EmbeddingState {
  return next === undefined ? newState(model, next, stale) : newState(next, undefined, [...stale, model]);
}

/** Returns the state once the vectors of a stale model are purged. */
export function withoutStale({ model, next, stale = [] }: EmbeddingState, purged: string): EmbeddingState {
  const rest = stale.filter((one) => one !== purged);
  return newState(model, next, rest);
}

function newState(model: string, next: string | undefined, stale: readonly string[]): EmbeddingState {
  return { model, ...(next !== undefined && { next }), ...(stale.length > 0 && { stale: [...stale] }) };
}
