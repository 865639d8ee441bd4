import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { AwsAnswer } from '../../../infra/local/iam/awsService.ts';
import type { ConsumedCapacity } from '../../../infra/local/metrics/measurements.ts';
import { type Engine, startEngine } from '../../../infra/local/table/engine.ts';
import { TableCalls } from '../../../infra/local/table/tableCalls.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

const TABLES = ['grouped', 'alone'] as const;
const index = {
  IndexName: 'gsi1',
  KeySchema: [{ AttributeName: 'of', KeyType: 'HASH' }],
  Projection: { ProjectionType: 'KEYS_ONLY' },
};

/** Returns the operation and input of a write to the table with this name. */
type Write = (TableName: string) => readonly [operation: string, input: Record<string, unknown>];

let engine: Engine;
let sent: string[];
let consumed: ConsumedCapacity[];
let onSend: (target: string) => Promise<AwsAnswer> | undefined;
let writes: number;

// This hook runs first: hooks run in their order, and the engine uses the folder.
afterAll(() => engine.stop());
const dataDir = temporaryFolder();

beforeAll(async () => {
  engine = await startEngine('dynoxide', dataDir);
  for (const TableName of TABLES)
    await engine.call('DynamoDB_20120810.CreateTable', {
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: ['PK', 'of'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
      KeySchema: [{ AttributeName: 'PK', KeyType: 'HASH' }],
      GlobalSecondaryIndexes: [index],
    });
});

beforeEach(() => {
  [sent, consumed, writes] = [[], [], 0];
  onSend = () => undefined;
});

/** Sends table calls as functions do. Only writes to the table `grouped` are grouped. */
function tableCalls(): (operation: string, input: object) => Promise<[status: number, body: any]> {
  const calls = new TableCalls({
    engine: {
      post(target, body, isAborted) {
        sent.push(target.split('.')[1]!);
        return onSend(target) ?? engine.connections.post(target, body, isAborted);
      },
    },
    keyNames: new Map([['grouped', ['PK']]]),
    indexKeySizes: new Map(),
    measurements: { recordCapacity: (_kind, capacity) => void consumed.push(capacity) },
    onWrite: () => writes++,
  });
  return async (operation, input) => {
    const call = { operation, input: input as Record<string, unknown>, body: JSON.stringify(input) };
    const { status, body } = await calls.answer({ ...call, isAborted: () => false });
    return [status, JSON.parse(body)];
  };
}

const key = (id: number) => ({ PK: { S: `item-${id}` } });
const put = (id: number, more: object = {}) => ({ Item: { ...key(id), text: { S: 'x'.repeat(id * 700) }, ...more } });

describe('TableCalls', () => {
  test('sends writes that wait for the engine as one transaction and answers each', async () => {
    const call = tableCalls();
    const answers = await Promise.all([
      call('PutItem', { TableName: 'grouped', ...put(100) }),
      call('PutItem', { TableName: 'grouped', ...put(101) }),
      call('BatchWriteItem', { RequestItems: { grouped: [{ PutRequest: put(102) }, { PutRequest: put(103) }] } }),
      call('DeleteItem', { TableName: 'grouped', Key: key(104) }),
    ]);
    expect(answers).toEqual([
      [200, {}],
      [200, {}],
      [200, { UnprocessedItems: {} }],
      [200, {}],
    ]);
    expect(sent).toEqual(['PutItem', 'TransactWriteItems']);
    expect(writes).toBe(2);
    const ofGroup = consumed.map(({ CapacityUnits }) => CapacityUnits);
    // A put uses one unit per kilobyte. In a transaction, the engine counts each unit twice.
    expect(ofGroup).toEqual([69, 70 + 70 + 71 + 1]);
  });

  test('sends transactions and single writes in one group and records half of the units of single writes', async () => {
    const call = tableCalls();
    const answers = await Promise.all([
      call('PutItem', { TableName: 'grouped', ...put(105) }),
      call('PutItem', { TableName: 'grouped', Item: key(106) }),
      call('TransactWriteItems', { TransactItems: [{ Put: { TableName: 'grouped', Item: key(107) } }] }),
    ]);
    expect(answers).toEqual([
      [200, {}],
      [200, {}],
      [200, {}],
    ]);
    expect(sent).toEqual(['PutItem', 'TransactWriteItems']);
    // A put of a small item uses one unit, and two in a transaction of the caller.
    expect(consumed.at(-1)?.CapacityUnits).toBe(1 + 2);
  });

  test('answers a server error to each write of a group that the engine did not answer', async () => {
    const call = tableCalls();
    onSend = (target) => (target.endsWith('TransactWriteItems') ? Promise.reject(new Error('gone')) : undefined);
    const answers = await Promise.all([1, 2, 3].map((id) => call('PutItem', { TableName: 'grouped', ...put(id) })));
    const lost = [500, { __type: expect.any(String), message: 'The table engine did not answer: gone' }];
    expect(answers).toEqual([[200, {}], lost, lost]);
  });

  test('executes a transaction once if the SDK repeats its token', async () => {
    const call = tableCalls();
    const increase = {
      TransactItems: [
        {
          Update: {
            TableName: 'grouped',
            Key: key(120),
            UpdateExpression: 'ADD n :one',
            ExpressionAttributeValues: { ':one': { N: '1' } },
          },
        },
      ],
    };
    const answers = [
      ...(await Promise.all([
        call('PutItem', { TableName: 'grouped', ...put(1) }),
        call('TransactWriteItems', { ...increase, ClientRequestToken: 'a' }),
        call('TransactWriteItems', { ...increase, ClientRequestToken: 'a' }),
        call('TransactWriteItems', { ...increase, ClientRequestToken: 'b' }),
      ])),
      await call('TransactWriteItems', { ...increase, ClientRequestToken: 'a' }),
    ];
    expect(answers.map(([status]) => status)).toEqual([200, 200, 200, 200, 200]);
    const [, { Item }] = await call('GetItem', { TableName: 'grouped', Key: key(120) });
    expect(Item.n).toEqual({ N: '2' });
  });

  test('answers and stores grouped writes like writes one after the other', async () => {
    const id = fc.integer({ min: 1, max: 4 });
    const condition = fc.option(
      fc.constantFrom(
        'attribute_not_exists(PK)',
        'attribute_exists(PK)',
        'attribute_exists(wrong',
        'attribute_exists(n)',
      ),
      { nil: undefined },
    );
    const conditional = (ConditionExpression: string | undefined) =>
      ConditionExpression && { ConditionExpression, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' };
    const update = {
      UpdateExpression: 'SET #of = :of ADD n :one',
      ExpressionAttributeNames: { '#of': 'of' },
      ExpressionAttributeValues: { ':one': { N: '1' }, ':of': { S: 'all' } },
    };
    const single = fc.oneof(
      fc
        .tuple(id, condition, fc.boolean())
        .map(([item, when, isIndexed]): Write => (TableName) => [
          'PutItem',
          { TableName, ...put(item, isIndexed ? { of: { S: 'all' } } : {}), ...conditional(when) },
        ]),
      fc
        .tuple(id, condition)
        .map(([item, when]): Write => (TableName) => [
          'DeleteItem',
          { TableName, Key: key(item), ...conditional(when) },
        ]),
      fc
        .tuple(id, condition)
        .map(([item, when]): Write => (TableName) => [
          'UpdateItem',
          { TableName, Key: key(item), ...update, ...conditional(when) },
        ]),
    );
    const several = fc.oneof(
      fc.uniqueArray(id, { minLength: 1 }).map((items): Write => (TableName) => [
        'BatchWriteItem',
        {
          RequestItems: {
            [TableName]: items.map((item) =>
              item % 2 > 0 ? { PutRequest: put(item) } : { DeleteRequest: { Key: key(item) } },
            ),
          },
        },
      ]),
      fc
        .tuple(fc.uniqueArray(id, { minLength: 1, maxLength: 3 }), condition)
        .map(([items, when]): Write => (TableName) => [
          'TransactWriteItems',
          {
            TransactItems: items.map((item, index) =>
              index === 0
                ? { ConditionCheck: { TableName, Key: key(item), ConditionExpression: when ?? 'attribute_exists(PK)' } }
                : { Put: { TableName, ...put(item) } },
            ),
          },
        ]),
    );
    const call = tableCalls();
    const ids = [1, 2, 3, 4];
    const itemsOf = (TableName: string) =>
      Promise.all(ids.map((item) => engine.call('DynamoDB_20120810.GetItem', { TableName, Key: key(item) })));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(single, several), { minLength: 2, maxLength: 12 }), async (all) => {
        for (const TableName of TABLES)
          for (const item of ids) await engine.call('DynamoDB_20120810.DeleteItem', { TableName, Key: key(item) });
        const grouped = await Promise.all(all.map((write) => call(...write('grouped'))));
        const alone: typeof grouped = [];
        for (const write of all) alone.push(await call(...write('alone')));
        expect(grouped).toEqual(alone);
        expect(await itemsOf('grouped')).toEqual(await itemsOf('alone'));
      }),
      { numRuns: 60 },
    );
  });
});
