/** Runs `work` for each value, for at most `width` values at a time. */
export async function inParallel<T>(
  values: readonly T[],
  width: number,
  work: (value: T) => Promise<unknown>,
): Promise<void> {
  // All loops share one iterator, so each value is processed once.
  const remaining = values.values();
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (const value of remaining) await work(value);
    }),
  );
}
