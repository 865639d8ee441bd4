import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../shared/collections.ts';
import { type FilterOperator, isOrdered } from '../../shared/filterOperators.ts';

export interface MetadataFilter {
  readonly key: string;
  readonly operator: FilterOperator;
  readonly value: unknown;
}

type Metadata = Readonly<Record<string, unknown>>;

/** Metadata without the field of a filter does not match, not even with `!=` or `not-in`. */
export function matchesFilters(filters: readonly MetadataFilter[], metadata: Metadata | undefined): boolean {
  return filters.every(({ key, operator, value }) => {
    const field = metadata === undefined ? undefined : fieldOf(metadata, key);
    return field !== undefined && matches(field, operator, value);
  });
}

function matches(field: unknown, operator: FilterOperator, value: unknown): boolean {
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
      return includes(value, field);
    case 'not-in':
      return !includes(value, field);
    case 'array-contains':
      return includes(field, value);
    case 'array-contains-any':
      return Array.isArray(value) && value.some((item) => includes(field, item));
  }
}

function isInOrder(field: unknown, operator: '<' | '<=' | '>' | '>=', value: unknown): boolean {
  if (typeof field !== typeof value || !isOrdered(field) || !isOrdered(value)) return false;
  if (operator === '<') return field < value;
  if (operator === '<=') return field <= value;
  return operator === '>' ? field > value : field >= value;
}

function includes(list: unknown, value: unknown): boolean {
  return Array.isArray(list) && list.some((element) => isEqual(element, value));
}

function isEqual(a: unknown, b: unknown): boolean {
  return a === b || isDeepStrictEqual(a, b);
}

function fieldOf(metadata: Metadata, key: string): unknown {
  if (Object.hasOwn(metadata, key)) return metadata[key];
  let value: unknown = metadata;
  for (const name of key.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}
