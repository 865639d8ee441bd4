import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../shared/errors.ts';

/** A conflicting write is retried for at most this time. */
export const RETRY_MILLISECONDS = 8_000;
/** The longest pause doubles with each conflict, so writers of the same item spread out. */
const [FIRST_PAUSE_MILLISECONDS, MAX_PAUSE_MILLISECONDS] = [40, 1_000];

export interface RetryContext {
  readonly clock: () => number;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
  readonly random: () => number;
  /**
   * Epoch milliseconds: shortly before the function times out, or the end of an outer operation. Nothing is retried
   * after it.
   */
  readonly until: number;
  /** Aborted at the deadline of the request. Calls of the table then fail. */
  readonly signal?: AbortSignal;
}

const contexts = new AsyncLocalStorage<RetryContext>();
export const defaultRetryContext: { clock: RetryContext['clock'] } & RetryContext = {
  clock: () => Date.now(),
  sleep,
  random: () => Math.random(),
  until: Infinity,
};

export function withRetryContext<T>(context: Partial<RetryContext>, work: () => T): T {
  return contexts.run({ ...(contexts.getStore() ?? defaultRetryContext), ...context }, work);
}

export function callSignal(): AbortSignal | undefined {
  return contexts.getStore()?.signal;
}

export class Retries {
  readonly #context = contexts.getStore() ?? defaultRetryContext;
  readonly #until = Math.min(this.#context.clock() + RETRY_MILLISECONDS, this.#context.until);
  #conflicts = 0;

  /** Waits for a random time. Returns false without waiting if no time is left. */
  async next(): Promise<boolean> {
    const timeLeft = this.#until - this.#context.clock();
    if (timeLeft <= 0) return false;
    await this.#context.sleep(Math.min(pauseAfter(this.#conflicts++, this.#context), timeLeft));
    return true;
  }

  /** Operations inside the attempt stop their retries when the time of this operation ends. */
  attempt<T>(work: () => T): T {
    return withRetryContext({ until: this.#until }, work);
  }
}

/**
 * Runs `attempt` until its result is not `conflict`. Each attempt must read the state again. Throws ABORTED after 8 s,
 * or shortly before the function times out.
 */
export async function retryOnConflict<T>(attempt: () => Promise<T | 'conflict'>): Promise<T> {
  const retries = new Retries();
  do {
    const outcome = await retries.attempt(attempt);
    if (outcome !== 'conflict') return outcome;
  } while (await retries.next());
  throw new ApiError('ABORTED', 'Other requests are changing the same resource. Send the request again.');
}

export async function pause(conflicts = 0): Promise<void> {
  const context = contexts.getStore() ?? defaultRetryContext;
  await context.sleep(pauseAfter(conflicts, context));
}

function pauseAfter(conflicts: number, { random }: RetryContext): number {
  return random() * Math.min(MAX_PAUSE_MILLISECONDS, FIRST_PAUSE_MILLISECONDS * 2 ** conflicts);
}
