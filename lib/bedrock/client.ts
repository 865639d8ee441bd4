import { setTimeout as pause } from 'node:timers/promises';
import { BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime';
import { noteFailure } from '../observability/dependencies.ts';

export type BedrockClient = Pick<BedrockRuntimeClient, 'send'>;

let client: BedrockRuntimeClient | undefined;

/**
 * One client per process. It does not retry, because `retryCall` retries with a deadline. It opens a connection for
 * each call: a kept one could break while Lambda freezes the function.
 */
export function openBedrock(): BedrockRuntimeClient {
  client ??= new BedrockRuntimeClient({ maxAttempts: 1 });
  return client;
}

/** `timeout` and `pause` are in milliseconds. */
export interface RetryPolicy {
  readonly attempts: number;
  readonly timeout: number;
  /** The longest pause after the first attempt. It doubles with each attempt, at most four times. */
  readonly pause: number;
}

export const defaultRetries: RetryPolicy = { attempts: 5, timeout: 5_000, pause: 300 };
const MAX_DOUBLINGS = 4;

/**
 * Throws the last error of `call`, or AbortError if `signal` ends a pause. No attempt begins after `deadline` (epoch
 * ms), except the first.
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
      if (attempt >= attempts || Date.now() + delay >= deadline || !canRetry(error)) {
        noteFailure('model', error);
        throw error;
      }
      await pause(delay, undefined, signal && { signal });
    }
  }
}

/** Messages of model errors are never logged, because they can contain the text that was sent. */
export function nameOfError(error: unknown): string {
  return (error as { name?: string }).name ?? 'Error';
}
