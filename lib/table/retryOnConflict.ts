import { AsyncLocalStorage } from 'node:async_hooks';
import { ApiError } from '../shared/errors.ts';

/** How long a conflicting write is retried before the answer is ABORTED. */
export const RETRY_MILLISECONDS = 3_000;
/**
 * The longest pause after the first conflict. Each further conflict makes the longest pause longer by this much, so
 * writers of the same item spread out.
 */
const MAX_PAUSE_MILLISECONDS = 40;

/** The clock, the sleep function, the random numbers and the latest end of retries. Tests replace them. */
export interface RetryContext {
  /** Returns the time in epoch milliseconds. */
  readonly clock: () => number;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
  /** Returns a number from 0 to below 1. */
  readonly random: () => number;
  /** The latest end of retries, epoch milliseconds. It is before the time-out of the function. */
  readonly until: number;
}

const contexts = new AsyncLocalStorage<RetryContext>();
const systemContext: RetryContext = {
  clock: () => Date.now(),
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  random: () => Math.random(),
  until: Infinity,
};

/** Runs `work` with another retry context and returns its result. Missing values come from the current context. */
export function withRetryContext<T>(context: Partial<RetryContext>, work: () => T): T {
  return contexts.run({ ...(contexts.getStore() ?? systemContext), ...context }, work);
}

/** The retries of one operation. They end after 3 s, or at the latest end of the retry context. */
export class Retries {
  readonly #context = contexts.getStore() ?? systemContext;
  readonly #until = Math.min(this.#context.clock() + RETRY_MILLISECONDS, this.#context.until);
  #conflicts = 0;

  /** Waits for a random time that grows with each call, and returns true. If no time is left, returns false at once. */
  async next(): Promise<boolean> {
    const timeLeft = this.#until - this.#context.clock();
    if (timeLeft <= 0) return false;
    await this.#context.sleep(Math.min(pauseAfter(this.#conflicts++, this.#context), timeLeft));
    return true;
  }

  /** Runs one attempt and returns its result. Retries inside the attempt end with these retries. */
  attempt<T>(work: () => T): T {
    return withRetryContext({ until: this.#until }, work);
  }
}

/**
 * Runs `attempt` until it does not return `conflict`, and returns its result. Every attempt reads, decides and writes
 * conditionally. Each retry therefore reads the changes of other writers. Throws ABORTED after 3 s of conflicts, or
 * shortly before the function times out.
 */
export async function retryOnConflict<T>(attempt: () => Promise<T | 'conflict'>): Promise<T> {
  const retries = new Retries();
  do {
    const outcome = await retries.attempt(attempt);
    if (outcome !== 'conflict') return outcome;
  } while (await retries.next());
  throw new ApiError('ABORTED', 'Other requests are changing the same resource. Send the request again.');
}

/** Waits for a random time that grows with the number of conflicts. */
export async function pause(conflicts = 0): Promise<void> {
  const context = contexts.getStore() ?? systemContext;
  await context.sleep(pauseAfter(conflicts, context));
}

function pauseAfter(conflicts: number, { random }: RetryContext): number {
  return random() * MAX_PAUSE_MILLISECONDS * (conflicts + 1);
}
