import { setTimeout as pause } from 'node:timers/promises';
import { BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime';

export type BedrockClient = Pick<BedrockRuntimeClient, 'send'>;

let client: BedrockRuntimeClient | undefined;

/**
 * Returns the Bedrock client of the process, created at the first call. It does not retry: `retryCall` does, with a
 * deadline. It opens a connection per call (its default), because a connection that stayed open while the function was
 * frozen would fail the first calls.
 */
export function openBedrock(): BedrockRuntimeClient {
  client ??= new BedrockRuntimeClient({ maxAttempts: 1 });
  return client;
}

/** How often and how long a model is called. Times in milliseconds. */
export interface RetryPolicy {
  readonly attempts: number;
  /** Longest wait for one answer. */
  readonly timeout: number;
  /** Longest pause after the first attempt. It doubles after each of the next four. */
  readonly pause: number;
}

export const defaultRetries: RetryPolicy = { attempts: 5, timeout: 5_000, pause: 300 };
const MAX_DOUBLINGS = 4;

/**
 * Repeats a call, with exponential backoff and jitter, until it succeeds. Throws its error when `canRetry` is false,
 * when no attempt is left, and when the pause would exceed the deadline (epoch ms). An aborted `signal` ends a pause.
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

/**
 * Returns the name of an error. The message is never logged, because it can repeat the text that was sent to the model.
 */
export function nameOfError(error: unknown): string {
  return (error as { name?: string }).name ?? 'Error';
}
