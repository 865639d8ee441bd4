import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Context } from 'aws-lambda';
import { endpoint as generateSignature } from '../../../functions/v2/auth/generate_signature.ts';
import { endpoint as addOrganizations } from '../../../functions/v2/organizations/add.ts';
import type { Endpoint } from '../../../lib/app/endpoint.ts';
import { openSecrets } from '../../../lib/crypto/secretsClient.ts';
import type { Handler } from '../../../lib/http/stack.ts';
import { acmeWorld, forAllTests } from '../../support/acmeWorld.ts';
import { capturedLogObjects } from '../../support/capturedLog.ts';
import { startFaults } from '../../support/faults.ts';
import { endpointHandler, handlerOf, restartFunctions } from '../../support/functionHandlers.ts';
import { eventOf, type Headers } from '../../support/requests.ts';
import { newUser } from '../../support/userTokens.ts';

/** In milliseconds. It is shorter than the time-outs of AWS clients. */
const UNTIL_DEADLINE = 4_500;

const lines = capturedLogObjects();
const { customer } = acmeWorld({ documents: ['nda'] });
const faults = forAllTests(startFaults);

// Without credentials in memory, each call reads them.
beforeEach(restartFunctions);
afterEach(() => {
  faults.heal();
  jest.useRealTimers();
});

/** Starts a call. Its deadline comes when the test lets `UNTIL_DEADLINE` pass. */
function start(handler: Handler, headers: Headers, data: unknown, overrides = {}) {
  // The calls that prepared the test have lines too.
  lines.length = 0;
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });
  const context = { awsRequestId: randomUUID(), getRemainingTimeInMillis: () => 5_000 } as Context;
  return handler(eventOf(JSON.stringify({ data }), headers, overrides), context);
}

const late = {
  error: {
    status: 'DEADLINE_EXCEEDED',
    message: 'The request took too long. Its effect may or may not have happened.',
  },
};

function expectFault(): void {
  expect(lines.filter(({ message }) => message === 'request completed')).toEqual([
    expect.objectContaining({ level: 'ERROR', status: 504, errorStatus: 'DEADLINE_EXCEEDED' }),
  ]);
  expect(lines.filter((line) => line.Faults === 1)).toHaveLength(1);
}

const named = { organizations: [{ organizationId: 'hanging' }] };
const large = {
  organizations: Array.from({ length: 20 }, (_, i) => ({ organizationId: `organization-${i}` })),
};
const inDocument = { organizationId: 'acme', documentIds: ['nda'] };
const key = { 'idempotency-key': 'first' };
const newReader = () => newUser(customer, 'ada', [{ type: 'document', id: 'nda', organizationId: 'acme' }]);

describe('a call answers DEADLINE_EXCEEDED in time, with its log line and metric, if the table does not answer', () => {
  interface Case {
    readonly operation: string;
    readonly passing?: number;
    readonly headers?: () => Promise<Headers> | Headers;
    readonly path?: string;
    readonly handler?: () => Handler;
    readonly data?: unknown;
  }
  const reading: Omit<Case, 'operation'> = {
    headers: async () => (await newReader()).headers,
    path: '/v2/commentannotations/get',
    data: inDocument,
  };
  const slow = () => endpointHandler(addOrganizations, { WRITES_PER_SECOND_PER_KEY: '10' });
  const withKey = () => ({ ...customer.headers, ...key });
  const rows: [string, Case][] = [
    ['the read of an API key', { operation: 'GetItem' }],
    [
      'the read of a workspace',
      { operation: 'GetItem', headers: () => customer.workspaceHeaders, path: '/v2/workspace/apikeys/get' },
    ],
    ['the read that verifies a user token', { operation: 'BatchGetItem', ...reading }],
    ['the read of a user and an organization', { operation: 'BatchGetItem', passing: 1, ...reading }],
    ['the read of grants and revocations', { operation: 'Query', ...reading }],
    ['the write of the tokens of a large write', { operation: 'UpdateItem', handler: slow, data: large }],
    [
      'the claim of an Idempotency-Key',
      { operation: 'PutItem', headers: withKey, path: '/v2/organizations/add', data: named },
    ],
    ['a read of the endpoint', { operation: 'Query' }],
  ];

  test.each(rows)(
    'to %s',
    async (_what, { operation, passing = 0, headers, path = '/v2/organizations/get', handler, data = {} }) => {
      const sent = headers ? await headers() : customer.headers;
      restartFunctions();
      const call = faults.hang(operation, passing);
      const answering = start(handler?.() ?? handlerOf(path), sent, data);
      await call.reached;
      jest.advanceTimersByTime(UNTIL_DEADLINE);
      const answer = await answering;
      expect(answer.statusCode).toBe(504);
      expect(JSON.parse(answer.body ?? '')).toEqual(late);
      expect(answer.headers).toMatchObject({ 'x-request-id': expect.any(String), 'x-frame-options': 'DENY' });
      expectFault();
      await call.closed;
    },
  );
});

test('a call answers DEADLINE_EXCEEDED in time if Secrets Manager does not answer', async () => {
  const reached = Promise.withResolvers<unknown>();
  // All keys of a process share this client, and an earlier test may have opened it.
  const send = jest.spyOn(openSecrets(), 'send').mockImplementation((() => {
    reached.resolve(undefined);
    return new Promise<never>(() => undefined);
  }) as never);
  const answering = start(handlerOf('/v2/auth/generate_signature'), customer.headers, generateSignature.example.data);
  await reached.promise;
  jest.advanceTimersByTime(UNTIL_DEADLINE);
  expect(JSON.parse((await answering).body ?? '')).toEqual(late);
  expectFault();
  send.mockRestore();
});

test('a page answers HTML in time if the table does not answer', async () => {
  const call = faults.hang('GetItem', 0);
  const { requestContext } = eventOf('');
  const answering = start(handlerOf('/v2/workspace/email/verify'), {}, undefined, {
    queryStringParameters: { token: 'A'.repeat(43) },
    requestContext: { ...requestContext, http: { ...requestContext.http, method: 'GET' } },
  });
  await call.reached;
  jest.advanceTimersByTime(UNTIL_DEADLINE);
  const { statusCode, headers } = await answering;
  expect([statusCode, headers?.['content-type']]).toEqual([504, 'text/html; charset=utf-8']);
  expectFault();
  await call.closed;
});

test('a call whose tokens the shared bucket does not take keeps its answer, and ends at the deadline', async () => {
  const call = faults.hang('UpdateItem', 0);
  const ran = Promise.withResolvers<unknown>();
  const run = async (input: never) => addOrganizations.run(input).finally(() => ran.resolve(undefined));
  const endpoint = { ...addOrganizations, run } as unknown as Endpoint;
  const answering = start(endpointHandler(endpoint, { WRITES_PER_SECOND_PER_KEY: '10' }), customer.headers, named);
  await Promise.all([call.reached, ran.promise]);
  await new Promise(setImmediate);
  jest.advanceTimersByTime(UNTIL_DEADLINE);
  expect((await answering).statusCode).toBe(200);
  expect(lines.map(({ message }) => message)).toEqual(['rate limit update failed', 'request completed']);
  await call.closed;
});

test('a call whose answer cannot be stored has its effect, and keeps its Idempotency-Key', async () => {
  // The first two write the claim and the organization.
  const call = faults.hang('PutItem', 2);
  const answering = start(handlerOf('/v2/organizations/add'), { ...customer.headers, ...key }, named);
  await call.reached;
  jest.advanceTimersByTime(UNTIL_DEADLINE);
  expect(JSON.parse((await answering).body ?? '')).toEqual(late);
  expectFault();
  jest.useRealTimers();
  faults.heal();
  expect(await customer.ok('/v2/organizations/get', { organizationIds: ['hanging'] })).toHaveLength(1);
  expect((await customer.call('/v2/organizations/add', named, key)).body.error.status).toBe('ABORTED');
});
