/** The traffic of vector indexes. DynamoDB bills it by the gigabyte, in addition to read and write units. */
import { MILLION, prices } from './prices.ts';

/** The bytes that one request writes to vector indexes, and the bytes that it searches in them. */
export interface VectorConsumption {
  readonly written: number;
  readonly searched: number;
}

/**
 * The consumption of requests on judgments (stored review decisions), by the name of the request in `npm run cost`.
 * test/integration/table/capacity.test.ts asserts these values. A judgment with content has two vectors.
 *
 * The local engine counts these bytes. AWS documents no formula, but a minimum of 1 kB for each request, which all
 * values exceed. All operations that write, such as PutItem, count the same. The bytes of a search grow with the index.
 */
export const vectorConsumption: Readonly<Record<string, VectorConsumption>> = {
  '/v2/memory/judgments/add one': { written: 2_440, searched: 0 },
  '/v2/memory/judgments/add one with content': { written: 4_880, searched: 0 },
  '/v2/memory/judgments/add one of a thread': { written: 2_440, searched: 0 },
  '/v2/memory/search a document': { written: 0, searched: 39_000 },
  '/v2/memory/search an organization': { written: 0, searched: 39_000 },
  '/v2/memory/search everything': { written: 0, searched: 39_000 },
};

/** Returns the gigabytes that a million requests write and search. */
export function vectorGigabytes({ written, searched }: VectorConsumption): VectorConsumption {
  const gigabytes = (bytes: number) => (MILLION * bytes) / 2 ** 30;
  return { written: gigabytes(written), searched: gigabytes(searched) };
}

/** Returns the cost of a million requests in dollars, without capacity units. */
export function vectorDollars(consumed: VectorConsumption): number {
  const { written, searched } = vectorGigabytes(consumed);
  return written * prices.vectorsWritten + searched * prices.vectorsSearched;
}
