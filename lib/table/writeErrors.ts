import type { TransactionCanceledException } from '@aws-sdk/client-dynamodb';

export function throttled(message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { name: 'ThrottlingException' });
}

export function errorName(error: unknown): string {
  return (error as { name?: string }).name ?? '';
}

/**
 * Positions of the operations whose condition failed, or whose item another transaction was writing. Throws an error
 * that has no conflict, as UNAVAILABLE if DynamoDB throttled the transaction.
 */
export function conflictsOf(error: unknown): number[] {
  if (errorName(error) === 'ConditionalCheckFailedException' || errorName(error) === 'TransactionConflictException')
    return [0];
  if (errorName(error) !== 'TransactionCanceledException') throw error;
  const conflicts = conflictsOfTransaction(error as TransactionCanceledException);
  if (conflicts.length > 0) return conflicts;
  throw isThrottledTransaction(error) ? throttled('The transaction was throttled', error) : error;
}

function conflictsOfTransaction({ CancellationReasons = [] }: TransactionCanceledException): number[] {
  return CancellationReasons.flatMap(({ Code }, index) =>
    Code === 'ConditionalCheckFailed' || Code === 'TransactionConflict' ? [index] : [],
  );
}

export function isThrottledTransaction(error: unknown): boolean {
  if (errorName(error) !== 'TransactionCanceledException') return false;
  const { CancellationReasons = [] } = error as TransactionCanceledException;
  return (
    conflictsOfTransaction(error as TransactionCanceledException).length === 0 &&
    CancellationReasons.some(({ Code }) => Code === 'ThrottlingError' || Code === 'ProvisionedThroughputExceeded')
  );
}
