import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { retryCall } from '../../../lib/bedrock/client.ts';
import { SesMailer } from '../../../lib/mail/senders/ses.ts';
import { DependencyShares, noteFailure, noteOutage, watchClient } from '../../../lib/observability/dependencies.ts';
import { SqsSender } from '../../../lib/workers/sender.ts';

const failure = (fields: object) => Object.assign(new Error('failed'), fields);
const refused = failure({ code: 'ECONNREFUSED' });
/** Returns the dependencies that failed since the previous call. */
const failedNow = () => new DependencyShares().end(0);

beforeEach(() => {
  failedNow();
});

describe('noteFailure', () => {
  test.each([
    ['a refused connection', { code: 'ECONNREFUSED' }],
    ['a call without an answer in time', { name: 'TimeoutError' }],
    ['a server error', { name: 'InternalServerError', $metadata: { httpStatusCode: 500 } }],
    ['a throttled call', { name: 'ThrottlingException', $metadata: { httpStatusCode: 400 } }],
    ['a table that does not exist', { name: 'ResourceNotFoundException', $metadata: { httpStatusCode: 400 } }],
  ])('records %s as a failure of the dependency', (_what, fields) => {
    noteFailure('table', failure(fields));
    expect(failedNow()).toEqual(['table']);
  });

  test.each([
    [
      'a condition that does not hold',
      failure({ name: 'ConditionalCheckFailedException', $metadata: { httpStatusCode: 400 } }),
    ],
    ['invalid input', failure({ name: 'ValidationException', $metadata: { httpStatusCode: 400 } })],
    [
      'a missing permission of one function',
      failure({ name: 'AccessDeniedException', $metadata: { httpStatusCode: 400 } }),
    ],
    ['an error of our code', new TypeError('x is undefined')],
    ['a value that is no error', 'failed'],
  ])('ignores %s', (_what, error) => {
    noteFailure('table', error);
    expect(failedNow()).toEqual([]);
  });
});

describe('DependencyShares', () => {
  test('names each dependency that failed in an invocation once, and forgets it for the next', () => {
    const shares = new DependencyShares();
    noteOutage('table');
    noteOutage('mail');
    noteOutage('table');
    expect(shares.end(0)).toEqual(['table', 'mail']);
    expect(shares.end(0)).toEqual([]);
  });

  test('ignores a dependency that fails in less than 1 % of the invocations', () => {
    const shares = new DependencyShares();
    for (let i = 0; i < 100; i++) shares.end(0);
    noteOutage('queues');
    expect(shares.end(0)).toEqual([]);
    noteOutage('queues');
    expect(shares.end(0)).toEqual(['queues']);
  });
});

describe('a failed call', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  test('of a watched client is recorded, and throws the error of the client', async () => {
    const client = watchClient('table', {
      async send(error?: Error) {
        if (error) throw error;
        return 'answer';
      },
    });
    expect(await client.send()).toBe('answer');
    expect(failedNow()).toEqual([]);
    await expect(client.send(refused)).rejects.toBe(refused);
    expect(failedNow()).toEqual(['table']);
  });

  test.each([
    [4_999, []],
    [5_000, ['table']],
  ])('of a watched client that its caller aborts after %i ms counts from five seconds on', async (waited, expected) => {
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    const client = watchClient('table', {
      async send() {
        now += waited;
        throw failure({ name: 'AbortError' });
      },
    });
    await expect(client.send()).rejects.toThrow();
    expect(failedNow()).toEqual(expected);
  });

  test('of a queue is recorded after all tries', async () => {
    let attempts = 0;
    const send = async () => {
      attempts++;
      return { Failed: [{ Id: '0', Code: 'Busy', SenderFault: false }], $metadata: {} };
    };
    const sender = new SqsSender('http://queue', () => ({ send }) as never, [0]);
    await expect(sender.send([{ body: {} }])).rejects.toThrow('SQS rejected 1 messages');
    expect([attempts, failedNow()]).toEqual([2, ['queues']]);
  });

  test('of a model is recorded after all tries, and not if a retry succeeds', async () => {
    const policy = { attempts: 2, timeout: 1, pause: 0 };
    let attempts = 0;
    const succeedLater = async () => {
      if (attempts++ === 0) throw refused;
    };
    await retryCall(succeedLater, policy, Infinity, () => true);
    expect(failedNow()).toEqual([]);
    await expect(
      retryCall(
        () => Promise.reject(refused),
        policy,
        Infinity,
        () => true,
      ),
    ).rejects.toBe(refused);
    expect(failedNow()).toEqual(['model']);
  });

  test('of a login mail is recorded if SES has a server error', async () => {
    const before = { ...process.env };
    const server = createServer((_request, response) => response.writeHead(503).end('{}')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    Object.assign(process.env, {
      AWS_ENDPOINT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
    });
    try {
      const mail = { to: 'ada@example.com', subject: 'Log in', text: 'Log in', html: 'Log in' };
      await expect(new SesMailer('no-reply@example.com').send(mail)).rejects.toThrow();
    } finally {
      process.env = before;
      server.close();
    }
    expect(failedNow()).toEqual(['mail']);
  });
});
