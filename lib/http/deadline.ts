import type { Context } from 'aws-lambda';
import { ApiError } from '../shared/errors.ts';
import { callSignal, withRetryContext } from '../table/retryOnConflict.ts';

/** A request ends this long before the function's timeout, so the caller still gets an answer. */
const EARLY_TIMEOUT_MILLISECONDS = 500;
/** Retries of conflicting writes end this long before the timeout: ABORTED is more precise than DEADLINE_EXCEEDED. */
const RETRIES_END_MILLISECONDS = 1_500;

/** Table calls of an invocation end at its deadline, and so does each `untilDeadline`. */
export async function withDeadline<T>(context: Context, run: () => Promise<T>): Promise<T> {
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

/** Throws DEADLINE_EXCEEDED at the deadline of the request. The work can continue after that. */
export async function untilDeadline<T>(work: Promise<T>): Promise<T> {
  const signal = callSignal();
  if (!signal) return work;
  const late = Promise.withResolvers<never>();
  const end = () => late.reject(signal.reason);
  if (signal.aborted) end();
  signal.addEventListener('abort', end);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}
