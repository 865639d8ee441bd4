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

export const listOperators: readonly FilterOperator[] = ['in', 'not-in', 'array-contains-any'];
export const orderOperators: readonly FilterOperator[] = ['<', '<=', '>', '>='];

export function isOrdered(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
