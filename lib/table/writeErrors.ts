import type { TransactionCanceledException } from '@aws-sdk/client-dynamodb';

/** Returns an error with the name of AWS's throttling error. API callers get UNAVAILABLE for it. */
export function throttled(message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { name: 'ThrottlingException' });
}

/** Returns the name of an error, or an empty string for a value without a name. */
export function errorName(error: unknown): string {
  return (error as { name?: string }).name ?? '';
}

/**
 * Returns the positions of the operations that conflicted: their condition failed, or another transaction was writing the same
 * item. Throws an error that has no conflict. API callers get UNAVAILABLE if DynamoDB throttled the transaction.
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

/** Returns whether a transaction failed only because DynamoDB throttled the table or an index. */
export function isThrottledTransaction(error: unknown): boolean {
  if (errorName(error) !== 'TransactionCanceledException') return false;
  const { CancellationReasons = [] } = error as TransactionCanceledException;
  return (
    conflictsOfTransaction(error as TransactionCanceledException).length === 0 &&
    CancellationReasons.some(({ Code }) => Code === 'ThrottlingError' || Code === 'ProvisionedThroughputExceeded')
  );
}
