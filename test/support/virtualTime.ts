import { type RetryContext, withRetryContext } from '../../lib/table/retryOnConflict.ts';

export interface VirtualTime {
  /** The lengths of the sleeps so far, in milliseconds. */
  readonly sleeps: number[];
  /** Runs `work` in the context. Sleeps of its retries take no real time. */
  run<T>(work: () => T): T;
}

/** Returns a context for retries whose clock advances only by sleeps. `random` returns the random numbers of pauses. */
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
