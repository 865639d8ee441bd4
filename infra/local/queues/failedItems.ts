/**
 * Returns the ids of the failed items of a batch, as Lambda reads them from the response of an event source's function. `batch`
 * contains the ids of all items. No item failed if the source reports no failures, or if the response has no list or an empty one.
 * If the response is invalid, all items failed.
 */
export function failedItems(
  { reportsFailures }: { readonly reportsFailures: boolean },
  answer: string,
  batch: readonly string[],
): readonly string[] {
  if (!reportsFailures) return [];
  const { batchItemFailures } = (JSON.parse(answer) ?? {}) as { batchItemFailures?: unknown };
  if (batchItemFailures === undefined || batchItemFailures === null) return [];
  if (!Array.isArray(batchItemFailures)) return batch;
  const failed = batchItemFailures.map((item: { itemIdentifier?: unknown } | null) => item?.itemIdentifier);
  return failed.every((id): id is string => typeof id === 'string' && batch.includes(id)) ? failed : batch;
}
