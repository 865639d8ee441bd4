import { withRetryContext } from '../../lib/table/retryOnConflict.ts';

/** Runs work whose retries on conflicts never end by time: how fast a machine is must not decide a test of concurrency. */
export function withoutRetryLimit<T>(work: () => T): T {
  return withRetryContext({ clock: () => 0 }, work);
}
