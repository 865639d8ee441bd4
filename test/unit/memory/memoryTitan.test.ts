import { once } from 'node:events';
import { BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Environment } from '../../../lib/app/capability.ts';
import type { RetryPolicy } from '../../../lib/bedrock/client.ts';
import { TITAN_MODEL, TitanEmbedder } from '../../../lib/bedrock/titan.ts';
import { embedders } from '../../../lib/memory/embedders.ts';
import { times } from '../../support/times.ts';
import { startTitan, type Titan, type TitanReply, titanVector } from '../../support/titan.ts';

/** Short pauses. No answer of the fake takes as long as the timeout, also on a busy machine. */
const quick: RetryPolicy = { attempts: 4, timeout: 120_000, pause: 4 };
/** The timeout, in milliseconds, of calls that never get a complete answer. */
const SHORT = 500;

let titan: Titan;
let client: BedrockRuntimeClient;
beforeAll(async () => {
  titan = await startTitan();
  client = new BedrockRuntimeClient({
    maxAttempts: 1,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
});
afterAll(() => titan.stop());
beforeEach(() => {
  titan.calls.length = 0;
  titan.maxParallel = 0;
  titan.script = () => undefined;
});

const embed = (texts: readonly string[], { retries = quick, budget = 3_600_000 } = {}) =>
  new TitanEmbedder(client, retries).embed(texts, { deadline: Date.now() + budget });
async function failure(work: Promise<unknown>): Promise<Error & { status?: string; cause?: Error }> {
  const [outcome] = await Promise.allSettled([work]);
  if (outcome.status === 'fulfilled') throw new Error('It did not fail');
  return outcome.reason;
}
const texts = (count: number) => times(count, (index) => `text number ${index}`);
/** Returns the cosine similarity of two vectors. `a` must have length 1. */
const similarity = (a: ArrayLike<number>, b: readonly number[]) =>
  b.reduce((sum, value, index) => sum + value * a[index]!, 0) / Math.hypot(...b);

describe('TitanEmbedder', () => {
  test('sends one signed call per text, eight at a time, and returns unit vectors in the order of the texts', async () => {
    const eight = Promise.withResolvers<undefined>();
    titan.script = (_call, number) => {
      if (number === 7) eight.resolve(undefined);
      return eight.promise;
    };
    const vectors = await embed(texts(40));
    expect(vectors).toHaveLength(40);
    texts(40).forEach((text, index) => expect(similarity(vectors[index]!, titanVector(text))).toBeCloseTo(1, 5));
    for (const vector of vectors) expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    expect(titan.calls).toHaveLength(40);
    expect(titan.calls.find(({ inputText }) => inputText === 'text number 0')).toEqual({
      path: `/model/${encodeURIComponent(TITAN_MODEL)}/invoke`,
      inputText: 'text number 0',
      dimensions: 512,
      normalize: true,
      signed: true,
    });
    expect(titan.maxParallel).toBe(8);
  });

  test('sends no call without texts', async () => {
    expect(await embed([])).toEqual([]);
    expect(titan.calls).toEqual([]);
  });

  test.each<[string, TitanReply]>([
    ['throttling (429)', { status: 429, error: 'ThrottlingException' }],
    ['an internal error (500)', { status: 500, error: 'InternalServerException' }],
    ['unavailability (503)', { status: 503, error: 'ServiceUnavailableException' }],
    ['a model timeout (408)', { status: 408, error: 'ModelTimeoutException' }],
    ['an answer that is not JSON', { body: '<html>' }],
    ['an empty answer', { body: '' }],
    ['too few numbers', { body: JSON.stringify({ embedding: [1, 2, 3] }) }],
    ['values that are not numbers', { body: JSON.stringify({ embedding: Array(512).fill('1') }) }],
    ['a vector without direction', { body: JSON.stringify({ embedding: Array(512).fill(0) }) }],
    ['a closed connection', 'reset'],
  ])('retries after %s', async (_what, reply) => {
    titan.script = (_call, number) => (number < 2 ? reply : undefined);
    const [vector] = await embed(['clause']);
    expect(similarity(vector!, titanVector('clause'))).toBeCloseTo(1, 5);
    expect(titan.calls).toHaveLength(3);
  });

  test.each<[string, TitanReply]>([
    ['no answer', 'hang'],
    ['an answer that stops after its headers', 'stall'],
  ])('retries after %s', async (_what, reply) => {
    // On a busy machine, an attempt can also time out before its call arrives.
    titan.script = (_call, number) => (number < 1 ? reply : undefined);
    const [vector] = await embed(['clause'], { retries: { ...quick, attempts: 100, timeout: SHORT } });
    expect(similarity(vector!, titanVector('clause'))).toBeCloseTo(1, 5);
    expect(titan.calls.length).toBeGreaterThanOrEqual(2);
  });

  test('throws UNAVAILABLE after four attempts, and the error does not contain the text', async () => {
    titan.script = () => ({ status: 429, error: 'ThrottlingException' });
    const error = await failure(embed(['secret clause']));
    expect([error.status, error.message, error.cause?.message]).toEqual([
      'UNAVAILABLE',
      'The embedding model does not answer. Send the request again a little later.',
      'The embedding model failed: ThrottlingException',
    ]);
    expect(titan.calls).toHaveLength(4);
  });

  test('throws at the deadline although attempts remain', async () => {
    titan.script = () => 'hang';
    // Without the deadline, an attempt would take longer than the time limit of a test.
    const error = await failure(embed(texts(20), { retries: { ...quick, timeout: 3_600_000 }, budget: 400 }));
    expect(error.status).toBe('UNAVAILABLE');
    expect(titan.calls.length).toBeLessThanOrEqual(8);
  });

  test('sends no further calls after one text failed', async () => {
    titan.script = ({ inputText }) =>
      inputText === 'text number 9' ? { status: 403, error: 'AccessDeniedException' } : undefined;
    const error = await failure(embed(texts(200)));
    expect([error.status, error.cause?.message]).toEqual([
      'UNAVAILABLE',
      'The embedding model failed: AccessDeniedException',
    ]);
    expect(titan.calls.length).toBeLessThan(40);
  });

  test('ends the retry pauses of other texts after one text failed', async () => {
    titan.script = ({ inputText }) => {
      if (inputText === 'text number 0') return { status: 429, error: 'ThrottlingException' };
      // The last text fails while the first text waits for its retry.
      return inputText === 'text number 20' ? { status: 403, error: 'AccessDeniedException' } : undefined;
    };
    // The pause is longer than the time limit of a test.
    const error = await failure(embed(texts(21), { retries: { ...quick, pause: 3_600_000 }, budget: 24 * 3_600_000 }));
    expect(error.cause?.message).toBe('The embedding model failed: AccessDeniedException');
  });

  test('ends all other calls before it throws', async () => {
    let under = 0;
    const send = async (
      { input: { body } }: { input: { body: string } },
      { abortSignal }: { abortSignal: AbortSignal },
    ) => {
      if (body.includes('number 3')) throw Object.assign(new Error('no'), { $metadata: { httpStatusCode: 403 } });
      under += 1;
      await once(abortSignal, 'abort');
      await new Promise((resolve) => setImmediate(resolve));
      under -= 1;
      throw abortSignal.reason;
    };
    await failure(new TitanEmbedder({ send } as never, quick).embed(texts(8)));
    expect(under).toBe(0);
  });

  test.each([
    [403, 'AccessDeniedException'],
    [404, 'ResourceNotFoundException'],
    [400, 'ValidationException'],
  ])('does not retry after %i %s', async (status, error) => {
    titan.script = () => ({ status, error });
    expect((await failure(embed([error]))).status).toBe('UNAVAILABLE');
    // Calls of earlier tests may still arrive after they were aborted, so only calls with this text count.
    expect(titan.calls.filter(({ inputText }) => inputText === error)).toHaveLength(1);
  });

  test('sends the beginning of a long text, and half of it when the model counts too many tokens', async () => {
    titan.script = ({ inputText }) =>
      inputText.length > 8_000 ? { status: 400, error: 'ValidationException' } : undefined;
    await embed(['契'.repeat(50_000)]);
    expect(titan.calls.map(({ inputText }) => inputText.length)).toEqual([30_000, 15_000, 7_500]);
  });

  test('splits no character and sends no blank text', async () => {
    await embed(['x'.repeat(29_999) + '🙂', 'half \ud83d', ' \n\u3000']);
    const sent = titan.calls.map(({ inputText }) => inputText.slice(-6)).sort();
    expect(sent).toEqual(['.', 'half \ufffd', 'xxxxx\ufffd'].sort());
  });
});

describe('embedders', () => {
  const open = (EMBEDDING_MODEL: string) => embedders.open({ EMBEDDING_MODEL } as Environment);

  test('use Titan when it is configured, and still include the lexical embedder', () => {
    const { current, of } = open(TITAN_MODEL);
    expect([current.model, of(TITAN_MODEL)?.model, of('lexical-1')?.model, of('other')]).toEqual([
      TITAN_MODEL,
      TITAN_MODEL,
      'lexical-1',
      undefined,
    ]);
  });

  test('include no Bedrock model when the lexical embedder is configured', () => {
    const { current, of } = open('lexical');
    expect([current.model, of(TITAN_MODEL), of('lexical-1')?.model]).toEqual(['lexical-1', undefined, 'lexical-1']);
  });

  test('grant only InvokeModel on the embedding model', () => {
    expect(embedders.grants).toEqual([{ resource: 'model/embedding', actions: ['InvokeModel'] }]);
  });
});
