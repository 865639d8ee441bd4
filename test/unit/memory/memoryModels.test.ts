import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  changeTo,
  completeChange,
  type EmbeddingState,
  modelsToEmbed,
  needsModelChange,
  withoutStaleModel,
} from '../../../lib/memory/rules/embeddingModels.ts';
import { testProperty } from '../../support/testProperty.ts';

const model = fc.constantFrom('lexical-1', 'titan', 'other');
/**
 * A change of the embedding state: another model is configured, all judgments have vectors of the next model
 * (`completed`), or the vectors of the first stale model are purged (`purged`).
 */
const change = fc.oneof(
  model.map((configured) => ({ configured })),
  fc.constant('completed' as const),
  fc.constant('purged' as const),
);

/**
 * Applies changes to the embedding state of `first`, as the job does. Returns the state, and the models that then have
 * vectors.
 */
function applyChanges(first: string, changes: readonly (typeof change extends fc.Arbitrary<infer T> ? T : never)[]) {
  let [state, configured]: [EmbeddingState, string] = [{ model: first }, first];
  const vectors = new Set([first]);
  for (const step of changes) {
    if (typeof step === 'object') configured = step.configured;
    state = changeTo(state, configured);
    if (state.next !== undefined) vectors.add(state.next);
    if (step === 'completed') state = completeChange(state);
    const [stale] = state.stale ?? [];
    if (step === 'purged' && stale !== undefined && state.next === undefined) {
      vectors.delete(stale);
      state = withoutStaleModel(state, stale);
    }
  }
  return { state, configured, vectors };
}

describe('the embedding state of a tenant', () => {
  testProperty(
    'names every model that has vectors, after any sequence of changes',
    [model, fc.array(change, { maxLength: 30 })],
    (first, changes) => {
      const { state, vectors } = applyChanges(first, changes);
      const names = [state.model, ...(state.next === undefined ? [] : [state.next]), ...(state.stale ?? [])];
      expect(new Set(names).size).toBe(names.length);
      expect([...vectors].filter((name) => !names.includes(name))).toEqual([]);
    },
  );

  testProperty(
    'becomes the configured model alone after all changes and purges are complete',
    [model, fc.array(change, { maxLength: 30 })],
    (first, changes) => {
      const { state: before, configured } = applyChanges(first, changes);
      let state = completeChange(changeTo(before, configured));
      for (const stale of state.stale ?? []) state = withoutStaleModel(state, stale);
      expect(state).toEqual({ model: configured });
      expect(needsModelChange(state, configured)).toBe(false);
    },
  );

  testProperty(
    'changeTo is idempotent',
    [model, fc.array(change, { maxLength: 30 }), model],
    (first, changes, configured) => {
      const state = changeTo(applyChanges(first, changes).state, configured);
      expect(changeTo(state, configured)).toEqual(state);
      expect([needsModelChange(state, configured), state.model]).toEqual([
        false,
        applyChanges(first, changes).state.model,
      ]);
    },
  );

  test.each<[string, EmbeddingState | undefined, string, boolean]>([
    ['no judgments', undefined, 'titan', false],
    ['the configured model', { model: 'titan' }, 'titan', false],
    ['another model', { model: 'lexical-1' }, 'titan', true],
    ['another model, changing to the configured one', { model: 'lexical-1', next: 'titan' }, 'titan', false],
    ['the configured model, changing to another one', { model: 'titan', next: 'lexical-1' }, 'titan', true],
    ['another model, changing to a third one', { model: 'lexical-1', next: 'other' }, 'titan', true],
    ['the configured model, purging another one', { model: 'titan', stale: ['lexical-1'] }, 'titan', false],
  ])('needsModelChange for %s: %j with the configured model %s is %s', (_what, state, configured, needed) => {
    expect(needsModelChange(state, configured)).toBe(needed);
  });

  test('modelsToEmbed returns every model that searches may use', () => {
    expect(modelsToEmbed(undefined, 'titan')).toEqual(['titan']);
    expect(modelsToEmbed({ model: 'lexical-1' }, 'titan')).toEqual(['titan', 'lexical-1']);
    expect(modelsToEmbed({ model: 'lexical-1', next: 'other', stale: ['old'] }, 'titan')).toEqual([
      'titan',
      'lexical-1',
      'other',
    ]);
  });
});
