import { withRetryContext } from '../../lib/table/retryOnConflict.ts';

/**
 * Runs `work` without a time limit for retries on conflicts. Tests of concurrency then do not depend on the speed of the
 * machine.
 */
export function withoutRetryLimit<T>(work: () => T): T {
  return withRetryContext({ clock: () => 0 }, work);
}
