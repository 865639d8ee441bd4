import { type RetryContext, withRetryContext } from '../../lib/table/retryOnConflict.ts';

interface VirtualTime {
  /** The duration of each sleep so far, in milliseconds. */
  readonly sleeps: number[];
  /** Runs `work`. Pauses of its retries take no real time. */
  run<T>(work: () => T): T;
}

/**
 * Returns a context for retries in which only sleeps advance the clock. `random` replaces the random numbers from
 * which pauses are computed.
 */
export function virtualTime({
  random = () => 0.5,
  ...context
}: Partial<Pick<RetryContext, 'random' | 'until'>> = {}): VirtualTime {
  let now = Date.now();
  const sleeps: number[] = [];
  const sleep = async (milliseconds: number) => {
    sleeps.push(milliseconds);
    now += milliseconds;
  };
  return { sleeps, run: (work) => withRetryContext({ clock: () => now, sleep, random, ...context }, work) };
}
