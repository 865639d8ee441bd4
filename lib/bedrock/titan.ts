import { InvokeModelCommand } from '@aws-sdk/client-bedrock-runtime';
import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { ApiError } from '../shared/errors.ts';
import { inParallel } from '../shared/inParallel.ts';
import { type BedrockClient, defaultRetries, nameOfError, openBedrock, retryCall, type RetryPolicy } from './client.ts';
import { DIMENSIONS } from './rules.ts';

export const TITAN_MODEL = 'amazon.titan-embed-text-v2:0';

const PARALLEL_CALLS = 8;
const BUDGET_MS = 10_000;
/**
 * Characters that are sent to the model, which accepts 50,000 characters and 8,192 tokens. A token is four to five
 * characters in most languages, one or less in a few. A text that the model rejects is halved and sent again.
 */
const MAX_TEXT = 30_000;
/** A text of this length cannot have too many tokens, so the model rejects it for another reason. */
const MIN_CUT = 1_000;

const Answer = z.object({ embedding: z.array(z.number()).length(DIMENSIONS) });

export class TitanEmbedder {
  readonly model = TITAN_MODEL;
  readonly #client: BedrockClient;
  readonly #retries: RetryPolicy;

  constructor(client: BedrockClient, retries = defaultRetries) {
    this.#client = client;
    this.#retries = retries;
  }

  /** Returns unit vectors. If a text fails, waits for the running calls to end and throws UNAVAILABLE. */
  async embed(
    texts: readonly string[],
    { deadline = Date.now() + BUDGET_MS }: { readonly deadline?: number | undefined } = {},
  ): Promise<Float32Array[]> {
    const vectors: Float32Array[] = [];
    // The first failure aborts the other calls. Their results would not be used, and calls cost money.
    const failure = new AbortController();
    await inParallel(texts, PARALLEL_CALLS, async (text, index) => {
      if (failure.signal.aborted) return;
      try {
        vectors[index] = await this.#embedOne(text, deadline, failure.signal);
      } catch (error) {
        failure.abort(unavailable(error));
      }
    });
    failure.signal.throwIfAborted();
    return vectors;
  }

  async #embedOne(text: string, deadline: number, signal: AbortSignal): Promise<Float32Array> {
    let start = truncate(text, MAX_TEXT);
    return retryCall(
      async () => {
        for (;;) {
          try {
            return await this.#invoke(start, deadline, signal);
          } catch (error) {
            if (nameOfError(error) !== 'ValidationException' || start.length <= MIN_CUT) throw error;
            start = truncate(start, Math.floor(start.length / 2));
          }
        }
      },
      this.#retries,
      deadline,
      (error) => canRetry(error) && !signal.aborted,
      signal,
    );
  }

  async #invoke(inputText: string, deadline: number, signal: AbortSignal): Promise<Float32Array> {
    const timeout = Math.max(1, Math.min(this.#retries.timeout, deadline - Date.now()));
    const command = new InvokeModelCommand({
      modelId: TITAN_MODEL,
      contentType: 'application/json',
      accept: 'application/json',
      body: JSON.stringify({ inputText, dimensions: DIMENSIONS, normalize: true }),
    });
    const abortSignal = AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
    const { body } = await this.#client.send(command, { abortSignal });
    const { embedding } = Answer.parse(JSON.parse(body.transformToString()));
    const length = Math.hypot(...embedding);
    if (!(length > 1e-9)) throw new Error('The model returned a vector without direction');
    return Float32Array.from(embedding, (value) => value / length);
  }
}

/** Replaces half of a surrogate pair at the end. Returns a dot for a blank text, which the model rejects. */
function truncate(text: string, length: number): string {
  const start = text.slice(0, length).toWellFormed();
  return start.trim() === '' ? '.' : start;
}

/** Client errors (4xx) are final, except timeouts (408), model errors (424) and throttling (429). */
function canRetry(error: unknown): boolean {
  const { $metadata: { httpStatusCode: status = 500 } = {} } = error as { $metadata?: { httpStatusCode?: number } };
  return status < 400 || status >= 500 || [408, 424, 429].includes(status);
}

/** `cause` is logged, so it has only the name of the model's error. */
function unavailable(error: unknown): ApiError {
  return new ApiError('UNAVAILABLE', 'The embedding model does not answer. Send the request again a little later.', {
    cause: new Error(`The embedding model failed: ${nameOfError(error)}`),
  });
}

export const titanEmbedder: Capability<TitanEmbedder> = {
  grants: [{ resource: 'model/embedding', actions: ['InvokeModel'] }],
  env: [],
  open: () => new TitanEmbedder(openBedrock()),
};
