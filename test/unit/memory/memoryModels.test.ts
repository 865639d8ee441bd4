import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { EmbeddingState } from '../../../lib/memory/entities.ts';
import { arrived, needsChange, towards, wantedModels, without } from '../../../lib/memory/embeddingModels.ts';

const model = fc.constantFrom('lexical-1', 'titan', 'other');
/** What happens to a state: the setting is another one from here on, all judgments have vectors of the next model, or the first stale one's are gone. */
const happening = fc.oneof(
  model.map((setting) => ({ setting })),
  fc.constant('arrived' as const),
  fc.constant('removed' as const),
);

/** The state after things happened, with the models of which there are vectors then. A job turns to the setting before it does anything else. */
function live(first: string, happenings: readonly (typeof happening extends fc.Arbitrary<infer T> ? T : never)[]) {
  let [state, setting]: [EmbeddingState, string] = [{ model: first }, first];
  const vectors = new Set([first]);
  for (const one of happenings) {
    if (typeof one === 'object') setting = one.setting;
    state = towards(state, setting);
    if (state.next !== undefined) vectors.add(state.next);
    if (one === 'arrived') state = arrived(state);
    const [stale] = state.stale ?? [];
    if (one === 'removed' && stale !== undefined && state.next === undefined) {
      vectors.delete(stale);
      state = without(state, stale);
    }
  }
  return { state, setting, vectors };
}

describe('the models of a tenant', () => {
  test('of which there are vectors are those that the state knows, whatever happens: none is forgotten', () => {
    fc.assert(
      fc.property(model, fc.array(happening, { maxLength: 30 }), (first, happenings) => {
        const { state, vectors } = live(first, happenings);
        const known = [state.model, ...(state.next === undefined ? [] : [state.next]), ...(state.stale ?? [])];
        expect(new Set(known).size).toBe(known.length);
        expect([...vectors].filter((one) => !known.includes(one))).toEqual([]);
      }),
    );
  });

  test('come to rest at the setting, with vectors of it alone', () => {
    fc.assert(
      fc.property(model, fc.array(happening, { maxLength: 30 }), (first, happenings) => {
        let { state, setting } = live(first, happenings);
        state = arrived(towards(state, setting));
        for (const stale of state.stale ?? []) state = without(state, stale);
        expect(state).toEqual({ model: setting });
        expect(needsChange(state, setting)).toBe(false);
      }),
    );
  });

  test('are turned to the setting once: again changes nothing', () => {
    fc.assert(
      fc.property(model, fc.array(happening, { maxLength: 30 }), model, (first, happenings, setting) => {
        const state = towards(live(first, happenings).state, setting);
        expect(towards(state, setting)).toEqual(state);
        expect([needsChange(state, setting), state.model]).toEqual([false, live(first, happenings).state.model]);
      }),
    );
  });

  test.each<[string, EmbeddingState | undefined, string, boolean]>([
    ['no judgments', undefined, 'titan', false],
    ["the setting's", { model: 'titan' }, 'titan', false],
    ['another', { model: 'lexical-1' }, 'titan', true],
    ['another, with a change to the setting under way', { model: 'lexical-1', next: 'titan' }, 'titan', false],
    ["the setting's, with a change to another under way", { model: 'titan', next: 'lexical-1' }, 'titan', true],
    ['another, with a change to a third under way', { model: 'lexical-1', next: 'other' }, 'titan', true],
    ["the setting's, with the removal of another under way", { model: 'titan', stale: ['lexical-1'] }, 'titan', false],
  ])('with %s: %j under the setting %s need a change: %s', (_what, state, setting, needed) => {
    expect(needsChange(state, setting)).toBe(needed);
  });

  test('that a new judgment gets vectors of are all that searches go by until it is embedded again', () => {
    expect(wantedModels(undefined, 'titan')).toEqual(['titan']);
    expect(wantedModels({ model: 'lexical-1' }, 'titan')).toEqual(['titan', 'lexical-1']);
    expect(wantedModels({ model: 'lexical-1', next: 'other', stale: ['old'] }, 'titan')).toEqual([
      'titan',
      'lexical-1',
      'other',
    ]);
  });
});
