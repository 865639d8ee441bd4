import { describe, expect, test } from '@jest/globals';
import { findRequestFault, indexKeySizes } from '../../../infra/local/table/requestFault.ts';

const sizes = indexKeySizes({
  GlobalSecondaryIndexes: [
    {
      KeySchema: [
        { AttributeName: 'gsi1pk', KeyType: 'HASH' },
        { AttributeName: 'gsi1sk', KeyType: 'RANGE' },
      ],
    },
  ],
});
const fault = (operation: string, input: object) => findRequestFault(operation, { ...input }, sizes);

describe('a start key', () => {
  const outside = 'The provided starting key is outside query boundaries based on provided conditions';
  const prefixQuery = (startKey: object) => ({
    KeyConditionExpression: 'PK = :pk AND begins_with(SK, :prefix)',
    ExpressionAttributeValues: { ':pk': { S: 'a' }, ':prefix': { S: 'doc#' } },
    ExclusiveStartKey: startKey,
  });
  const rangeQuery = (startKey: object) => ({
    KeyConditionExpression: '#pk = :pk AND #sk BETWEEN :from AND :to',
    ExpressionAttributeNames: { '#pk': 'gsi1pk', '#sk': 'gsi1sk' },
    ExpressionAttributeValues: { ':pk': 'a', ':from': 'b', ':to': 'd' },
    ExclusiveStartKey: startKey,
  });

  test('outside the prefix of the query is rejected', () => {
    expect(fault('Query', prefixQuery({ PK: { S: 'a' }, SK: { S: 'dir#1' } }))).toBe(outside);
    expect(fault('Query', prefixQuery({ PK: { S: 'a' }, SK: { S: 'doc#1' } }))).toBeUndefined();
  });

  test.each([
    ['a', outside],
    ['b', undefined],
    ['d', undefined],
    ['da', outside],
    ['é', outside],
  ])('%s of a query from b to d is compared by bytes, bounds included', (text, expected) => {
    expect(fault('Query', rangeQuery({ PK: 'x', SK: 'y', gsi1pk: 'a', gsi1sk: text }))).toBe(expected);
  });

  test('is not checked if the query reads a whole partition', () => {
    const whole = { ...prefixQuery({ PK: { S: 'a' }, SK: { S: 'x' } }), KeyConditionExpression: 'PK = :pk' };
    expect(fault('Query', whole)).toBeUndefined();
  });
});

describe('an index key', () => {
  const item = (sortKey: string) => ({ PK: { S: 'a' }, gsi1sk: { S: sortKey } });
  // Each of these characters takes two bytes.
  const [longest, tooLong] = ['é'.repeat(512), 'é'.repeat(513)];
  const writes = (text: string): [string, object][] => [
    ['PutItem', { Item: item(text) }],
    ['BatchWriteItem', { RequestItems: { table: [{ DeleteRequest: {} }, { PutRequest: { Item: item(text) } }] } }],
    ['TransactWriteItems', { TransactItems: [{ Delete: {} }, { Put: { Item: item(text) } }] }],
    [
      'UpdateItem',
      {
        UpdateExpression: 'SET other = :o, #sk = :sk REMOVE x',
        ExpressionAttributeNames: { '#sk': 'gsi1sk' },
        ExpressionAttributeValues: { ':o': { S: tooLong }, ':sk': { S: text } },
      },
    ],
  ];

  test.each(writes(tooLong))('over 1,024 bytes is rejected in a %s', (operation, input) => {
    expect(fault(operation, input)).toContain('gsi1sk has exceeded the maximum size limit of 1024 bytes');
  });

  test.each(writes(longest))('of 1,024 bytes is accepted in a %s', (operation, input) => {
    expect(fault(operation, input)).toBeUndefined();
  });

  test('of a partition may have 2,048 bytes', () => {
    expect(fault('PutItem', { Item: { gsi1pk: 'x'.repeat(2_048) } })).toBeUndefined();
    expect(fault('PutItem', { Item: { gsi1pk: 'x'.repeat(2_049) } })).toContain('2048 bytes');
  });
});
