import * as z from 'zod';

/**
 * The embedding models of a tenant's judgments. After a change of the setting, searches use `model` until all judgments
 * have vectors of `next`. The vectors of `stale` must be purged.
 */
export const EmbeddingState = z.object({
  model: z.string(),
  next: z.string().optional(),
  stale: z.array(z.string()).optional(),
});
export type EmbeddingState = z.output<typeof EmbeddingState>;

export function modelsToEmbed(state: EmbeddingState | undefined, configured: string): string[] {
  return [...new Set([configured, state?.model ?? configured, state?.next ?? configured])];
}

export function needsModelChange(state: EmbeddingState | undefined, configured: string): boolean {
  if (!state) return false;
  return state.model === configured ? state.next !== undefined : state.next !== configured;
}

export function changeTo({ model, next, stale = [] }: EmbeddingState, configured: string): EmbeddingState {
  const target = model === configured ? undefined : configured;
  const unused = new Set([...stale, ...(next === undefined ? [] : [next])]);
  unused.delete(model);
  unused.delete(configured);
  return newState(model, target, [...unused]);
}

export function completeChange({ model, next, stale = [] }: EmbeddingState): EmbeddingState {
  return next === undefined ? newState(model, next, stale) : newState(next, undefined, [...stale, model]);
}

export function withoutStaleModel({ model, next, stale = [] }: EmbeddingState, purged: string): EmbeddingState {
  const remaining = stale.filter((staleModel) => staleModel !== purged);
  return newState(model, next, remaining);
}

function newState(model: string, next: string | undefined, stale: readonly string[]): EmbeddingState {
  return { model, ...(next !== undefined && { next }), ...(stale.length > 0 && { stale: [...stale] }) };
}
