/** DynamoDB bills the traffic of vector indexes by the gigabyte, in addition to read and write units. */
import { MILLION, prices } from './prices.ts';

export interface VectorConsumption {
  readonly written: number;
  readonly searched: number;
}

/**
 * In bytes, as the local engine counts them. AWS documents no formula, only a minimum of 1 kB for each request. A
 * judgment with content has two vectors. The bytes of a search grow with the index.
 */
export const vectorConsumption: Readonly<Record<string, VectorConsumption>> = {
  '/v2/memory/judgments/add one': { written: 2_440, searched: 0 },
  '/v2/memory/judgments/add one with content': { written: 4_880, searched: 0 },
  '/v2/memory/judgments/add one of a thread': { written: 2_440, searched: 0 },
  '/v2/memory/search a document': { written: 0, searched: 39_000 },
  '/v2/memory/search an organization': { written: 0, searched: 39_000 },
  '/v2/memory/search everything': { written: 0, searched: 39_000 },
};

export function vectorGigabytes({ written, searched }: VectorConsumption): VectorConsumption {
  const gigabytes = (bytes: number) => (MILLION * bytes) / 2 ** 30;
  return { written: gigabytes(written), searched: gigabytes(searched) };
}

export function vectorDollars(consumed: VectorConsumption): number {
  const { written, searched } = vectorGigabytes(consumed);
  return written * prices.vectorsWritten + searched * prices.vectorsSearched;
}
