import type { ItemOutcome } from '../shared/results.ts';
import type { ItemPage } from '../table/pages.ts';

export type DeletionResult = readonly [id: string, outcome: ItemOutcome];

export interface DeletedRecords {
  readonly results: readonly DeletionResult[];
  readonly next: string | undefined;
}

const MAX_DELETED_RECORDS = 2_000;
const MAX_MILLISECONDS = 15_000;
const MAX_FAILED_RECORDS = 500;

/**
 * Stops after about 2,000 deleted records or 15 s. Goes on after records that cannot be deleted, and returns at most
 * 500 of them.
 */
export async function deleteInPages<T>(
  listing: AsyncIterable<ItemPage<T>>,
  deleteAll: (records: readonly T[]) => Promise<readonly DeletionResult[]>,
  clock: () => number,
): Promise<DeletedRecords> {
  const deadline = clock() + MAX_MILLISECONDS;
  const results: DeletionResult[] = [];
  let [deleted, failed] = [0, 0];
  for await (const { values, next } of listing) {
    for (const result of await deleteAll(values)) {
      const [, { success }] = result;
      if (success) deleted += 1;
      else failed += 1;
      if (success || failed <= MAX_FAILED_RECORDS) results.push(result);
    }
    if (deleted >= MAX_DELETED_RECORDS || clock() > deadline) return { results, next };
  }
  return { results, next: undefined };
}
