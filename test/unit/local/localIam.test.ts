import { describe, expect, test } from '@jest/globals';
import { isAllowed, readStatements } from '../../../infra/local/iam/iam.ts';
import { dynamoDbAccesses } from '../../../infra/local/table/dynamoDbAccess.ts';

const TABLE = 'arn:aws:dynamodb:us-east-1:000000000000:table/t';
const allow = {
  Effect: 'Allow',
  Action: ['dynamodb:GetItem', 'dynamodb:Query'],
  Resource: [TABLE, `${TABLE}/index/gsi1`],
};

describe('isAllowed', () => {
  const decide = (statement: object, action: string, resource: string) =>
    isAllowed(readStatements({ Statement: [statement] }, 'Role'), action, resource);

  test.each([
    ['an action and a resource that are listed', allow, 'dynamodb:GetItem', TABLE, true],
    ['another action', allow, 'dynamodb:PutItem', TABLE, false],
    ['another table', allow, 'dynamodb:GetItem', `${TABLE}2`, false],
    ['an index that is listed', allow, 'dynamodb:Query', `${TABLE}/index/gsi1`, true],
    ['an index that is not listed', allow, 'dynamodb:Query', `${TABLE}/index/gsi2`, false],
    [
      'an index, by a * at the end',
      { ...allow, Resource: `${TABLE}/index/*` },
      'dynamodb:Query',
      `${TABLE}/index/gsi2`,
      true,
    ],
    ['the table itself, by a * after it', { ...allow, Resource: `${TABLE}/index/*` }, 'dynamodb:Query', TABLE, false],
    ['anything', { ...allow, Resource: '*' }, 'dynamodb:Query', TABLE, true],
    ['a single action', { ...allow, Action: 'dynamodb:Query' }, 'dynamodb:Query', TABLE, true],
  ])('decides on %s', (_name, statement, action, resource, expected) => {
    expect(decide(statement, action, resource)).toBe(expected);
  });

  test('requires action and resource in the same statement', () => {
    const statements = readStatements(
      {
        Statement: [
          { ...allow, Action: 'a:Read', Resource: 'x' },
          { ...allow, Action: 'a:Write', Resource: 'y' },
        ],
      },
      'Role',
    );
    expect(isAllowed(statements, 'a:Write', 'x')).toBe(false);
  });
});

test.each([
  ['Deny', { ...allow, Effect: 'Deny' }, 'has the effect Deny'],
  ['a condition', { ...allow, Condition: { StringEquals: {} } }, 'has Condition'],
  ['NotAction', { Effect: 'Allow', NotAction: 'dynamodb:Scan', Resource: '*' }, 'has NotAction'],
  ['NotResource', { Effect: 'Allow', Action: 'dynamodb:Scan', NotResource: TABLE }, 'has NotResource'],
  ['a wildcard action', { ...allow, Action: 'dynamodb:*' }, 'allows dynamodb:*'],
  ['a pattern in the middle', { ...allow, Resource: 'arn:*:table/t' }, 'names arn:*:table/t'],
])('readStatements refuses %s, and names the role', (_name, statement, problem) => {
  expect(() => readStatements({ Statement: statement }, 'V2Auth/Role')).toThrow(
    `A policy statement of V2Auth/Role ${problem}`,
  );
});

describe('dynamoDbAccesses', () => {
  const needs = (operation: string, input: object) =>
    dynamoDbAccesses(operation, input).map(({ action, resource }) => `${action} ${resource.replace(TABLE, 'T')}`);

  test.each([
    ['an item', 'PutItem', { TableName: 't' }, ['dynamodb:PutItem T']],
    ['a table by its ARN', 'PutItem', { TableName: TABLE }, ['dynamodb:PutItem T']],
    ['an index', 'Query', { TableName: 't', IndexName: 'gsi1' }, ['dynamodb:Query T/index/gsi1']],
    ['a batch', 'BatchGetItem', { RequestItems: { t: {} } }, ['dynamodb:BatchGetItem T']],
    ['a batch of writes', 'BatchWriteItem', { RequestItems: { t: [] } }, ['dynamodb:BatchWriteItem T']],
    [
      'a reading transaction',
      'TransactGetItems',
      { TransactItems: [{ Get: { TableName: 't' } }] },
      ['dynamodb:GetItem T'],
    ],
    [
      'a writing transaction',
      'TransactWriteItems',
      {
        TransactItems: [
          { Put: { TableName: 't' } },
          { Update: { TableName: 't' } },
          { Delete: { TableName: 't' } },
          { ConditionCheck: { TableName: 't' } },
        ],
      },
      ['dynamodb:PutItem T', 'dynamodb:UpdateItem T', 'dynamodb:DeleteItem T', 'dynamodb:ConditionCheckItem T'],
    ],
    ['no table', 'ListTables', {}, ['dynamodb:ListTables *']],
  ])('returns the permissions of %s', (_name, operation, input, expected) => {
    expect(needs(operation, input)).toEqual(expected);
  });
});
