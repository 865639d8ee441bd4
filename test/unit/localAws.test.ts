import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { DynamoDBClient, GetItemCommand, PutItemCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SendEmailCommand, SESv2Client } from '@aws-sdk/client-sesv2';
import { type AwsEndpoint, startAwsEndpoint } from '../../infra/local/awsEndpoint.ts';
import type { Message } from '../../infra/local/eml.ts';
import type { FunctionModel } from '../../infra/local/model.ts';
import { type AccessKey, Principals } from '../../infra/local/principals.ts';

const TABLE = 'arn:aws:dynamodb:us-east-1:000000000000:table/t';
const secret = { arn: 'arn:secret', name: 'key', value: '{"current":"1"}' };

let engine: Server;
/** What reached the engine. */
let forwarded: { target: unknown; body: string }[];
let engineAnswer: { status: number; body: string };
let aws: AwsEndpoint;
let dynamoDb: (key: AccessKey) => DynamoDBClient;
let secretsManager: (key: AccessKey) => SecretsManagerClient;
let ses: (key: AccessKey) => SESv2Client;
/** What was put into the outbox. */
let mails: Message[];
const principals = new Principals();
const operator = principals.addOperator();
const reader = principals.addFunction({
  name: 'Reader',
  statements: [
    { actions: new Set(['dynamodb:GetItem', 'dynamodb:ConditionCheckItem']), resources: [TABLE] },
    { actions: new Set(['secretsmanager:GetSecretValue']), resources: [secret.arn] },
    { actions: new Set(['ses:SendEmail']), resources: ['arn:aws:ses:us-east-1:000000000000:identity/example.com'] },
  ],
} as unknown as FunctionModel);
const nobody = principals.addFunction({ name: 'Nobody', statements: [] } as unknown as FunctionModel);

beforeAll(async () => {
  engine = createServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    forwarded.push({ target: request.headers['x-amz-target'], body: Buffer.concat(chunks).toString() });
    response.writeHead(engineAnswer.status, { 'content-type': 'application/x-amz-json-1.0' }).end(engineAnswer.body);
  }).listen(0, '127.0.0.1');
  await once(engine, 'listening');
  const outbox = {
    async put(message: Message) {
      mails.push(message);
      return 'mail-1';
    },
  };
  aws = await startAwsEndpoint({ enginePort: (engine.address() as AddressInfo).port, secrets: [secret], outbox, principals });
  const options = ({ AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY }: AccessKey) => ({
    endpoint: aws.url, region: 'us-east-1', maxAttempts: 1, credentials: { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY },
  });
  dynamoDb = (key) => new DynamoDBClient(options(key));
  secretsManager = (key) => new SecretsManagerClient(options(key));
  ses = (key) => new SESv2Client(options(key));
});

afterAll(async () => {
  await aws.close();
  engine.close();
});

beforeEach(() => {
  forwarded = [];
  mails = [];
  engineAnswer = { status: 200, body: '{}' };
});

const Key = { PK: { S: 'ü' } };

describe('DynamoDB', () => {
  test('what the role allows reaches the engine as it was sent, and its answer the caller', async () => {
    engineAnswer = { status: 200, body: '{"Item":{"PK":{"S":"ü"}}}' };
    const { Item } = await dynamoDb(reader).send(new GetItemCommand({ TableName: 't', Key }));
    expect(Item).toEqual(Key);
    expect(forwarded).toEqual([{ target: 'DynamoDB_20120810.GetItem', body: '{"TableName":"t","Key":{"PK":{"S":"ü"}}}' }]);
  });

  test('errors of the engine reach the caller', async () => {
    engineAnswer = { status: 400, body: '{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"gone"}' };
    await expect(dynamoDb(reader).send(new GetItemCommand({ TableName: 't', Key }))).rejects.toMatchObject({ name: 'ResourceNotFoundException', message: 'gone' });
  });

  test.each([
    ['another action', new PutItemCommand({ TableName: 't', Item: Key }), 'dynamodb:PutItem', TABLE],
    ['another table', new GetItemCommand({ TableName: 'u', Key }), 'dynamodb:GetItem', TABLE.replace(/t$/, 'u')],
    [
      'a part of a transaction',
      new TransactWriteItemsCommand({ TransactItems: [{ ConditionCheck: { TableName: 't', Key, ConditionExpression: 'x' } }, { Put: { TableName: 't', Item: Key } }] }),
      'dynamodb:PutItem', TABLE,
    ],
  ])('%s is refused as IAM refuses it, and told on standard error', async (_name, command, action, resource) => {
    const stderr = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    try {
      await expect(dynamoDb(reader).send(command as GetItemCommand)).rejects.toMatchObject({
        name: 'AccessDeniedException',
        message: expect.stringContaining(`User: arn:aws:sts::000000000000:assumed-role/Reader/Reader is not authorized to perform: ${action} on resource: ${resource}`),
      });
      expect(stderr.mock.calls).toEqual([[`AccessDenied: Reader may not ${action} on ${resource}\n`]]);
    } finally {
      stderr.mockRestore();
    }
    expect(forwarded).toEqual([]);
  });

  test('the operator may do everything, a stranger nothing', async () => {
    await dynamoDb(operator).send(new PutItemCommand({ TableName: 't', Item: Key }));
    expect(forwarded).toHaveLength(1);
    const stranger = { AWS_ACCESS_KEY_ID: 'STRANGER', AWS_SECRET_ACCESS_KEY: 'x' };
    await expect(dynamoDb(stranger).send(new GetItemCommand({ TableName: 't', Key }))).rejects.toMatchObject({ name: 'UnrecognizedClientException' });
  });
});

describe('Secrets Manager', () => {
  const read = (key: AccessKey, SecretId: string) => secretsManager(key).send(new GetSecretValueCommand({ SecretId }));

  test('gives out a secret by ARN or name', async () => {
    expect(await read(reader, secret.arn)).toMatchObject({ ARN: secret.arn, SecretString: secret.value });
    expect(await read(reader, secret.name)).toMatchObject({ SecretString: secret.value });
  });

  test('refuses those whose role does not allow it, and knows no other', async () => {
    const stderr = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    try {
      await expect(read(nobody, secret.arn)).rejects.toMatchObject({ name: 'AccessDeniedException' });
    } finally {
      stderr.mockRestore();
    }
    await expect(read(operator, 'arn:other')).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });
});

describe('SES', () => {
  const mail = (changes: { from?: string; subject?: string } = {}) => new SendEmailCommand({
    FromEmailAddress: changes.from ?? 'no-reply@example.com',
    Destination: { ToAddresses: ['ada@example.org'] },
    Content: { Simple: { Subject: { Data: changes.subject ?? 'Grüße' }, Body: { Text: { Data: 'ü' }, Html: { Data: '<p>ü' } }, Headers: [{ Name: 'X-Test', Value: '1' }] } },
  });

  test('puts mail into the outbox and gives its id', async () => {
    expect(await ses(reader).send(mail())).toMatchObject({ MessageId: 'mail-1' });
    expect(mails).toEqual([{ from: 'no-reply@example.com', to: ['ada@example.org'], subject: 'Grüße', text: 'ü', html: '<p>ü', headers: [['X-Test', '1']] }]);
  });

  test.each([
    ['a function without the grant', () => nobody, {}],
    ['another sender\'s domain', () => reader, { from: 'no-reply@example.net' }],
    ['a parent\'s subdomain', () => reader, { from: 'no-reply@a.example.com' }],
  ])('refuses %s', async (_what, key, changes) => {
    const stderr = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    try {
      await expect(ses(key()).send(mail(changes))).rejects.toMatchObject({ name: 'AccessDeniedException', message: expect.stringContaining('ses:SendEmail') });
    } finally {
      stderr.mockRestore();
    }
    expect(mails).toEqual([]);
  });

  test('refuses what would become another header, and what it does not know', async () => {
    await expect(ses(reader).send(mail({ subject: 'a\r\nBcc: eve@example.net' }))).rejects.toMatchObject({ name: 'BadRequestException' });
    await expect(ses(reader).send(new SendEmailCommand({ FromEmailAddress: 'a@example.com', Destination: { ToAddresses: ['b@example.org'] }, Content: { Template: { TemplateName: 't' } } }))).rejects.toMatchObject({ name: 'BadRequestException' });
    expect(mails).toEqual([]);
  });
});

test('other services are unknown', async () => {
  const response = await fetch(aws.url, { method: 'POST', headers: { 'x-amz-target': 'AmazonSQS.SendMessage' }, body: '{}' });
  expect([response.status, await response.json()]).toEqual([400, { __type: expect.stringMatching(/#UnknownOperationException$/), message: expect.stringContaining('AmazonSQS') }]);
});
