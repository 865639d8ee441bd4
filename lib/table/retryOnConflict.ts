import { AsyncLocalStorage } from 'node:async_hooks';
import { ApiError } from '../shared/errors.ts';

/** For how long a conflicting write is retried before the answer is ABORTED. */
export const RETRY_MILLISECONDS = 3_000;
/** The longest pause after the first conflict. It grows with each further one, so that many writers of the same item come apart. */
const LONGEST_PAUSE_MILLISECONDS = 40;

/** What retries run on: tests replace the clock, the sleep and the random numbers. */
export interface RetryContext {
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
  /** A number from 0 to below 1. */
  readonly random: () => number;
  /** When retries end at the latest, epoch milliseconds: before the function's own end. */
  readonly until: number;
}

const contexts = new AsyncLocalStorage<RetryContext>();
const systemContext: RetryContext = {
  clock: () => Date.now(),
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  random: () => Math.random(),
  until: Infinity,
};

/** Runs `work` with another context for its retries; what is left out stays as it is. */
export function withRetryContext<T>(context: Partial<RetryContext>, work: () => T): T {
  return contexts.run({ ...(contexts.getStore() ?? systemContext), ...context }, work);
}

/** The retries of one operation: they end after 3 s, or when the context ends. */
export class Retries {
  readonly #context = contexts.getStore() ?? systemContext;
  readonly #until = Math.min(this.#context.clock() + RETRY_MILLISECONDS, this.#context.until);
  #conflicts = 0;

  /** Waits for a random time that grows with each call. Returns false, at once, when no time is left for another try. */
  async next(): Promise<boolean> {
    const left = this.#until - this.#context.clock();
    if (left <= 0) return false;
    await this.#context.sleep(Math.min(pauseAfter(this.#conflicts++, this.#context), left));
    return true;
  }

  /** Runs one try. Retries of operations inside it end with these. */
  attempt<T>(work: () => T): T {
    return withRetryContext({ until: this.#until }, work);
  }
}

/**
 * Reads, decides and writes until nobody else wrote in between: `attempt` returns `conflict` when its condition did not hold, and then runs again
 * from its reading on. Throws ABORTED when it still conflicts after 3 s, or when the function's time is nearly over. Rethrows what `attempt` throws.
 */
export async function retryOnConflict<T>(attempt: () => Promise<T | 'conflict'>): Promise<T> {
  const retries = new Retries();
  do {
    const outcome = await retries.attempt(attempt);
    if (outcome !== 'conflict') return outcome;
  } while (await retries.next());
  throw new ApiError('ABORTED', 'Other requests are changing the same thing. Send the request again.');
}

/** Waits for a random time after a conflict, longer after more of them. */
export async function pause(conflicts = 0): Promise<void> {
  const context = contexts.getStore() ?? systemContext;
  await context.sleep(pauseAfter(conflicts, context));
}

function pauseAfter(conflicts: number, { random }: RetryContext): number {
  return random() * LONGEST_PAUSE_MILLISECONDS * (conflicts + 1);
}
