import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compareValues, type TextOperation, type ValueChange } from '../../../lib/editors/rules/yjs/compareValues.ts';
import { testProperty } from '../../support/testProperty.ts';
import { times } from '../../support/times.ts';

const operationsOf = (from: string, to: string) =>
  (compareValues('text', from, to) as { operations: TextOperation[] }).operations;

function applyOperations(from: string, operations: readonly TextOperation[]): string {
  let text = from;
  for (const { at, delete: count, insert } of operations) {
    text = text.slice(0, at) + insert + text.slice(at + count);
    expect(text.isWellFormed()).toBe(true);
  }
  return text;
}

function applyChanges(from: unknown, changes: readonly ValueChange[]): unknown {
  const root = { value: structuredClone(from) } as Record<string, unknown>;
  for (const change of changes) {
    const path = ['value', ...change.path];
    const key = path.pop()!;
    const owner = path.reduce<Record<string | number, unknown>>((value, part) => value[part] as never, root);
    if (Array.isArray(owner) && !('from' in change)) owner.splice(key as number, 0, change.to);
    else if (Array.isArray(owner) && !('to' in change)) owner.splice(key as number, 1);
    else if (!('to' in change)) Reflect.deleteProperty(owner, key);
    else Object.defineProperty(owner, key, { value: change.to, enumerable: true, configurable: true, writable: true });
  }
  return root.value;
}

const texts = fc
  .array(fc.constantFrom('a', 'b', ' ', '😀', '😁', 'é'), { maxLength: 40 })
  .map((parts) => parts.join(''));
const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);

testProperty(
  'the operations turn the older text into the newer one without splitting a pair',
  [texts, texts],
  (from, to) => {
    expect(applyOperations(from, operationsOf(from, to))).toBe(to);
  },
);

testProperty('the changes turn the older list into the newer one', [fc.array(json), fc.array(json)], (from, to) => {
  const { changes } = compareValues('array', from, to) as { changes: ValueChange[] };
  expect(applyChanges(from, changes)).toEqual(to);
});

test.each([
  ['an insertion at the head', [1, 2, 3], [0, 1, 2, 3], [{ path: [0], to: 0 }]],
  ['a removal', [1, 2, 3], [1, 3], [{ path: [1], from: 2 }]],
  ['a changed value', [1, 2, 3], [1, 5, 3], [{ path: [1], from: 2, to: 5 }]],
  ['a key of an element', [{ id: 1, a: 'x' }], [{ id: 1, a: null }], [{ path: [0, 'a'], from: 'x', to: null }]],
  ['a removal of a nested element', [[1, 2]], [[2]], [{ path: [0, 0], from: 1 }]],
])('in a list, %s is one change', (_title, from, to, changes) => {
  expect(compareValues('array', from, to)).toEqual({ changes });
});

test('keys of a map are added, changed and removed', () => {
  expect(compareValues('map', { a: 1, b: { c: 2 } }, { b: { c: 3 }, d: null })).toEqual({
    changes: [
      { path: ['a'], from: 1 },
      { path: ['b', 'c'], from: 2, to: 3 },
      { path: ['d'], to: null },
    ],
  });
});

testProperty(
  'the changes turn the older map into the newer one',
  [fc.dictionary(fc.string(), json), fc.dictionary(fc.string(), json)],
  (from, to) => {
    const { changes } = compareValues('map', from, to) as { changes: ValueChange[] };
    expect(applyChanges(from, changes)).toEqual(to);
  },
);

test('a comparison ends after 10,000 entries or 4 MB of JSON', () => {
  const many = Object.fromEntries(times(10_001, (index) => [`k${index}`, 1]));
  const { changes, truncated } = compareValues('map', {}, many) as { changes: ValueChange[]; truncated?: true };
  expect([changes.length, truncated]).toEqual([10_000, true]);
  const long = 'x'.repeat(3_000_000);
  expect(compareValues('array', [long], [1])).toMatchObject({ changes: [{ path: [0], to: 1 }] });
  expect(compareValues('map', { a: long }, { a: `${long}y` })).toEqual({ changes: [], truncated: true });
});
