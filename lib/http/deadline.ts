import type { Context } from 'aws-lambda';
import { ApiError } from '../shared/errors.ts';
import { callSignal, withRetryContext } from '../table/retryOnConflict.ts';

/** How many milliseconds before the function's timeout a request ends, so that the caller still gets an answer. */
const EARLY_TIMEOUT_MILLISECONDS = 500;
/**
 * How many milliseconds before the function's timeout retries of conflicting writes end. The answer is then ABORTED,
 * which is more precise than DEADLINE_EXCEEDED.
 */
const RETRIES_END_MILLISECONDS = 1_500;

/** Runs an invocation. Its table calls end at the deadline, and so does each `untilDeadline`. */
export async function withDeadline<T>(context: Context, run: () => Promise<T>): Promise<T> {
  // The context that tests pass has no `getRemainingTimeInMillis`.
  const remaining = (context as Partial<Context>).getRemainingTimeInMillis?.();
  if (remaining === undefined) return run();
  const deadline = new AbortController();
  const end = () =>
    deadline.abort(
      new ApiError('DEADLINE_EXCEEDED', 'The request took too long. Its effect may or may not have happened.'),
    );
  const timer = setTimeout(end, Math.max(0, remaining - EARLY_TIMEOUT_MILLISECONDS));
  try {
    const until = Date.now() + remaining - RETRIES_END_MILLISECONDS;
    return await withRetryContext({ until, signal: deadline.signal }, run);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for `work`. Throws DEADLINE_EXCEEDED at the deadline of the request. The work can continue after that. */
export async function untilDeadline<T>(work: Promise<T>): Promise<T> {
  const signal = callSignal();
  if (!signal) return work;
  const late = Promise.withResolvers<never>();
  const end = () => late.reject(signal.reason);
  if (signal.aborted) end();
  signal.addEventListener('abort', end);
  try {
    // If both have settled, the work counts.
    return await Promise.race([work, late.promise]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}
