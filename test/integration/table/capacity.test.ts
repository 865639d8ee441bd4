import {
  BatchGetItemCommand,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { withIdempotencyKey } from '../../../infra/cost/calls.ts';
import { readsInOrganizations, readsOfConfiguration, writesOfOneThing } from '../../../infra/cost/requests.ts';
import { vectorConsumption } from '../../../infra/cost/vectors.ts';
import {
  exampleRequests,
  measureScenario,
  numbersOf,
  pinnedCosts,
  prepare,
  scenarios,
  type Subject,
} from '../../bench/scenarios.ts';
import { forAllTests } from '../../support/acmeWorld.ts';
import { bytesOf, costOfCalls, startRecorder } from '../../support/capacity.ts';
import { newCustomer } from '../../support/customer.ts';
import { startEngine, TABLE_NAME } from '../../support/engine.ts';
import { examplePaths } from '../../support/examples.ts';
import { handlerOf } from '../../support/functionHandlers.ts';
import { post } from '../../support/requests.ts';
import { newUser } from '../../support/userTokens.ts';

const engine = forAllTests(startEngine);
const recorder = forAllTests(startRecorder);
// The clock advances 1 ms with each reading, so that caches do not expire on a slow machine.
beforeEach(() => {
  let now = Date.now();
  jest.spyOn(Date, 'now').mockImplementation(() => now++);
});
afterEach(() => void jest.restoreAllMocks());

describe('the cost of a warm request', () => {
  let subject: Subject;
  beforeAll(async () => {
    subject = await prepare();
  });

  test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))('%s', async (name, scenario) => {
    const cost = await measureScenario(recorder, subject, scenario);
    expect(numbersOf(cost)).toEqual(pinnedCosts[name]);
    // Ids are random, so the length of keys and texts differs by a few bytes between runs.
    const { written, searched } = vectorConsumption[name] ?? { written: 0, searched: 0 };
    expect(Math.abs(cost.vectorBytesWritten - written)).toBeLessThanOrEqual(0.02 * written);
    expect(Math.abs(cost.vectorBytesSearched - searched)).toBeLessThanOrEqual(0.02 * searched);
  });
});

describe('the cost limits of endpoints', () => {
  test('are those of the scenarios, and of at most one example of each endpoint', () => {
    const paths = exampleRequests.map(({ path }) => path);
    expect(paths).toEqual([...new Set(paths)]);
    expect(examplePaths).toEqual(expect.arrayContaining(paths));
    expect(Object.keys(pinnedCosts)).toEqual(expect.arrayContaining(scenarios.map(({ name }) => name)));
  });

  test.each(Object.entries(readsOfConfiguration))(
    '%s reads configuration with one call of at most one read unit',
    (_name, [calls, , readUnits]) => {
      expect(calls).toBe(1);
      expect(readUnits).toBeLessThanOrEqual(1);
    },
  );

  test.each(Object.entries(readsInOrganizations))(
    '%s has at most two sequential reads in an organization',
    (_name, [, roundTrips]) => {
      expect(roundTrips).toBeLessThanOrEqual(2);
    },
  );

  test.each(Object.entries(writesOfOneThing))(
    '%s writes one record with at most two write units',
    (_name, [, , , writeUnits]) => {
      expect(writeUnits).toBeLessThanOrEqual(2);
    },
  );
});

describe('the middleware stack', () => {
  test('reads the credentials of an API key once, then takes them from memory', async () => {
    const { headers } = await newCustomer();
    const organizations = handlerOf('/v2/organizations/get');
    const request = () => post(organizations, headers, { organizationIds: ['any'] });
    expect(numbersOf(costOfCalls((await recorder.record(request)).calls))).toEqual([2, 2, 1.5, 0]);
    expect(numbersOf(costOfCalls((await recorder.record(request)).calls))).toEqual([1, 1, 1, 0]);
  });

  test.each([
    ['a document', {}, 2],
    ['a document in a folder', { folderId: 'contracts' }, 3],
  ])(
    'checks a user token for %s with few sequential reads, and reads only the document while the rest is in memory',
    async (_what, location, checkTrips) => {
      const customer = await newCustomer();
      await customer.addDocuments(['nda']);
      if ('folderId' in location) {
        await customer.addFolders([location]);
        await customer.ok('/v2/organizations/documents/move', {
          organizationId: 'acme',
          documentIds: ['nda'],
          ...location,
        });
      }
      const ada = await newUser(customer, 'ada', [{ type: 'document', id: 'nda', organizationId: 'acme' }]);
      const read = () => ada.ok('/v2/organizations/documents/get', { organizationId: 'acme', documentIds: ['nda'] });
      const warm = async () => costOfCalls((await recorder.record(read)).calls);
      const { calls } = await recorder.record(read);
      const answer = await warm();
      const cold = costOfCalls(calls);
      // The first call reads the API key with its domains, then the organization and the
      // user, then the grants and the document. The first call also reads the organization before the document.
      expect(calls.slice(0, 2).map(({ operation }) => operation)).toEqual(['BatchGetItem', 'BatchGetItem']);
      expect([cold.calls - answer.calls, cold.roundTrips - answer.roundTrips]).toEqual([
        checkTrips + 1,
        checkTrips + 1,
      ]);
    },
  );

  test('permissions/get does not read the access of the user again after the check of a user token', async () => {
    const customer = await newCustomer();
    await customer.addDocuments(['nda']);
    const ada = await newUser(customer, 'ada', [{ type: 'document', id: 'nda', organizationId: 'acme' }]);
    const request = { organizationId: 'acme', userIds: ['ada'], documentIds: ['nda'] };
    const read = () => ada.ok('/v2/auth/permissions/get', request);
    expect(await read()).toMatchObject({ ada: { documents: { nda: { accessRole: 'editor' } } } });
    const { calls } = await recorder.record(read);
    expect(calls.map(({ operation }) => operation)).not.toContain('Query');
  });

  test('writes twice for an Idempotency-Key: first the claim, then the response', async () => {
    const { headers, ok } = await newCustomer();
    await ok('/v2/organizations/add', { organizations: [{ organizationId: 'first' }] });
    const add = handlerOf('/v2/organizations/add');
    const { calls } = await recorder.record(() =>
      post(add, { ...headers, 'idempotency-key': 'once' }, { organizations: [{ organizationId: 'second' }] }),
    );
    const { roundTrips, read, written } = withIdempotencyKey({ roundTrips: 2, read: 1, written: 1 });
    expect(numbersOf(costOfCalls(calls))).toEqual([4, roundTrips, read, written]);
    expect([roundTrips, read, written]).toEqual([4, 1, 3]);
  });
});

describe('the capacity units of the table engine', () => {
  const table = { TableName: TABLE_NAME };
  const key = (SK: string) => ({ PK: { S: 'billing' }, SK: { S: SK } });
  const sized = (SK: string, bytes: number) => ({ ...key(SK), x: { S: 'x'.repeat(bytes - bytesOf([key(SK)]) - 1) } });
  const capacity = { ReturnConsumedCapacity: 'TOTAL' } as const;
  const put = (Item: ReturnType<typeof sized>) =>
    engine.client.send(new PutItemCommand({ ...table, ...capacity, Item }));
  const get = (SK: string, ConsistentRead: boolean) =>
    engine.client.send(new GetItemCommand({ ...table, ...capacity, Key: key(SK), ConsistentRead }));

  test('count one per KB of the larger of the old and new item for a write', async () => {
    expect((await put(sized('write', 1_024))).ConsumedCapacity?.CapacityUnits).toBe(1);
    expect((await put(sized('write', 1_025))).ConsumedCapacity?.CapacityUnits).toBe(2);
    expect((await put(sized('write', 100))).ConsumedCapacity?.CapacityUnits).toBe(2);
    const removed = await engine.client.send(new DeleteItemCommand({ ...table, ...capacity, Key: key('write') }));
    expect(removed.ConsumedCapacity?.CapacityUnits).toBe(1);
  });

  test('count one per 4 KB for a read, half if eventually consistent, and one for a missing item', async () => {
    await put(sized('read', 4_096));
    expect((await get('read', true)).ConsumedCapacity?.CapacityUnits).toBe(1);
    await put(sized('read', 4_097));
    expect((await get('read', true)).ConsumedCapacity?.CapacityUnits).toBe(2);
    expect((await get('read', false)).ConsumedCapacity?.CapacityUnits).toBe(1);
    expect((await get('missing', true)).ConsumedCapacity?.CapacityUnits).toBe(1);
  });

  test('count items one by one in batches, together in queries, and twice in transactions', async () => {
    for (const name of ['a', 'b', 'c']) await put(sized(name, 1_500));
    const keys = { Keys: ['a', 'b', 'c'].map(key), ConsistentRead: true };
    const batch = await engine.client.send(
      new BatchGetItemCommand({ ...capacity, RequestItems: { [TABLE_NAME]: keys } }),
    );
    expect(batch.ConsumedCapacity?.[0]?.CapacityUnits).toBe(3);
    const query = await engine.client.send(
      new QueryCommand({
        ...table,
        ...capacity,
        ConsistentRead: true,
        KeyConditionExpression: 'PK = :pk AND SK <= :c',
        ExpressionAttributeValues: { ':pk': { S: 'billing' }, ':c': { S: 'c' } },
      }),
    );
    expect([query.Count, query.ConsumedCapacity?.CapacityUnits]).toEqual([3, 2]);
    const transaction = await engine.client.send(
      new TransactWriteItemsCommand({
        ...capacity,
        TransactItems: [{ Put: { ...table, Item: sized('d', 100) } }, { Delete: { ...table, Key: key('a') } }],
      }),
    );
    expect(transaction.ConsumedCapacity?.[0]?.CapacityUnits).toBe(6);
  });

  test('depend on the item size that bytesOf returns', async () => {
    const mixed = {
      n: { N: '-1234567890.123' },
      z: { N: '100' },
      t: { BOOL: true },
      u: { NULL: true },
      l: { L: [{ S: 'é' }, { N: '7' }] },
      m: { M: { k: { S: 'v' } } },
    };
    const item = (bytes: number) => ({ ...mixed, ...sized('mixed', bytes - bytesOf([mixed])) });
    expect(bytesOf([item(1_024)])).toBe(1_024);
    expect((await put(item(1_024))).ConsumedCapacity?.CapacityUnits).toBe(1);
    expect((await put(item(1_025))).ConsumedCapacity?.CapacityUnits).toBe(2);
  });
});
