import { setTimeout as pause } from 'node:timers/promises';
import { BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime';

export type BedrockClient = Pick<BedrockRuntimeClient, 'send'>;

let client: BedrockRuntimeClient | undefined;

/**
 * Returns the Bedrock client of the process. The first call creates it. The client does not retry, because `retryCall` retries with
 * a deadline. The client opens a new connection for each call (its default). An open connection can break while Lambda freezes the
 * function.
 */
export function openBedrock(): BedrockRuntimeClient {
  client ??= new BedrockRuntimeClient({ maxAttempts: 1 });
  return client;
}

/** How often and how long a model is called. Times are milliseconds. */
export interface RetryPolicy {
  readonly attempts: number;
  /** The longest wait for one answer. */
  readonly timeout: number;
  /** The longest pause after the first attempt. It doubles after each of the next four attempts. */
  readonly pause: number;
}

export const defaultRetries: RetryPolicy = { attempts: 5, timeout: 5_000, pause: 300 };
const MAX_DOUBLINGS = 4;

/**
 * Repeats a call, with exponential backoff and jitter, until it succeeds. Throws the error of the call if `canRetry` returns false,
 * if no attempt remains, or if the pause would exceed the deadline (epoch ms). An aborted `signal` ends a pause.
 */
export async function retryCall<T>(
  call: () => Promise<T>,
  { attempts, pause: firstPause }: RetryPolicy,
  deadline: number,
  canRetry: (error: unknown) => boolean,
  signal?: AbortSignal,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      const longest = firstPause * 2 ** Math.min(attempt - 1, MAX_DOUBLINGS);
      const delay = longest * (0.5 + Math.random() / 2);
      if (attempt >= attempts || Date.now() + delay >= deadline || !canRetry(error)) throw error;
      await pause(delay, undefined, signal && { signal });
    }
  }
}

/** Returns the name of an error. Messages are never logged, because they can contain the text that was sent to the model. */
export function nameOfError(error: unknown): string {
  return (error as { name?: string }).name ?? 'Error';
}
