import { describe, expect, jest, test } from '@jest/globals';
import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { tokenHash } from '../../../lib/crypto/tokenHash.ts';
import { Credentials, credentials } from '../../../lib/http/credentials.ts';
import { Idempotency, idempotency } from '../../../lib/http/idempotency.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { RateBuckets, rateBuckets } from '../../../lib/http/rateBuckets.ts';
import * as logMessages from '../../../lib/observability/logMessages.ts';
import { ApiError } from '../../../lib/shared/errors.ts';
import type { Table } from '../../../lib/table/table.ts';
import { capturedLogObjects } from '../../support/capturedLog.ts';
import { testHandler } from '../../support/endpoint.ts';
import { eventOf, send } from '../../support/requests.ts';

const [KEY, OTHER_KEY] = [`key_${'a'.repeat(27)}`, `key_${'b'.repeat(27)}`];
const SECRET = 'hunter2-hunter2-hunter2';
const limit = { perSecond: 1_000, burstSeconds: 10 };
const lines = capturedLogObjects();

const accessLines = () => lines.filter(({ message }) => message === 'request completed');
const metrics = () => lines.filter((line) => '_aws' in line);

/** Returns an endpoint of the auth level `apiKey`. Its table has only the key `KEY`, with the token `SECRET`. */
function authenticated(run: () => Promise<unknown>, kind: 'read' | 'write' = 'read') {
  const table = {
    get: async (_entity: unknown, { apiKey }: { apiKey: string }) =>
      apiKey === KEY
        ? { apiKey, workspaceId: 'ws', tokenHashes: [tokenHash(SECRET)], pageKey: new Uint8Array(32), createdAt: 0 }
        : undefined,
    putIf: async () => 'done',
  } as unknown as Table;
  jest.spyOn(credentials, 'open').mockReturnValue(new Credentials(table));
  jest.spyOn(idempotency, 'open').mockReturnValue(new Idempotency(table));
  jest
    .spyOn(rateBuckets, 'open')
    .mockReturnValue(new RateBuckets(table, { read: limit, write: limit, expensive: limit }));
  return toLambda(
    defineEndpoint(
      {
        path: '/v2/tests/log',
        summary: 'Log',
        auth: 'apiKey',
        kind,
        input: z.object({ password: z.string().optional() }),
        output: z.looseObject({}),
        message: 'Logged.',
        errors: [],
        uses: {},
        impact: 'none',
        example: { data: {}, result: {} },
      },
      async () => (await run()) as Record<string, unknown>,
    ),
    { SERVICE_NAME: 'svc' },
  );
}
const failing = (error: Error, kind?: 'write') =>
  authenticated(async () => {
    throw error;
  }, kind);
const answering = (answer: object = {}) => authenticated(async () => answer);
const withKey = (body = '{"data":{}}', more: Record<string, string> = {}) =>
  eventOf(body, { 'x-svc-api-key': KEY, 'x-svc-auth-token': SECRET, ...more });

describe('the access log', () => {
  // This must be the first test, because it sends the first request of the process.
  test('marks only the first request of a process as a cold start', async () => {
    for (let i = 0; i < 3; i++) await send(testHandler(), eventOf('{"data":{}}'));
    expect(accessLines().map(({ coldStart }) => coldStart)).toEqual([true, false, false]);
  });

  test('has one line per request: endpoint, request id, tenant, status, duration', async () => {
    const event = withKey();
    await send(answering({ data: 1 }), event);
    expect(accessLines()).toEqual([
      expect.objectContaining({
        level: 'INFO',
        service: 'svc',
        endpoint: 'v2.tests.log',
        requestId: event.requestContext.requestId,
        lambdaRequestId: expect.any(String),
        tenant: KEY,
        status: 200,
        method: 'POST',
        durationMs: expect.any(Number),
        coldStart: expect.any(Boolean),
      }),
    ]);
    expect(accessLines()[0]).not.toHaveProperty('errorStatus');
    expect(metrics()).toEqual([]);
  });

  test('has an error of the caller at level info, with its status', async () => {
    await send(failing(new ApiError('NOT_FOUND', 'Gone.', { cause: new Error('the cause') })), withKey());
    expect(accessLines()).toEqual([
      expect.objectContaining({ level: 'INFO', status: 404, errorStatus: 'NOT_FOUND', tenant: KEY }),
    ]);
    expect(accessLines()[0]).not.toHaveProperty('error');
    expect(metrics()).toEqual([]);
  });

  test('has no tenant for a request with wrong credentials', async () => {
    await send(answering(), eventOf('{"data":{}}', { 'x-svc-api-key': OTHER_KEY, 'x-svc-auth-token': SECRET }));
    expect(accessLines()).toEqual([
      expect.objectContaining({ level: 'INFO', status: 403, errorStatus: 'PERMISSION_DENIED' }),
    ]);
    expect(accessLines()[0]).not.toHaveProperty('tenant');
  });

  test('has a fault at level error with its cause, and the metric of the family counts it', async () => {
    await send(failing(new Error('outer', { cause: new Error('inner') })), withKey());
    expect(accessLines()).toEqual([
      expect.objectContaining({
        level: 'ERROR',
        status: 500,
        errorStatus: 'INTERNAL',
        error: expect.objectContaining({ message: 'outer', cause: expect.objectContaining({ message: 'inner' }) }),
      }),
    ]);
    expect(metrics()).toEqual([expect.objectContaining({ service: 'svc', family: 'v2/tests', Faults: 1 })]);
  });

  test('has the cause of a declared fault, also under an Idempotency-Key', async () => {
    for (const headers of [{}, { 'idempotency-key': 'k' }] as Record<string, string>[]) {
      lines.length = 0;
      const unavailable = failing(
        new ApiError('UNAVAILABLE', 'Later.', { cause: new Error('the provider is away') }),
        'write',
      );
      expect((await send(unavailable, withKey(undefined, headers))).body.error).toEqual({
        status: 'UNAVAILABLE',
        message: 'Later.',
      });
      expect(accessLines()).toEqual([
        expect.objectContaining({
          level: 'ERROR',
          status: 503,
          errorStatus: 'UNAVAILABLE',
          error: expect.objectContaining({ message: 'the provider is away' }),
        }),
      ]);
    }
  });

  test('has the status of an error under an Idempotency-Key', async () => {
    const missing = failing(new ApiError('NOT_FOUND', 'Gone.'), 'write');
    await send(missing, withKey(undefined, { 'idempotency-key': 'k' }));
    expect(accessLines()).toEqual([expect.objectContaining({ status: 404, errorStatus: 'NOT_FOUND' })]);
  });

  test('has no bodies, headers or answers', async () => {
    const body = `{"data":{"password":"${SECRET}"}}`;
    const headers = {
      authorization: SECRET,
      cookie: SECRET,
      'x-svc-workspace-auth-token': SECRET,
      'user-agent': SECRET,
    };
    const query = { rawQueryString: `token=${SECRET}`, rawPath: `/v2/${SECRET}` };
    await send(answering({ data: SECRET }), { ...withKey(body, headers), ...query });
    await send(failing(new ApiError('INVALID_ARGUMENT', SECRET, { details: { SECRET } })), withKey(body, headers));
    await send(failing(new Error('fault')), withKey(body, headers));
    await send(answering(), withKey(`not json ${SECRET}`, headers));
    await send(answering(), eventOf(body, { ...headers, 'x-svc-api-key': SECRET, 'x-svc-auth-token': SECRET }));
    await send(
      testHandler({ input: z.object({ a: z.string() }) }),
      eventOf(`{"data":{"a":[${JSON.stringify(SECRET)}]}}`, headers),
    );
    expect(accessLines().map(({ status }) => status)).toEqual([200, 400, 500, 400, 403, 400]);
    expect(JSON.stringify(lines)).not.toContain(SECRET);
  });

  test('adds the keys of the request to lines of the endpoint, also for simultaneous requests', async () => {
    const secondLogged = Promise.withResolvers<undefined>();
    const both = testHandler({
      run: async ({ input, log }) => {
        // The first request logs after the second one.
        if (input.number === 1) await secondLogged.promise;
        log.warn(logMessages.loginLinkSent, { number: input.number });
        secondLogged.resolve(undefined);
        return {};
      },
    });
    const events = [1, 2].map((number) => eventOf(JSON.stringify({ data: { number } })));
    await Promise.all(events.map((event) => send(both, event)));
    expect(
      lines
        .filter(({ message }) => message === logMessages.loginLinkSent)
        .map(({ number, requestId, level }) => ({ number, requestId, level })),
    ).toEqual([
      { number: 2, requestId: events[1]?.requestContext.requestId, level: 'WARN' },
      { number: 1, requestId: events[0]?.requestContext.requestId, level: 'WARN' },
    ]);
  });
});
