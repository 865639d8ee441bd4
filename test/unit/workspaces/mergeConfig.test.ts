import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { merge } from '../../../lib/workspaces/rules/mergeConfig.ts';
import { testProperty } from '../../support/testProperty.ts';

interface Tree {
  readonly [key: string]: Tree | string | number | boolean | readonly number[] | undefined;
}

const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.integer(), { maxLength: 2 }));
const key = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor', 'toString');
const { tree } = fc.letrec<{ tree: Tree; value: Tree[string] }>((tie) => ({
  tree: fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  value: fc.oneof({ maxDepth: 3 }, leaf, tie('tree')),
}));

const isMap = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns all values that are not maps, each with its path. */
function leaves(of: Tree, path: string[] = []): [path: string[], value: unknown][] {
  return Object.entries(of).flatMap(([name, value]) =>
    isMap(value) ? leaves(value, [...path, name]) : [[[...path, name], value] as [string[], unknown]],
  );
}

/** Returns the value at a path, or undefined if there is none. Inherited keys do not count. */
const valueAt = (of: unknown, path: string[]): unknown =>
  path.reduce<unknown>((node, name) => (isMap(node) && Object.hasOwn(node, name) ? node[name] : undefined), of);

describe('merge', () => {
  testProperty('contains every value that was sent', [tree, tree], (stored, sent) => {
    const merged = merge<Tree>(stored, sent);
    for (const [path, value] of leaves(sent)) expect(valueAt(merged, path)).toEqual(value);
  });

  testProperty('keeps every stored value that was not sent', [tree, tree], (stored, sent) => {
    const merged = merge<Tree>(stored, sent);
    for (const [path, value] of leaves(stored)) {
      const touched =
        valueAt(sent, path) !== undefined ||
        path.some(
          (_name, length) =>
            length > 0 &&
            valueAt(sent, path.slice(0, length)) !== undefined &&
            !isMap(valueAt(sent, path.slice(0, length))),
        );
      if (!touched) expect(valueAt(merged, path)).toEqual(value);
    }
  });

  testProperty('contains only stored values and sent values', [tree, tree], (stored, sent) => {
    for (const [path, value] of leaves(merge<Tree>(stored, sent)))
      expect([valueAt(stored, path), valueAt(sent, path)]).toContainEqual(value);
  });

  testProperty('changes neither of its arguments, and no prototype', [tree, tree], (stored, sent) => {
    const before = structuredClone([stored, sent]);
    const merged = merge<Tree>(stored, sent);
    expect([stored, sent]).toEqual(before);
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
    expect(({} as Tree).a).toBeUndefined();
  });

  test('ignores undefined fields at every depth', () => {
    expect(merge({ a: 1, b: { c: 2, d: 3 } }, { a: undefined, b: { c: undefined, d: 4 } })).toEqual({
      a: 1,
      b: { c: 2, d: 4 },
    });
  });

  test('keeps a key __proto__ as a key', () => {
    const merged = merge<Tree>({ a: 1 }, JSON.parse('{"__proto__":{"polluted":true}}') as Tree);
    expect(Object.keys(merged)).toEqual(['a', '__proto__']);
    expect(merged.polluted).toBeUndefined();
    expect(({} as Tree).polluted).toBeUndefined();
  });
});
