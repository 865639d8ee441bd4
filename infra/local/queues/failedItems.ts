/**
 * Returns the failed items of a batch, as Lambda reads the result of a function with partial batch responses. Nothing
 * or an empty list means success. An invalid result means that all items failed.
 */
export function failedItems(answer: string, batch: readonly string[]): readonly string[] {
  const { batchItemFailures } = (JSON.parse(answer) ?? {}) as { batchItemFailures?: unknown };
  if (batchItemFailures === undefined || batchItemFailures === null) return [];
  if (!Array.isArray(batchItemFailures)) return batch;
  const failed = batchItemFailures.map((item: { itemIdentifier?: unknown } | null) => item?.itemIdentifier);
  return failed.every((id): id is string => typeof id === 'string' && batch.includes(id)) ? failed : batch;
}
