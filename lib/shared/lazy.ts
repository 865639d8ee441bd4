/** Returns a function that makes its value at the first call and returns the same value at every later call. */
export function lazy<T>(make: () => T): () => T {
  let cached: { value: T } | undefined;
  return () => (cached ??= { value: make() }).value;
}
