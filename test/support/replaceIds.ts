/** Returns a copy of a value in which ids are replaced at every depth. */
export function replaceIds<T>(value: T, ids: Readonly<Record<string, string>>): T {
  if (typeof value === 'string')
    return Object.entries(ids).reduce((text: string, [id, other]) => text.replaceAll(id, other), value) as T;
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map((part) => replaceIds(part, ids)) as T;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, replaceIds(part, ids)])) as T;
}
