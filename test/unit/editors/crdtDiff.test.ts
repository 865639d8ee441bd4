import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { diff } from '../../../lib/editors/rules/yjs/diff.ts';
import { listEdits } from '../../../lib/editors/rules/yjs/listDiff.ts';
import { type TextEdit, textEdits } from '../../../lib/editors/rules/yjs/textDiff.ts';
import { cpuMilliseconds } from '../../support/cpu.ts';
import { testProperty } from '../../support/testProperty.ts';
import { times } from '../../support/times.ts';
import { unicodeText } from '../../support/unicodeText.ts';

function applied(text: string, edits: readonly TextEdit[]): string {
  return edits
    .toReversed()
    .reduce(
      (result, { index, remove, insert }) => result.slice(0, index) + insert + result.slice(index + remove),
      text,
    );
}

describe('diff', () => {
  const sequence = fc.array(fc.nat(6), { maxLength: 40 }).map((values) => Int32Array.from(values));

  testProperty(
    'returns edits that turn one sequence into the other, with any budget',
    [sequence, sequence, fc.constantFrom(0, 10, 1_000_000)],
    (a, b, steps) => {
      const result = [...a];
      for (const { at, removed, from, added } of diff(a, b, { steps }).reverse())
        result.splice(at, removed, ...b.slice(from, from + added));
      expect(result).toEqual([...b]);
    },
  );

  testProperty('returns the shortest edits when they are few', [sequence, sequence], (a, b) => {
    const common = diff(a, b, { steps: 1_000_000 }).reduce((left, { removed }) => left - removed, a.length);
    expect(common).toBe(longestCommon(a, b));
  });

  function longestCommon(a: Int32Array, b: Int32Array): number {
    let row = new Array<number>(b.length + 1).fill(0);
    for (const value of a) {
      const next = [0];
      for (let index = 0; index < b.length; index++)
        next.push(value === b[index] ? row[index]! + 1 : Math.max(row[index + 1]!, next[index]!));
      row = next;
    }
    return row[b.length]!;
  }
});

describe('textEdits', () => {
  const text = fc.oneof(
    unicodeText({ maxLength: 60 }),
    fc.string({
      unit: fc.constantFrom('a', 'b', ' ', '\u{1F600}', '\u{1F601}', '\u{1F3FD}', 'é', '\n'),
      maxLength: 60,
    }),
  );

  testProperty(
    'turns one text into the other and never splits a surrogate pair',
    [text, text],
    (before, after) => {
      const edits = textEdits(before, after);
      expect(applied(before, edits)).toBe(after);
      for (const { index, remove, insert } of edits) {
        expect(
          before.slice(index, index + remove).isWellFormed() &&
            insert.isWellFormed() &&
            before.slice(0, index).isWellFormed(),
        ).toBe(true);
      }
    },
    { numRuns: 500 },
  );

  test('handles large unrelated or reordered texts, and keeps the diff of ten edits small', () => {
    const words = (seed: number) => times(20_000, (index) => ((index * seed * 7_919) % 9_973).toString(36)).join(' ');
    for (const [before, after] of [
      [words(1), words(3)],
      ['a'.repeat(50_000), 'ab'.repeat(25_000)],
      [words(1), words(1).split(' ').reverse().join(' ')],
    ] as const) {
      expect(applied(before, textEdits(before, after))).toBe(after);
    }
    const before = words(5).slice(0, 100_000);
    const after = times(
      10,
      (part) =>
        `${before.slice(part * 10_000, part * 10_000 + 5_000)}[a new sentence of many words]${before.slice(part * 10_000 + 5_080, part * 10_000 + 10_000)}`,
    ).join('');
    const edits = textEdits(before, after);
    expect(applied(before, edits)).toBe(after);
    expect(edits.reduce((sum, { remove, insert }) => sum + remove + insert.length, 0)).toBeLessThanOrEqual(
      10 * (80 + 30),
    );
    expect(edits.length).toBeLessThanOrEqual(30);
  });

  test('takes bounded time for two unrelated texts of 1 MB', () => {
    const letters = times(10_000, (index) => String.fromCharCode(97 + (((index * 7_919) % 9_973) % 26))).join('');
    const [before, after] = [letters.repeat(100), 'xy z'.repeat(250_000)];
    let edits: TextEdit[] = [];
    expect(cpuMilliseconds(() => (edits = textEdits(before, after)), { limit: 500 })).toBeLessThan(500);
    expect(applied(before, edits)).toBe(after);
  });
});

test('listEdits pairs the most similar elements in order', () => {
  const alike = [
    [0.1, 0.2],
    [0.9, 0.1],
    [0.1, 0.8],
  ];
  expect(listEdits([1, 2, 3], [4, 5], (at, from) => alike[at]![from]!)[0]!.pairs).toEqual([
    [1, 0],
    [2, 1],
  ]);
  expect(listEdits([1, 2, 9], [3, 9], (at) => (at === 1 ? 0.9 : 0.1))).toEqual([
    { at: 0, removed: 2, from: 0, added: 1, pairs: [[1, 0]] },
  ]);
});
