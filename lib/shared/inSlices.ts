import { slicesOf } from './collections.ts';

export async function inSlices<T, R>(
  values: readonly T[],
  size: number,
  work: (slice: readonly T[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const results: R[] = [];
  for (const slice of slicesOf(values, size)) results.push(...(await work(slice)));
  return results;
}
