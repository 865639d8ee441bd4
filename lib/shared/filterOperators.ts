export const filterOperators = [
  '==',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  'in',
  'not-in',
  'array-contains',
  'array-contains-any',
] as const;
export type FilterOperator = (typeof filterOperators)[number];

/** The operators whose `value` is a list. */
export const listOperators: readonly FilterOperator[] = ['in', 'not-in', 'array-contains-any'];
/** The operators that compare two numbers, strings or booleans by their order. */
export const orderOperators: readonly FilterOperator[] = ['<', '<=', '>', '>='];

export function isOrdered(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
