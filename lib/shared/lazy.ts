/** Returns a function that makes its value at the first call. Later calls return the same value. */
export function lazy<T>(make: () => T): () => T {
  let cached: { value: T } | undefined;
  return () => (cached ??= { value: make() }).value;
}
