import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../shared/errors.ts';

/** A conflicting write is retried for this time, in milliseconds. Then the call fails with ABORTED. */
export const RETRY_MILLISECONDS = 8_000;
/**
 * The longest pause after the first conflict, and after any conflict, in milliseconds. The longest pause doubles with each conflict.
 * Writers of the same item then spread out until each of them succeeds.
 */
const [FIRST_PAUSE_MILLISECONDS, MAX_PAUSE_MILLISECONDS] = [40, 1_000];

/** The clock, the sleep function and the random numbers of retries, which tests replace, and the end of retries and calls. */
export interface RetryContext {
  /** Returns the time in epoch milliseconds. */
  readonly clock: () => number;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
  /** Returns a number from 0 to below 1. */
  readonly random: () => number;
  /** The time after which nothing is retried, epoch milliseconds. It is shortly before the function times out. */
  readonly until: number;
  /** Is aborted at the deadline of the request. Calls of the table then fail. */
  readonly signal?: AbortSignal;
}

const contexts = new AsyncLocalStorage<RetryContext>();
/** The retry context of code that does not run inside `withRetryContext`. Tests replace its clock. */
export const defaultRetryContext: { clock: RetryContext['clock'] } & RetryContext = {
  clock: () => Date.now(),
  sleep,
  random: () => Math.random(),
  until: Infinity,
};

/** Runs `work` with another retry context and returns its result. Fields that `context` lacks come from the current context. */
export function withRetryContext<T>(context: Partial<RetryContext>, work: () => T): T {
  return contexts.run({ ...(contexts.getStore() ?? defaultRetryContext), ...context }, work);
}

/** Returns the signal that ends the calls of the current request. Returns undefined outside of requests. */
export function callSignal(): AbortSignal | undefined {
  return contexts.getStore()?.signal;
}

/** The retries of one operation. They end after 8 s, or at `until` of the retry context if that is earlier. */
export class Retries {
  readonly #context = contexts.getStore() ?? defaultRetryContext;
  readonly #until = Math.min(this.#context.clock() + RETRY_MILLISECONDS, this.#context.until);
  #conflicts = 0;

  /** Waits for a random time that grows with each call, and returns true. Returns false without waiting if no time is left. */
  async next(): Promise<boolean> {
    const timeLeft = this.#until - this.#context.clock();
    if (timeLeft <= 0) return false;
    await this.#context.sleep(Math.min(pauseAfter(this.#conflicts++, this.#context), timeLeft));
    return true;
  }

  /**
   * Runs one attempt and returns its result. Operations inside the attempt also stop their retries when the time of this operation
   * ends.
   */
  attempt<T>(work: () => T): T {
    return withRetryContext({ until: this.#until }, work);
  }
}

/**
 * Runs `attempt` until its result is not `conflict`, and returns this result. Each attempt must read the state again, so that it
 * finds the changes of other writers. Throws ABORTED after 8 s of conflicts, or shortly before the function times out.
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
  const context = contexts.getStore() ?? defaultRetryContext;
  await context.sleep(pauseAfter(conflicts, context));
}

function pauseAfter(conflicts: number, { random }: RetryContext): number {
  return random() * Math.min(MAX_PAUSE_MILLISECONDS, FIRST_PAUSE_MILLISECONDS * 2 ** conflicts);
}
