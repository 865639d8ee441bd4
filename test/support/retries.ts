import { withRetryContext } from '../../lib/table/retryOnConflict.ts';

/** Runs work whose retries on conflicts have no time limit, so that tests of concurrency do not depend on the speed of the machine. */
export function withoutRetryLimit<T>(work: () => T): T {
  return withRetryContext({ clock: () => 0 }, work);
}
