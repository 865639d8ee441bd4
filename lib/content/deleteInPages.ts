import type { ItemOutcome } from '../shared/results.ts';
import type { ItemPage } from '../table/pages.ts';

/** The result of a deletion for one record. */
export type DeletionResult = readonly [id: string, outcome: ItemOutcome];

/** The results of a deletion, by id. `next` is the position after which records may remain. Undefined at the end of the listing. */
export interface DeletedRecords {
  readonly results: readonly DeletionResult[];
  readonly next: string | undefined;
}

/** A call that selects records by a filter stops after it has deleted this many records, or after this time (milliseconds). */
const MAX_DELETED_RECORDS = 2_000;
const MAX_MILLISECONDS = 15_000;
/** The largest number of failed records in an answer. A call continues beyond records that it cannot delete. */
const MAX_FAILED_RECORDS = 500;

/**
 * Deletes the records of a listing, page by page. Stops after about 2,000 deleted records or 15 s. `deleteAll` returns a result for
 * each record of a page. At most 500 failed records are in the result.
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
