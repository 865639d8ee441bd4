/**
 * A map by keys of the caller's for an answer: an object without a prototype, so that ids such as `__proto__` and
 * `constructor` are keys like any other.
 */
export function dict<V>(entries: Iterable<readonly [string, V]> = []): Record<string, V> {
  const made = Object.create(null) as Record<string, V>;
  for (const [key, value] of entries) made[key] = value;
  return made;
}

/** The values whose key comes first in the list, in their order: a repeated id is one item. */
export function distinctBy<T>(values: readonly T[], key: (value: T) => string): T[] {
  const seen = new Map<string, T>();
  for (const value of values) if (!seen.has(key(value))) seen.set(key(value), value);
  return [...seen.values()];
}

/** The distinct ids of a list, in the order of their first mention. */
export function distinct<T extends string>(ids: readonly T[]): T[] {
  return [...new Set(ids)];
}

/** Returns an object without the fields that are undefined. */
export function definedFields<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Partial<T>;
}
