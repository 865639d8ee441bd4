import { isDeepStrictEqual } from 'node:util';

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

/** Operators whose value is a list of values. */
export const listOperators: readonly FilterOperator[] = ['in', 'not-in', 'array-contains-any'];
/** Operators that compare by order: of two numbers, two strings or two booleans. */
export const orderOperators: readonly FilterOperator[] = ['<', '<=', '>', '>='];

/** A condition on one field of a document's metadata. */
export interface MetadataFilter {
  /** The name of the field, or names joined by dots for a field of a field. */
  readonly key: string;
  readonly operator: FilterOperator;
  readonly value: unknown;
}

type Metadata = Readonly<Record<string, unknown>>;

/** Whether metadata meet all filters. A document that does not have the field of a filter does not meet the filter, whatever the operator. */
export function meetsFilters(filters: readonly MetadataFilter[], metadata: Metadata | undefined): boolean {
  return filters.every(({ key, operator, value }) => {
    const field = metadata === undefined ? undefined : fieldOf(metadata, key);
    return field !== undefined && meets(field, operator, value);
  });
}

function meets(field: unknown, operator: FilterOperator, value: unknown): boolean {
  switch (operator) {
    case '==':
      return isEqual(field, value);
    case '!=':
      return !isEqual(field, value);
    case '<':
    case '<=':
    case '>':
    case '>=':
      return isInOrder(field, operator, value);
    case 'in':
      return isAmong(value, field);
    case 'not-in':
      return !isAmong(value, field);
    case 'array-contains':
      return isAmong(field, value);
    case 'array-contains-any':
      return Array.isArray(value) && value.some((one) => isAmong(field, one));
  }
}

function isInOrder(field: unknown, operator: '<' | '<=' | '>' | '>=', value: unknown): boolean {
  if (typeof field !== typeof value || !isOrdered(field) || !isOrdered(value)) return false;
  if (operator === '<') return field < value;
  if (operator === '<=') return field <= value;
  return operator === '>' ? field > value : field >= value;
}

/** Whether values of this type have an order. */
export function isOrdered(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function isAmong(list: unknown, value: unknown): boolean {
  return Array.isArray(list) && list.some((one) => isEqual(one, value));
}

function isEqual(a: unknown, b: unknown): boolean {
  return a === b || isDeepStrictEqual(a, b);
}

/** The field under a name, else the one that names joined by dots lead to; undefined where there is none. */
function fieldOf(metadata: Metadata, key: string): unknown {
  if (Object.hasOwn(metadata, key)) return metadata[key];
  return key
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? (value as Metadata)[name]
          : undefined,
      metadata,
    );
}
