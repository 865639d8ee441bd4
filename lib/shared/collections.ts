export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object has no prototype, so ids such as `__proto__` are ordinary keys. Use it for maps in answers. */
export function dict<V>(entries: Iterable<readonly [string, V]> = []): Record<string, V> {
  const record = Object.create(null) as Record<string, V>;
  for (const [key, value] of entries) record[key] = value;
  return record;
}

/** Keeps the first of several values with the same key. */
export function distinctBy<T>(values: readonly T[], key: (value: T) => string): T[] {
  const firstByKey = new Map<string, T>();
  for (const value of values) if (!firstByKey.has(key(value))) firstByKey.set(key(value), value);
  return [...firstByKey.values()];
}

export function distinct<T extends string>(ids: readonly T[]): T[] {
  return [...new Set(ids)];
}

export function slicesOf<T>(values: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_each, index) =>
    values.slice(index * size, (index + 1) * size),
  );
}

export function definedFields<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Partial<T>;
}

export function hasFields<T extends object>(object: T, fields: Partial<T>): boolean {
  return Object.entries(fields).every(([name, value]) => object[name as keyof T] === value);
}
