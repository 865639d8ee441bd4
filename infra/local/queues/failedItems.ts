/**
 * Returns the failed ids of `batch`, as Lambda reads them from a function's response: none if the event source is not
 * set to read them or the response has no list, all if the list is invalid.
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
