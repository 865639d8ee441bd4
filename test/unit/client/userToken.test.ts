import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import * as Y from 'yjs';
import { ServiceError } from '../../../lib/client/calls.ts';
import { EditorProvider } from '../../../lib/client/editorProvider.ts';
import { createUserClient, type UserClient } from '../../../lib/client/userClient.ts';
import { clientOf, FakeLive } from '../../support/fakeLive.ts';
import { testAsyncProperty } from '../../support/testProperty.ts';

const nda = { organizationId: 'acme', documentId: 'nda' };
const editor = { ...nda, editorId: 'summary' };

/** What a token function does when it is called. `late` answers after the client has given up. */
type Step =
  'fail' | 'fail with an error of the service' | 'hang' | 'late' | 'expired' | 'refused' | 'same' | 'no text' | 'good';

const kinds: readonly Step[] = [
  'fail',
  'fail with an error of the service',
  'hang',
  'late',
  'expired',
  'refused',
  'same',
  'no text',
  'good',
];

/** A token function that takes these steps, and then returns good tokens. */
class TokenServer {
  readonly #steps: Step[];
  readonly #last = { token: '' };
  /** The times at which each token was returned. */
  readonly returned = new Map<string, number[]>();
  calls = 0;

  constructor(steps: readonly Step[]) {
    this.#steps = [...steps];
  }

  get isGood(): boolean {
    return this.#steps.length === 0;
  }

  readonly token = async (): Promise<string> => {
    this.calls += 1;
    const step = this.#steps.shift() ?? 'good';
    if (step === 'fail') throw new Error('no token');
    if (step === 'fail with an error of the service')
      throw new ServiceError('/v2/auth/generate_token', 403, 'r', { status: 'PERMISSION_DENIED', message: 'refused' });
    if (step === 'no text') return '<html>\nBad gateway</html>';
    if (step === 'hang') await new Promise(() => undefined);
    if (step === 'late') await new Promise((resolve) => setTimeout(resolve, 25_000));
    const exp = Date.now() / 1000 + (step === 'expired' ? -60 : 300 + this.calls);
    const claims = { sub: 'ada', exp, iat: Date.now(), isGood: step === 'good' };
    const isSame = step === 'same' && this.#last.token !== '';
    const token = isSame ? this.#last.token : `h.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.s`;
    this.#last.token = token;
    this.returned.set(token, [...(this.returned.get(token) ?? []), Date.now()]);
    return token;
  };
}

let service: FakeLive;
/** The service refuses tokens from before this time, epoch milliseconds. */
let revokedAt: number;
let refusals: { readonly token: string; readonly at: number }[];
beforeEach(() => {
  jest.useFakeTimers({ now: 1_800_000_000_000 });
  restart();
});
afterEach(() => {
  jest.useRealTimers();
});

/** Starts another service, which refuses each token that is not good. */
function restart(): void {
  service = new FakeLive();
  refusals = [];
  revokedAt = 0;
  service.refusesToken = (token) => {
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<
      string,
      unknown
    >;
    const isRefused = !claims.isGood || (claims.iat as number) < revokedAt;
    if (isRefused) refusals.push({ token, at: Date.now() });
    return isRefused;
  };
}

const wait = (milliseconds = 400) => jest.advanceTimersByTimeAsync(milliseconds);

const clientWith = ({ token }: TokenServer) => clientOf(service, token);
const read = (client: UserClient, signal?: AbortSignal) =>
  client.v2.crdt.updates.get(editor, signal && { signal }).then(
    () => 'done',
    (error: unknown) => (error instanceof ServiceError ? error.status : (error as Error).message),
  );
/** Returns the outcome of a call, or `pending`. */
const now = (outcome: Promise<string>) => Promise.race([outcome, Promise.resolve('pending')]);
/** Returns the outcome of one call with these tokens. */
async function outcomeWith(...steps: Step[]): Promise<string> {
  const outcome = read(clientWith(new TokenServer(steps)));
  await wait(200_000);
  return now(outcome);
}

/** Returns the tokens that were sent again after the client knew of their refusal. It takes 5 ms each way. */
function sentAgain(server: TokenServer): string[] {
  const first = new Map<string, number>();
  for (const { token, at } of refusals) if (!first.has(token)) first.set(token, at);
  return refusals.flatMap(({ token, at }) => {
    const knownAt = (first.get(token) as number) + 5;
    const isReturnedAgain = server.returned.get(token)?.some((time) => time >= knownAt);
    return at - 5 > knownAt && !isReturnedAgain ? [token] : [];
  });
}

describe('a call with a user token', () => {
  test.each([
    [['refused'], 'done', 1],
    [['fail', 'refused'], 'done', 1],
    [['fail', 'expired', 'refused', 'fail'], 'done', 2],
    [['hang', 'refused', 'hang'], 'done', 1],
    [['no text', 'no text'], 'done', 0],
    [['fail with an error of the service'], 'done', 0],
    [['fail', 'fail', 'fail', 'fail'], 'UNAVAILABLE', 0],
    [['refused', 'refused', 'refused', 'refused'], 'PERMISSION_DENIED', 4],
    [['refused', 'same'], 'PERMISSION_DENIED', 1],
  ] as const)('after the token function did %p, ends with %s after %p refusals', async (steps, outcome, count) => {
    expect(await outcomeWith(...steps)).toBe(outcome);
    expect(refusals).toHaveLength(count);
  });

  test('counts a token function without an answer as failed after 20 s', async () => {
    const server = new TokenServer(['hang']);
    const outcome = read(clientWith(server));
    await wait(19_900);
    expect([server.calls, service.calls.length]).toEqual([1, 0]);
    await wait(400);
    expect([server.calls, await now(outcome)]).toEqual([2, 'done']);
  });

  test('does not use a token that arrives after the 20 s', async () => {
    const server = new TokenServer(['late', 'good', 'refused']);
    const client = clientWith(server);
    const outcome = read(client);
    await wait(30_000);
    const later = read(client);
    await wait();
    expect([await now(outcome), await now(later), refusals, server.calls]).toEqual(['done', 'done', [], 2]);
  });

  test('ends at once when its signal is aborted while the token function does not answer', async () => {
    const controller = new AbortController();
    const outcome = read(clientWith(new TokenServer(['hang'])), controller.signal);
    await wait(1_000);
    controller.abort(new Error('enough'));
    await wait(1);
    expect(await now(outcome)).toBe('enough');
  });

  test('uses the last token for as long as the service accepts it while the token function fails', async () => {
    const server = new TokenServer(['good', 'fail', 'hang']);
    const client = clientWith(server);
    const first = read(client);
    await wait(280_000);
    const outcomes = [read(client)];
    await wait();
    outcomes.push(read(client));
    await wait(21_000);
    expect([await now(first), ...(await Promise.all(outcomes.map(now))), server.calls]).toEqual([
      'done',
      'done',
      'done',
      3,
    ]);
  });

  test('has the same idempotency key and data with each token', async () => {
    const sent: string[] = [];
    const data = { ...nda, users: [{ userId: 'ada' }] };
    const client = createUserClient({
      baseUrl: 'https://api.test',
      token: new TokenServer(['fail', 'refused', 'good']).token,
      fetch: (url, request) => {
        sent.push(JSON.stringify([(request?.headers as Record<string, string>)['idempotency-key'], request?.body]));
        data.users = [];
        return service.fetch(url, request);
      },
    });
    const outcome = client.v2.presence.add(data);
    await wait(60_000);
    await outcome;
    expect(sent).toHaveLength(2);
    expect(sent[1]).toBe(sent[0]);
    expect(service.users.has('ada')).toBe(true);
  });
});

describe('a token function that fails, hangs, and returns good and bad tokens in any order', () => {
  testAsyncProperty(
    'lets every call end, each call after the last bad token succeed, and no refused token be sent again',
    [fc.array(fc.constantFrom(...kinds), { maxLength: 10 }), fc.array(fc.nat({ max: 60_000 }), { maxLength: 12 })],
    async (steps, times) => {
      restart();
      const server = new TokenServer(steps);
      const client = clientWith(server);
      const outcomes: Promise<string>[] = [];
      for (const milliseconds of times) {
        // Some calls begin together.
        if (milliseconds % 3 > 0) await wait(milliseconds);
        const { isGood } = server;
        const outcome = read(client);
        outcomes.push(isGood ? outcome.then((end) => (end === 'done' ? end : `${end} with good tokens`)) : outcome);
      }
      let isEnded = false;
      const all = Promise.all(outcomes).finally(() => (isEnded = true));
      await wait(200_000);
      expect(isEnded).toBe(true);
      for (const outcome of await all) expect(['done', 'UNAVAILABLE', 'PERMISSION_DENIED']).toContain(outcome);
      // Each of these calls takes at least one step.
      for (let taken = 0; taken < 10; taken++) {
        void read(client);
        await wait(400_000);
      }
      const last = read(client);
      await wait();
      expect(await now(last)).toBe('done');
      expect(sentAgain(server)).toEqual([]);
    },
    { numRuns: 150 },
  );

  testAsyncProperty(
    'leaves a live document live and an editor synced and saved, also after all tokens were revoked',
    [fc.array(fc.constantFrom(...kinds), { maxLength: 10 }), fc.nat({ max: 30_000 }), fc.boolean()],
    async (steps, milliseconds, isRevoked) => {
      restart();
      const server = new TokenServer(steps);
      const client = clientWith(server);
      const live = client.live(nda);
      const provider = new EditorProvider(new Y.Doc(), { ...editor, client });
      const rejected: ServiceError[] = [];
      provider.on('rejected', (error) => rejected.push(error));
      await wait(milliseconds);
      if (isRevoked) {
        revokedAt = Date.now();
        service.disconnect();
      }
      provider.doc.getText('content').insert(0, 'Hello');
      await wait(1_200_000);
      expect([live.status, provider.synced, provider.saved, rejected]).toEqual(['live', true, true, []]);
      expect(service.editor.getText('content').toJSON()).toBe('Hello');
      expect(sentAgain(server)).toEqual([]);
      const closing = Promise.all([provider.destroy(), live.close()]);
      await wait(1_000);
      await closing;
    },
    { numRuns: 60 },
  );
});
