/** Runs at most `width` values at a time. Returns the results in the order of the values. */
export async function inParallel<T, R>(
  values: readonly T[],
  width: number,
  work: (value: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  // All loops share one iterator, so each value is processed once.
  const remaining = values.entries();
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (const [index, value] of remaining) results[index] = await work(value, index);
    }),
  );
  return results;
}
