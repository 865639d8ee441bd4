/**
 * Returns the ids of the failed items of a batch, as Lambda reads them from a partial batch response. `batch` contains
 * the ids of all items. Without a list in the response, or with an empty one, no item failed. If the response is
 * invalid, all items failed.
 */
export function failedItems(answer: string, batch: readonly string[]): readonly string[] {
  const { batchItemFailures } = (JSON.parse(answer) ?? {}) as { batchItemFailures?: unknown };
  if (batchItemFailures === undefined || batchItemFailures === null) return [];
  if (!Array.isArray(batchItemFailures)) return batch;
  const failed = batchItemFailures.map((item: { itemIdentifier?: unknown } | null) => item?.itemIdentifier);
  return failed.every((id): id is string => typeof id === 'string' && batch.includes(id)) ? failed : batch;
}
