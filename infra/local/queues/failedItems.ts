/**
 * The items of a batch that failed, as Lambda reads the answer of a function that reports them: none or an empty list means
 * that none did, and an answer that it cannot make sense of that all of them did.
 */
export function failedItems(answer: string, batch: readonly string[]): readonly string[] {
  const { batchItemFailures } = (JSON.parse(answer) ?? {}) as { batchItemFailures?: unknown };
  if (batchItemFailures === undefined || batchItemFailures === null) return [];
  if (!Array.isArray(batchItemFailures)) return batch;
  const failed = batchItemFailures.map((item: { itemIdentifier?: unknown } | null) => item?.itemIdentifier);
  return failed.every((id): id is string => typeof id === 'string' && batch.includes(id)) ? failed : batch;
}
