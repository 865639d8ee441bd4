import { slicesOf } from './collections.ts';

/** One slice after another. Returns the results in the order of the values. */
export async function inSlices<T, R>(
  values: readonly T[],
  size: number,
  work: (slice: readonly T[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const results: R[] = [];
  for (const slice of slicesOf(values, size)) results.push(...(await work(slice)));
  return results;
}
