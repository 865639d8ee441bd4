import type * as z from 'zod';
import { isObject } from '../shared/collections.ts';
import { declaredKeysOf } from '../shared/schema.ts';

/** Counts elements at any depth in unparsed `data`, but not in free objects, such as `metadata`. */
export function countListItems(schema: z.core.$ZodType, data: unknown): number {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const count = (inner: z.core.$ZodType, values: readonly unknown[]) =>
    values.reduce<number>((sum, value) => sum + countListItems(inner, value), 0);
  const declared = declaredKeysOf(schema);
  if (declared) return countListItems(declared, data);
  if (def.type === 'object')
    return Object.entries(def.shape).reduce(
      (sum, [key, field]) => sum + (isObject(data) ? countListItems(field, data[key]) : 0),
      0,
    );
  if (def.type === 'array') return Array.isArray(data) ? data.length + count(def.element, data) : 0;
  if (def.type === 'record') return isObject(data) ? count(def.valueType, Object.values(data)) : 0;
  if (def.type === 'union') return Math.max(...def.options.map((option) => countListItems(option, data)));
  if (def.type === 'pipe') return countListItems(def.out._zod.def.type === 'transform' ? def.in : def.out, data);
  if (def.type === 'lazy') return countListItems(def.getter(), data);
  return 'innerType' in def ? countListItems(def.innerType, data) : 0;
}
