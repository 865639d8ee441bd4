import { AsyncLocalStorage } from 'node:async_hooks';
import { ApiError } from '../shared/errors.ts';

/** A conflicting write is retried for this long before the answer is ABORTED. */
export const RETRY_MILLISECONDS = 3_000;
/**
 * The longest pause after the first conflict. It grows with each conflict, so that writers of the same item spread out.
 */
const LONGEST_PAUSE_MILLISECONDS = 40;

/** The clock, sleep and random numbers of retries. Tests replace them. */
export interface RetryContext {
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
  /** A number from 0 to below 1. */
  readonly random: () => number;
  /** The latest end of retries, before the function times out. Epoch milliseconds. */
  readonly until: number;
}

const contexts = new AsyncLocalStorage<RetryContext>();
const systemContext: RetryContext = {
  clock: () => Date.now(),
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  random: () => Math.random(),
  until: Infinity,
};

/** Runs `work` with another retry context. Missing values are those of the current context. */
export function withRetryContext<T>(context: Partial<RetryContext>, work: () => T): T {
  return contexts.run({ ...(contexts.getStore() ?? systemContext), ...context }, work);
}

/** The retries of one operation: they end after 3 s, or when the context ends. */
export class Retries {
  readonly #context = contexts.getStore() ?? systemContext;
  readonly #until = Math.min(this.#context.clock() + RETRY_MILLISECONDS, this.#context.until);
  #conflicts = 0;

  /** Waits for a random time that grows with each call. Returns false at once if no time is left. */
  async next(): Promise<boolean> {
    const timeLeft = this.#until - this.#context.clock();
    if (timeLeft <= 0) return false;
    await this.#context.sleep(Math.min(pauseAfter(this.#conflicts++, this.#context), timeLeft));
    return true;
  }

  /** Runs one try. Nested retries end with these retries. */
  attempt<T>(work: () => T): T {
    return withRetryContext({ until: this.#until }, work);
  }
}

/**
 * Runs `attempt` until it does not return `conflict`, and returns its result. An attempt reads, decides and writes
 * conditionally, so a retry sees the changes of other writers. Throws ABORTED after 3 s of conflicts, or shortly before
 * the function times out.
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
  return random() * LONGEST_PAUSE_MILLISECONDS * (conflicts + 1);
}
