import { setTimeout as pauseFor } from 'node:timers/promises';
import { type BedrockRuntimeClient, InvokeModelCommand } from '@aws-sdk/client-bedrock-runtime';
import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { DIMENSIONS } from '../memory/rules/lexical.ts';
import { ApiError } from '../shared/errors.ts';
import { inParallel } from '../shared/inParallel.ts';
import { pauseBefore, type Tries, usual } from './retries.ts';
import { openBedrock } from './client.ts';

/** Amazon Titan Text Embeddings V2. */
export const TITAN_MODEL = 'amazon.titan-embed-text-v2:0';

/** It takes one text per call. */
const PARALLEL = 8;
const BUDGET_MILLISECONDS = 10_000;
/** It takes 50,000 characters and 8,192 tokens; a token is four to five characters of most texts, but of some one or less. */
const LONGEST_TEXT = 30_000;
/** So short a text has not too many tokens, whatever its characters: what is refused then is refused for another reason. */
const SHORTEST_CUT = 1_000;

/** Nothing is wrong with the call, and everything with the text: again would not help. */
const REFUSED = 'ValidationException';

const Answer = z.object({ embedding: z.array(z.number()).length(DIMENSIONS) });

/** Embeds by Titan: unit vectors of 512 numbers, several texts at a time. */
export class TitanEmbedder {
  readonly model = TITAN_MODEL;
  readonly #client: Pick<BedrockRuntimeClient, 'send'>;
  readonly #tries: Tries;

  constructor(client: Pick<BedrockRuntimeClient, 'send'>, tries: Tries = usual) {
    this.#client = client;
    this.#tries = tries;
  }

  async embed(
    texts: readonly string[],
    { deadline = Date.now() + BUDGET_MILLISECONDS }: { readonly deadline?: number | undefined } = {},
  ): Promise<Float32Array[]> {
    const vectors = new Array<Float32Array>(texts.length);
    // One that fails ends the others: the answer is all or nothing, and calls cost money.
    const failing = new AbortController();
    await inParallel([...texts.keys()], PARALLEL, async (index) => {
      if (failing.signal.aborted) return;
      try {
        vectors[index] = await this.#embedOne(texts[index]!, deadline, failing.signal);
      } catch (error) {
        if (!failing.signal.aborted) failing.abort(error);
      }
    });
    // Thrown when all have ended: nothing goes on once the caller knows.
    failing.signal.throwIfAborted();
    return vectors;
  }

  /** The vector of a text, or of its beginning if it is too long for the model. */
  async #embedOne(text: string, deadline: number, ended: AbortSignal): Promise<Float32Array> {
    let start = beginning(text, LONGEST_TEXT);
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#ask(start, deadline, ended);
      } catch (error) {
        if (nameOf(error) === REFUSED && start.length > SHORTEST_CUT) {
          start = beginning(start, Math.floor(start.length / 2));
          continue;
        }
        const pause = isPassing(error) && !ended.aborted ? pauseBefore(attempt, deadline, this.#tries) : undefined;
        if (pause === undefined) throw unanswered(error);
        await pauseFor(pause, undefined, { signal: ended });
      }
    }
  }

  async #ask(inputText: string, deadline: number, ended: AbortSignal): Promise<Float32Array> {
    const patience = Math.max(1, Math.min(this.#tries.patience, deadline - Date.now()));
    const command = new InvokeModelCommand({
      modelId: TITAN_MODEL,
      contentType: 'application/json',
      accept: 'application/json',
      body: JSON.stringify({ inputText, dimensions: DIMENSIONS, normalize: true }),
    });
    const { body } = await this.#client.send(command, {
      abortSignal: AbortSignal.any([ended, AbortSignal.timeout(patience)]),
    });
    return vectorIn(body.transformToString());
  }
}

/** The vector in an answer. It says nothing of the text. */
function vectorIn(body: string): Float32Array {
  const { embedding } = Answer.parse(JSON.parse(body));
  const length = Math.hypot(...embedding);
  if (!(length > 1e-9)) throw new Error('The model gave a vector without direction');
  return Float32Array.from(embedding, (value) => value / length);
}

/** At most so many characters from the start; never half of one. A text of nothing but spaces, which the model does not take, becomes a dot. */
function beginning(text: string, length: number): string {
  const start = text.slice(0, length).toWellFormed();
  return start.trim() === '' ? '.' : start;
}

/** Whether another try may help: anything but what was answered and is the caller's or the operator's to put in order. */
function isPassing(error: unknown): boolean {
  const { $metadata: { httpStatusCode: status } = {} } = error as { $metadata?: { httpStatusCode?: number } };
  return status === undefined || status < 400 || status === 408 || status === 424 || status === 429 || status >= 500;
}

/** For the caller it is all the same. The cause is for the log: its name, as an error's text can repeat what was sent. */
function unanswered(error: unknown): ApiError {
  return new ApiError('UNAVAILABLE', 'The embedding model does not answer. Send the request again a little later.', {
    cause: new Error(`The embedding model failed: ${nameOf(error)}`),
  });
}

function nameOf(error: unknown): string {
  return (error as { name?: string }).name ?? 'Error';
}

/** Ask Titan for vectors. */
export const asksTitan: Capability<TitanEmbedder> = {
  grants: [{ resource: 'model/embedding', actions: ['InvokeModel'] }],
  env: [],
  open: () => new TitanEmbedder(openBedrock()),
};
