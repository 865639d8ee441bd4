import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { countListItems } from '../../../lib/http/listItems.ts';
import { Id, list, OpenObject, optional, withFieldChanges, withOpenKeys } from '../../../lib/shared/schema.ts';

describe('countListItems', () => {
  const Item = z.object({ tags: optional(list(Id, 9)), metadata: optional(OpenObject) });
  const schema = z.object({ items: list(Item, 9), ids: optional(list(Id, 9)) });
  const data = { items: [{ tags: ['a', 'b'] }, { metadata: { free: [1, 2, 3] } }], ids: ['x'], unknown: [1, 2] };

  test('counts the elements of declared lists at any depth, and not those of free objects and unknown fields', () => {
    expect(countListItems(schema, data)).toBe(5);
  });

  test('counts in schemas with checks, transformations, changed fields and open keys', () => {
    const checked = schema.check(z.refine(() => true)).transform(({ items }) => items.length);
    expect(countListItems(checked, data)).toBe(5);
    expect(countListItems(withFieldChanges(schema, { required: ['ids'] }), data)).toBe(5);
    expect(countListItems(withOpenKeys({ items: list(Item, 9) }), data)).toBe(4);
    expect(countListItems(z.record(z.string(), list(Id, 9)), { a: ['x'], b: ['y', 'z'] })).toBe(3);
    expect(countListItems(z.union([list(Id, 9), Id]), ['x', 'y'])).toBe(2);
  });
});
