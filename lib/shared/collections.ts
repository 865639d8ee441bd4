/**
 * Returns an object without a prototype, so that ids such as `__proto__` and `constructor` are ordinary keys. For maps
 * in answers.
 */
export function dict<V>(entries: Iterable<readonly [string, V]> = []): Record<string, V> {
  const record = Object.create(null) as Record<string, V>;
  for (const [key, value] of entries) record[key] = value;
  return record;
}

/** Returns the values without those whose key occurred before. */
export function distinctBy<T>(values: readonly T[], key: (value: T) => string): T[] {
  const seen = new Map<string, T>();
  for (const value of values) if (!seen.has(key(value))) seen.set(key(value), value);
  return [...seen.values()];
}

/** Returns the distinct ids of a list, in their order. */
export function distinct<T extends string>(ids: readonly T[]): T[] {
  return [...new Set(ids)];
}

/** Returns an object without the fields that are undefined. */
export function definedFields<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Partial<T>;
}
