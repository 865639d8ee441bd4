import { type RetryContext, withRetryContext } from '../../lib/table/retryOnConflict.ts';

export interface VirtualTime {
  /** The lengths of the sleeps so far, in milliseconds. */
  readonly sleeps: number[];
  /** Runs `work` so that the sleeps of its retries cost no time. */
  run<T>(work: () => T): T;
}

/** A clock for retries that only sleeps move. `random` is what each pause draws. */
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
