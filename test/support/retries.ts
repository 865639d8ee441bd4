import { withRetryContext } from '../../lib/table/retryOnConflict.ts';

/**
 * Runs `work`, in which retries on conflicts have no time limit. Tests of concurrency then also pass on a slow
 * machine.
 */
export function withoutRetryLimit<T>(work: () => T): T {
  return withRetryContext({ clock: () => 0 }, work);
}
