import { describe, expect, jest, test } from '@jest/globals';
import { Heartbeat } from '../../../lib/heartbeat/heartbeat.ts';

const NOW = Date.UTC(2026, 10, 23);
const TIME = '2026-11-23T00:00:00.000Z';
const LATER = '2026-11-23T00:00:01.000Z';
const credentials = { apiKey: 'key_1', authToken: 'a-secret-token' };

interface Call {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly data: unknown;
}

type Respond = (path: string, data: any) => { readonly status?: number; readonly body: unknown };

const refusal = (status: number, name: string, message: string) => ({
  status,
  body: { error: { status: name, message } },
});

/** Returns a fake API. It stores the heartbeat's one organization, by default after an earlier heartbeat. */
function workingApi(stored: { name?: string | undefined } = { name: 'old' }): Respond {
  return (path, data) => {
    if (path === '/v2/organizations/get')
      return { body: { result: { data: stored.name === undefined ? [] : [{ organizationName: stored.name }] } } };
    const exists = path === '/v2/organizations/add' || stored.name !== undefined;
    if (exists) stored.name = data.organizations[0].organizationName;
    return { body: { result: { data: { heartbeat: { success: exists, id: '', message: '' } } } } };
  };
}

function heartbeatWith(respond: Respond, secrets: readonly string[] = [JSON.stringify(credentials)]) {
  const calls: Call[] = [];
  let reads = 0;
  const heartbeat = new Heartbeat({
    baseUrl: 'https://api.example.com',
    serviceName: 'acme',
    readSecret: async () => secrets[Math.min(reads++, secrets.length - 1)]!,
    fetch: (async (url: URL, { headers, body }: { headers: Record<string, string>; body: string }) => {
      const { data } = JSON.parse(body) as { data: unknown };
      calls.push({ url: String(url), headers, data });
      const { status = 200, body: answer } = respond(url.pathname, data);
      return new Response(JSON.stringify(answer), { status });
    }) as typeof fetch,
  });
  return { heartbeat, calls, secretReads: () => reads };
}

/** Runs a heartbeat that must fail. Returns its error, with all text that the error and its causes contain. */
async function failureOf(heartbeat: Heartbeat): Promise<Error & { text: string }> {
  try {
    await heartbeat.check(NOW);
  } catch (error) {
    const { message, stack, cause } = error as Error;
    return Object.assign(error as Error, { text: `${message} ${stack} ${String(cause)} ${JSON.stringify(error)}` });
  }
  throw new Error('The heartbeat succeeded');
}

describe('a heartbeat', () => {
  test('writes the time and reads it back through the public URL, with the credentials of the secret, which it reads once', async () => {
    const { heartbeat, calls, secretReads } = heartbeatWith(workingApi());
    await heartbeat.check(NOW);
    expect(calls).toEqual([
      {
        url: 'https://api.example.com/v2/organizations/update',
        headers: {
          'content-type': 'application/json',
          'x-acme-api-key': 'key_1',
          'x-acme-auth-token': 'a-secret-token',
        },
        data: { organizations: [{ organizationId: 'heartbeat', organizationName: TIME }] },
      },
      expect.objectContaining({
        url: 'https://api.example.com/v2/organizations/get',
        data: { organizationIds: ['heartbeat'] },
      }),
    ]);
    await heartbeat.check(NOW);
    expect(secretReads()).toBe(1);
  });

  test('creates its organization if it does not exist', async () => {
    const { heartbeat, calls } = heartbeatWith(workingApi({ name: undefined }));
    await heartbeat.check(NOW);
    expect(calls.map(({ url }) => new URL(url).pathname)).toEqual([
      '/v2/organizations/update',
      '/v2/organizations/add',
      '/v2/organizations/get',
    ]);
  });

  test('accepts a read that returns the time of a later, simultaneous heartbeat', async () => {
    const { heartbeat } = heartbeatWith((path, data) =>
      path === '/v2/organizations/get'
        ? { body: { result: { data: [{ organizationName: LATER }] } } }
        : workingApi()(path, data),
    );
    await expect(heartbeat.check(NOW)).resolves.toBeUndefined();
  });

  test.each([
    ['an older time', [{ organizationName: '2026-11-22T23:59:00.000Z' }]],
    ['no organization', []],
    ['an organization without a name', [{}]],
  ])('fails if the read returns %s', async (_what, data) => {
    const { heartbeat } = heartbeatWith((path, sent) =>
      path === '/v2/organizations/get' ? { body: { result: { data } } } : workingApi()(path, sent),
    );
    await expect(heartbeat.check(NOW)).rejects.toThrow(`after a write of ${TIME}`);
  });

  test.each(['/v2/organizations/update', '/v2/organizations/get'])(
    'fails if %s fails, names that call, and does not repeat it',
    async (failing) => {
      const { heartbeat, calls } = heartbeatWith((path, data) =>
        path === failing ? refusal(503, 'UNAVAILABLE', 'Try again.') : workingApi()(path, data),
      );
      await expect(heartbeat.check(NOW)).rejects.toThrow(`${failing}: UNAVAILABLE: Try again.`);
      expect(calls.filter(({ url }) => url.endsWith(failing))).toHaveLength(1);
    },
  );

  test('fails if an answer does not have the documented shape', async () => {
    const { heartbeat } = heartbeatWith(() => ({ body: { result: { data: 'something else' } } }));
    await expect(heartbeat.check(NOW)).rejects.toThrow();
  });

  test('uses new credentials after a failure, so that a reset token needs no deployment', async () => {
    const renewed = JSON.stringify({ ...credentials, authToken: 'new-token' });
    const working = workingApi();
    let valid = false;
    const { heartbeat, calls } = heartbeatWith(
      (path, data) => (valid ? working(path, data) : refusal(403, 'PERMISSION_DENIED', 'No.')),
      [JSON.stringify(credentials), renewed],
    );
    await expect(heartbeat.check(NOW)).rejects.toThrow('PERMISSION_DENIED');
    valid = true;
    await heartbeat.check(NOW);
    expect(calls.map(({ headers }) => headers['x-acme-auth-token'])).toEqual([
      'a-secret-token',
      'new-token',
      'new-token',
    ]);
  });

  test('times out after eight seconds', async () => {
    const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort(new Error('too slow')));
    const heartbeat = new Heartbeat({
      baseUrl: 'https://api.example.com',
      serviceName: 'acme',
      readSecret: async () => JSON.stringify(credentials),
      fetch: (async (_url: URL, { signal }: { signal: AbortSignal }) => {
        throw signal.reason;
      }) as unknown as typeof fetch,
    });
    await expect(heartbeat.check(NOW)).rejects.toThrow('/v2/organizations/update: UNAVAILABLE: too slow');
    expect(timeout).toHaveBeenCalledWith(8_000);
    timeout.mockRestore();
  });
});

describe('errors of a heartbeat', () => {
  test.each([
    ['is empty', ''],
    ['has empty fields', JSON.stringify({ apiKey: '', authToken: '' })],
    ['is not JSON', '{ "apiKey": "key_1", "authToken": "a-secret-token"'],
    ['has a token that is no header', JSON.stringify({ ...credentials, authToken: 'a-secret-token\n' })],
    ['has no token', JSON.stringify({ apiKey: 'key_1' })],
  ])('ask for credentials and contain none if the secret %s', async (_what, secret) => {
    const { heartbeat, calls } = heartbeatWith(workingApi(), [secret]);
    const { message, text } = await failureOf(heartbeat);
    expect(message).toContain('The secret of the heartbeat has no credentials. An operator must store them.');
    expect(text).not.toContain('a-secret-token');
    expect(calls).toEqual([]);
  });

  test('contain no credentials if a call fails', async () => {
    const { heartbeat } = heartbeatWith(() => refusal(403, 'PERMISSION_DENIED', 'Invalid API key.'));
    const { text } = await failureOf(heartbeat);
    expect(text).toContain('PERMISSION_DENIED');
    expect(text).not.toMatch(/a-secret-token|key_1/);
  });
});
