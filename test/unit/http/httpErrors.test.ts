import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Context } from 'aws-lambda';
import type { Caller } from '../../../lib/app/endpoint.ts';
import { limitCalls, toApiError } from '../../../lib/http/middlewares.ts';
import type { RateBuckets } from '../../../lib/http/rateBuckets.ts';
import { type Handler, stack } from '../../../lib/http/stack.ts';
import { ApiError, errorCatalogue, type ErrorStatus, invalid } from '../../../lib/shared/errors.ts';
import { callSignal } from '../../../lib/table/retryOnConflict.ts';
import { testHandler } from '../../support/endpoint.ts';
import { eventOf, post, send } from '../../support/requests.ts';

afterEach(() => {
  jest.useRealTimers();
});
beforeAll(() => {
  process.env.POWERTOOLS_LOG_LEVEL = 'SILENT';
  process.env.POWERTOOLS_METRICS_DISABLED = 'true';
});

const throwing = (error: unknown) =>
  testHandler({
    run: async () => {
      throw error;
    },
  });
const named = (name: string) => Object.assign(new Error('from AWS'), { name });

describe('an error', () => {
  const http: Record<ErrorStatus, number> = {
    INVALID_ARGUMENT: 400,
    FAILED_PRECONDITION: 400,
    PERMISSION_DENIED: 403,
    NOT_FOUND: 404,
    ALREADY_EXISTS: 409,
    ABORTED: 409,
    RESOURCE_EXHAUSTED: 429,
    INTERNAL: 500,
    UNAVAILABLE: 503,
    DEADLINE_EXCEEDED: 504,
  };

  test('has the HTTP code of its status, and status and message only', async () => {
    expect(Object.keys(errorCatalogue)).toEqual(Object.keys(http));
    for (const [status, code] of Object.entries(http) as [ErrorStatus, number][]) {
      const answer = await post(throwing(new ApiError(status, 'What went wrong.')), {}, {});
      expect([answer.status, answer.body]).toEqual([code, { error: { status, message: 'What went wrong.' } }]);
    }
  });

  test('has its details in the answer, but not its cause', async () => {
    const error = new ApiError('NOT_FOUND', 'Gone.', {
      details: { ada: { errorCode: 'does_not_exist' } },
      cause: new Error('secret'),
    });
    expect((await post(throwing(error), {}, {})).body).toEqual({
      error: { status: 'NOT_FOUND', message: 'Gone.', details: { ada: { errorCode: 'does_not_exist' } } },
    });
  });

  test('leaves out issues above 100 KB, and other details above 3 MB', async () => {
    const detailsOf = async (details: object) =>
      Object.keys(
        (await post(throwing(new ApiError('NOT_FOUND', 'Gone.', { details })), {}, {})).body.error.details ?? {},
      );
    expect(await detailsOf({ issues: ['x'.repeat(99_000)] })).toEqual(['issues']);
    expect(await detailsOf({ issues: ['x'.repeat(100_000)] })).toEqual([]);
    expect(await detailsOf({ ada: 'x'.repeat(2_900_000) })).toEqual(['ada']);
    expect(await detailsOf({ ada: 'x'.repeat(3_000_000) })).toEqual([]);
  });

  test('has the first problem as its message and all problems in details.issues', async () => {
    const [first, second] = [
      { path: ['a'], code: 'x', message: 'a is wrong' },
      { path: ['b', 0], code: 'y', message: 'b[0] is wrong' },
    ];
    const { body } = await post(throwing(invalid(first, second)), {}, {});
    const details = { issues: [first, second] };
    expect(body.error).toEqual({ status: 'INVALID_ARGUMENT', message: 'a is wrong', details });
  });

  test.each<[string, unknown]>([
    ['an error', new Error('password=hunter2')],
    ['an error of AWS', named('ResourceNotFoundException')],
    ['an access that is denied', named('AccessDeniedException')],
    ['a bug', new TypeError("Cannot read properties of undefined (reading 'x')")],
    ['an error that has a status', Object.assign(new Error('x'), { status: 'NOT_FOUND', statusCode: 404 })],
  ])('%s is INTERNAL with the request id only', async (_what, error) => {
    const event = eventOf('{"data":{}}');
    const { status, body } = await send(throwing(error), event);
    expect(status).toBe(500);
    expect(body).toEqual({
      error: { status: 'INTERNAL', message: `Internal error. Quote the request id ${event.requestContext.requestId}.` },
    });
  });

  test.each([
    'ProvisionedThroughputExceededException',
    'ThrottlingException',
    'RequestLimitExceeded',
    'TooManyRequestsException',
    'ThrottlingError',
    'InternalServerError',
    'ServiceUnavailable',
    'TransactionInProgressException',
    'TimeoutError',
    'RequestTimeout',
  ])('%s of AWS is UNAVAILABLE, also as a cause', (name) => {
    for (const error of [named(name), new Error('wrapped', { cause: new Error('twice', { cause: named(name) }) })])
      expect(toApiError(error, 'id')).toMatchObject({
        status: 'UNAVAILABLE',
        message: 'The service is not available for a moment. Send the request again.',
      });
  });

  const connection = 'ECONNREFUSED ECONNRESET EPIPE ETIMEDOUT EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN'.split(' ');
  test.each<[string, ErrorStatus, object]>([
    ...connection.map((code) => [code, 'UNAVAILABLE', { code }] as [string, ErrorStatus, object]),
    ['a server error', 'UNAVAILABLE', { name: 'InternalServiceError', $metadata: { httpStatusCode: 500 } }],
    ['an answer of a proxy before AWS', 'UNAVAILABLE', { name: 'Unknown', $metadata: { httpStatusCode: 502 } }],
    ['ERR_INVALID_ARG_TYPE', 'INTERNAL', { code: 'ERR_INVALID_ARG_TYPE' }],
    ['a refusal of AWS', 'INTERNAL', { name: 'ValidationException', $metadata: { httpStatusCode: 400 } }],
  ])('%s is %s', (_what, status, fields) => {
    expect(toApiError(Object.assign(new Error('x'), fields), 'id').status).toBe(status);
  });

  test('is returned when it is the cause of another error', () => {
    const meant = new ApiError('NOT_FOUND', 'Gone.');
    expect(toApiError(new Error('wrapped', { cause: meant }), 'id')).toBe(meant);
  });

  test('is INTERNAL when its causes form a circle', () => {
    const error = new Error('a');
    error.cause = new Error('b', { cause: error });
    expect(toApiError(error, 'id').status).toBe('INTERNAL');
  });

  test.each([
    ['a text', 'text'],
    ['nothing', undefined],
    ['null', null],
    ['an object', { status: 'NOT_FOUND' }],
  ])('is INTERNAL when %s is thrown', (_what, thrown) => {
    expect(toApiError(thrown, 'id')).toMatchObject({
      status: 'INTERNAL',
      message: 'Internal error. Quote the request id id.',
    });
  });
});

describe('the deadline of a request', () => {
  const contextWith = (remaining: number) =>
    ({ awsRequestId: randomUUID(), getRemainingTimeInMillis: () => remaining }) as Context;
  const fakeTimers: Parameters<typeof jest.useFakeTimers>[0] = {
    doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'],
  };
  const call = async (handler: Handler, remaining: number) => {
    const result = await handler(eventOf('{"data":{}}'), contextWith(remaining));
    return {
      status: result.statusCode,
      body: JSON.parse(result.body ?? '') as { error?: unknown },
      headers: result.headers,
    };
  };

  test('answers DEADLINE_EXCEEDED 500 ms before the function times out, with all headers, and ends its calls', async () => {
    const reached = Promise.withResolvers<AbortSignal>();
    const never = testHandler({
      run: () => {
        reached.resolve(callSignal()!);
        return new Promise(() => undefined);
      },
    });
    jest.useFakeTimers(fakeTimers);
    let ended = false;
    const answering = call(never, 5_500).finally(() => (ended = true));
    const signal = await reached.promise;
    jest.advanceTimersByTime(4_999);
    await new Promise(setImmediate);
    expect([ended, signal.aborted]).toEqual([false, false]);
    jest.advanceTimersByTime(1);
    const { status, body, headers } = await answering;
    expect([status, signal.aborted]).toEqual([504, true]);
    expect(body).toEqual({
      error: {
        status: 'DEADLINE_EXCEEDED',
        message: 'The request took too long. Its effect may or may not have happened.',
      },
    });
    expect(headers).toMatchObject({ 'x-request-id': expect.any(String), 'x-content-type-options': 'nosniff' });
  });

  test('ends a middleware that waits for something that cannot be aborted, and runs nothing after it', async () => {
    const reached = Promise.withResolvers<undefined>();
    const runs: string[] = [];
    const hang = () => {
      reached.resolve(undefined);
      return new Promise(() => undefined);
    };
    const handler = stack(
      { endpoint: 'tests', path: '/v2/tests/hang', serviceName: () => 'svc' },
      [{ before: hang }, { before: () => void runs.push('middleware') }],
      () => ({ statusCode: runs.push('endpoint') }),
    );
    jest.useFakeTimers(fakeTimers);
    const answering = call(handler, 5_500);
    await reached.promise;
    jest.advanceTimersByTime(5_000);
    expect([(await answering).status, runs]).toEqual([504, []]);
  });

  test('ends the wait for a write of tokens that cannot be aborted, and keeps the answer', async () => {
    const take = async () => ({ sharedBucketWrites: [new Promise(() => undefined)] });
    const answered = Promise.withResolvers<undefined>();
    const handler = stack(
      { endpoint: 'tests', path: '/v2/tests/hang', serviceName: () => 'svc' },
      [
        { before: ({ internal }) => void (internal.caller = { level: 'apiKey', limits: {} } as unknown as Caller) },
        limitCalls({ limitClass: 'read', buckets: () => ({ take }) as unknown as RateBuckets }),
      ],
      () => {
        answered.resolve(undefined);
        return { statusCode: 200, body: '{}' };
      },
    );
    jest.useFakeTimers(fakeTimers);
    const answering = call(handler, 5_500);
    await answered.promise;
    await new Promise(setImmediate);
    jest.advanceTimersByTime(5_000);
    expect((await answering).status).toBe(200);
  });

  test('does not affect a request that ends in time', async () => {
    expect((await call(testHandler(), 29_000)).status).toBe(200);
  });

  test('does not affect an error that is thrown before the deadline', async () => {
    expect((await call(throwing(new ApiError('NOT_FOUND', 'Gone.')), 29_000)).status).toBe(404);
  });
});
