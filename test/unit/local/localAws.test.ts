import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { DynamoDBClient, GetItemCommand, PutItemCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SendEmailCommand, type SendEmailCommandInput, SESv2Client } from '@aws-sdk/client-sesv2';
import { GetQueueAttributesCommand, SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { QueueModel } from '../../../infra/local/assembly/eventSourceModels.ts';
import { AwsEndpoint } from '../../../infra/local/awsEndpoint.ts';
import { type AccessKey, Principals } from '../../../infra/local/iam/principals.ts';
import type { OutgoingMail } from '../../../infra/local/mail/eml.ts';
import type { ConsumedCapacity } from '../../../infra/local/metrics/measurements.ts';
import { QueueStore } from '../../../infra/local/queues/queueStore.ts';
import { EngineConnections } from '../../../infra/local/table/engineCall.ts';
import { TableCalls } from '../../../infra/local/table/tableCalls.ts';
import { signRequest } from '../../support/signRequest.ts';

const TABLE = 'arn:aws:dynamodb:us-east-1:000000000000:table/t';
const QUEUE = 'arn:aws:sqs:us-east-1:000000000000:q';
const secret = { arn: 'arn:secret', name: 'key', value: '{"current":"1"}' };

let engine: Server;
/** The calls that were passed on to the engine. */
let forwarded: { target: unknown; body: string }[];
let engineAnswer: { status: number; body: string };
/** Whether the engine breaks off its responses. */
let engineBreaks: boolean;
let connections: EngineConnections;
let aws: AwsEndpoint;
let queues: QueueStore;
let dynamoDb: (key: AccessKey) => DynamoDBClient;
let secretsManager: (key: AccessKey) => SecretsManagerClient;
let ses: (key: AccessKey) => SESv2Client;
let sqs: (key: AccessKey) => SQSClient;
let tableWrites: number;
/** The recorded capacity of table calls. */
let consumed: [kind: string, ConsumedCapacity][];
let mails: OutgoingMail[];
const principals = new Principals();
const operator = principals.addOperator();
const reader = principals.addFunction({
  name: 'Reader',
  statements: [
    { actions: new Set(['dynamodb:GetItem', 'dynamodb:ConditionCheckItem']), resources: [TABLE] },
    { actions: new Set(['secretsmanager:GetSecretValue']), resources: [secret.arn] },
    {
      actions: new Set(['ses:SendEmail']),
      resources: [
        'arn:aws:ses:us-east-1:000000000000:identity/example.com',
        'arn:aws:ses:us-east-1:000000000000:configuration-set/mails',
      ],
    },
    { actions: new Set(['sqs:SendMessage']), resources: [QUEUE] },
  ],
});
const nobody = principals.addFunction({ name: 'Nobody', statements: [] });

beforeAll(async () => {
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    forwarded.push({ target: request.headers['x-amz-target'], body: Buffer.concat(chunks).toString() });
    if (engineBreaks)
      return void response.writeHead(200, { 'content-length': 100 }).write('{', () => response.destroy());
    response
      .writeHead(engineAnswer.status, { 'content-length': Buffer.byteLength(engineAnswer.body) })
      .end(engineAnswer.body);
  };
  engine = createServer({ keepAliveTimeout: 0 }, (request, response) => void respond(request, response)).listen(
    0,
    '127.0.0.1',
  );
  await once(engine, 'listening');
  const outbox = {
    async put(message: OutgoingMail) {
      mails.push(message);
      return 'mail-1';
    },
  };
  aws = await AwsEndpoint.listen();
  queues = new QueueStore(
    new DatabaseSync(':memory:'),
    ['q', 'other'].map(
      (name) => ({ name, visibilitySeconds: 30, retentionSeconds: 60, delaySeconds: 0 }) as QueueModel,
    ),
  );
  connections = new EngineConnections(`http://127.0.0.1:${(engine.address() as AddressInfo).port}`);
  const table = new TableCalls({
    engine: connections,
    keyNames: new Map(),
    indexKeySizes: new Map(),
    measurements: { recordCapacity: (kind, each) => void consumed.push([kind, each]) },
    onWrite: () => tableWrites++,
  });
  aws.open({ table, secrets: [secret], outbox, queues, principals });
  const options = ({ AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY }: AccessKey) => ({
    endpoint: aws.url,
    region: 'us-east-1',
    maxAttempts: 1,
    credentials: { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY },
  });
  dynamoDb = (key) => new DynamoDBClient(options(key));
  secretsManager = (key) => new SecretsManagerClient(options(key));
  ses = (key) => new SESv2Client(options(key));
  sqs = (key) => new SQSClient(options(key));
});

afterAll(async () => {
  await aws.close();
  connections.close();
  engine.close();
});

let stderr: jest.SpiedFunction<typeof process.stderr.write>;
beforeEach(() => {
  stderr = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  forwarded = [];
  mails = [];
  consumed = [];
  tableWrites = 0;
  engineAnswer = { status: 200, body: '{}' };
  engineBreaks = false;
});

afterEach(() => void jest.restoreAllMocks());

const Key = { PK: { S: 'ü' } };

/** Sends a signed call without the SDK. The fields of `sent` are sent instead of the signed ones. */
function post(
  url: string,
  key: AccessKey,
  target: string,
  body: string,
  sent: { headers?: Record<string, string>; body?: string; url?: string } = {},
): Promise<Response> {
  const headers = {
    ...signRequest({
      url,
      service: 'any',
      target,
      body,
      accessKeyId: key.AWS_ACCESS_KEY_ID,
      secretAccessKey: key.AWS_SECRET_ACCESS_KEY,
    }),
    ...sent.headers,
  };
  return fetch(sent.url ?? url, { method: 'POST', headers, body: sent.body ?? body });
}

describe('DynamoDB', () => {
  test('forwards an allowed call unchanged, except that it asks for consumed capacity', async () => {
    const capacity = {
      TableName: 't',
      CapacityUnits: 1.5,
      Table: { CapacityUnits: 0.5 },
      GlobalSecondaryIndexes: { gsi1: { CapacityUnits: 1 } },
    };
    engineAnswer = { status: 200, body: `{"Item":{"PK":{"S":"ü"}},"ConsumedCapacity":${JSON.stringify(capacity)}}` };
    const { $metadata: _, ...answer } = await dynamoDb(reader).send(new GetItemCommand({ TableName: 't', Key }));
    expect(answer).toEqual({ Item: Key });
    expect(forwarded).toEqual([
      {
        target: 'DynamoDB_20120810.GetItem',
        body: '{"ReturnConsumedCapacity":"INDEXES","TableName":"t","Key":{"PK":{"S":"ü"}}}',
      },
    ]);
    expect(consumed).toEqual([['Read', capacity]]);
  });

  test('returns the consumed capacity to a caller who asked for it, and measures it', async () => {
    const capacity = { TableName: 't', CapacityUnits: 1 };
    engineAnswer = { status: 200, body: `{"ConsumedCapacity":${JSON.stringify(capacity)}}` };
    const answer = await dynamoDb(operator).send(
      new PutItemCommand({ TableName: 't', Item: Key, ReturnConsumedCapacity: 'TOTAL' }),
    );
    expect(answer.ConsumedCapacity).toEqual(capacity);
    expect(forwarded[0]?.body).toBe('{"TableName":"t","Item":{"PK":{"S":"ü"}},"ReturnConsumedCapacity":"TOTAL"}');
    expect(consumed).toEqual([['Write', capacity]]);
  });

  test('returns a server error if the engine aborts a response, so that the SDK retries', async () => {
    engineBreaks = true;
    await expect(dynamoDb(reader).send(new GetItemCommand({ TableName: 't', Key }))).rejects.toMatchObject({
      name: 'InternalServerError',
      message: expect.stringContaining('did not answer'),
    });
  });

  test('returns errors of the engine to the caller', async () => {
    engineAnswer = {
      status: 400,
      body: '{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"gone"}',
    };
    await expect(dynamoDb(reader).send(new GetItemCommand({ TableName: 't', Key }))).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
      message: 'gone',
    });
  });

  test('reports every write after its response, and no other call', async () => {
    await dynamoDb(operator).send(new GetItemCommand({ TableName: 't', Key }));
    expect(tableWrites).toBe(0);
    await dynamoDb(operator).send(new PutItemCommand({ TableName: 't', Item: Key }));
    await dynamoDb(operator).send(
      new TransactWriteItemsCommand({ TransactItems: [{ Put: { TableName: 't', Item: Key } }] }),
    );
    expect(tableWrites).toBe(2);
  });

  test('allows everything to the operator, and nothing to an unknown caller', async () => {
    await dynamoDb(operator).send(new PutItemCommand({ TableName: 't', Item: Key }));
    expect(forwarded).toHaveLength(1);
    const stranger = { AWS_ACCESS_KEY_ID: 'STRANGER', AWS_SECRET_ACCESS_KEY: 'x' };
    await expect(dynamoDb(stranger).send(new GetItemCommand({ TableName: 't', Key }))).rejects.toMatchObject({
      name: 'UnrecognizedClientException',
    });
  });
});

describe("a call of a function's thread", () => {
  const put = { method: 'POST', path: '/', target: 'DynamoDB_20120810.PutItem', body: '{"TableName":"t","Item":{}}' };
  const get = { ...put, target: 'DynamoDB_20120810.GetItem' };
  const queuePort = () => Number(new URL(aws.queues.url).port);
  const answered = async (made: typeof put, port = Number(new URL(aws.url).port)) => {
    const answer = await aws.answerThread(principals.ofKey(reader), { port, ...made }, () => false);
    return answer && [answer.status, (JSON.parse(answer.body) as { __type?: string }).__type?.split('#')[1]];
  };

  test('needs no signature, but the permission of its role', async () => {
    expect(await answered(get)).toEqual([200, undefined]);
    expect(await answered(put)).toEqual([400, 'AccessDeniedException']);
    expect(await answered({ ...get, target: 'Unknown.Get' })).toEqual([400, 'UnknownOperationException']);
    expect(forwarded.map(({ target }) => target)).toEqual([get.target]);
  });

  test('is refused while the called service is stopped', async () => {
    expect(await answered(get, queuePort())).toEqual([200, undefined]);
    await aws.queues.close();
    expect(await answered(get, queuePort())).toBeUndefined();
    expect(await answered(get)).toEqual([200, undefined]);
    await aws.queues.open();
    expect(await answered(get, queuePort())).toEqual([200, undefined]);
    expect(await answered(get, 1)).toBeUndefined();
  });
});

describe('the signature check', () => {
  const body = '{"TableName":"t","Key":{"PK":{"S":"1"}}}';
  const GET_ITEM = 'DynamoDB_20120810.GetItem';
  const answerOf = async (response: Response) => [
    response.status,
    ((await response.json()) as { __type?: string }).__type?.split('#')[1],
  ];

  test("accepts the SDK's signatures for bodies of any size and paths of any length", async () => {
    const Item = { ...Key, text: { S: 'ü'.repeat(150_000) } };
    await dynamoDb(operator).send(new PutItemCommand({ TableName: 't', Item }));
    expect(forwarded[0]!.body.length).toBeGreaterThan(150_000);
    expect(await answerOf(await post(aws.url, reader, GET_ITEM, body))).toEqual([200, undefined]);
  });

  test("accepts the SDK's signatures for streamed bodies, queries and other headers", async () => {
    const client = dynamoDb(reader);
    client.middlewareStack.add(
      (next) => (args) => {
        const request = args.request as { headers: Record<string, string>; query: Record<string, string> };
        Object.assign(request.headers, { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD', 'x-other': '  two   spaces ' });
        request.query = { b: '2', a: 'x y', 'a b': '*' };
        return next(args);
      },
      { step: 'build' },
    );
    await client.send(new GetItemCommand({ TableName: 't', Key }));
    expect(forwarded).toHaveLength(1);
  });

  test.each<[string, Partial<AccessKey>, () => Parameters<typeof post>[4]]>([
    ['another secret', { AWS_SECRET_ACCESS_KEY: 'local' }, () => ({})],
    ['the secret of another caller', { AWS_SECRET_ACCESS_KEY: operator.AWS_SECRET_ACCESS_KEY }, () => ({})],
    ['another body', {}, () => ({ body: body.replace('"1"', '"2"') })],
    ['another operation', {}, () => ({ headers: { 'x-amz-target': 'DynamoDB_20120810.PutItem' } })],
    ['another time', {}, () => ({ headers: { 'x-amz-date': '20260101T000000Z' } })],
    ['another service of this machine', {}, () => ({ url: aws.queues.url })],
  ])('refuses %s', async (_what, key, sent) => {
    expect(await answerOf(await post(aws.url, { ...reader, ...key }, GET_ITEM, body, sent()))).toEqual([
      400,
      'InvalidSignatureException',
    ]);
    expect(forwarded).toEqual([]);
  });

  test('refuses a request without a signature', async () => {
    const headers = {
      'x-amz-target': GET_ITEM,
      authorization: `AWS4-HMAC-SHA256 Credential=${operator.AWS_ACCESS_KEY_ID}/20260101/us-east-1/dynamodb/aws4_request`,
    };
    expect(await answerOf(await fetch(aws.url, { method: 'POST', headers, body }))).toEqual([
      400,
      'MissingAuthenticationTokenException',
    ]);
  });

  test('uses different keys in each run and for each caller', () => {
    const again = new Principals();
    const keys = [operator, reader, nobody, again.addOperator()];
    expect(new Set(keys.map(({ AWS_ACCESS_KEY_ID }) => AWS_ACCESS_KEY_ID)).size).toBe(keys.length);
    expect(new Set(keys.map(({ AWS_SECRET_ACCESS_KEY }) => AWS_SECRET_ACCESS_KEY)).size).toBe(keys.length);
  });
});

describe('the check of the headers Host and Origin', () => {
  const body = '{"TableName":"t","Key":{"PK":{"S":"1"}}}';
  /**
   * Sends a call with this `Host` header, which the signature includes, and further lines. Returns the status of the
   * answer.
   */
  async function statusFor(host: string, more = ''): Promise<string> {
    const headers = signRequest({
      url: `http://${host}`,
      service: 'any',
      target: 'DynamoDB_20120810.GetItem',
      body,
      accessKeyId: reader.AWS_ACCESS_KEY_ID,
      secretAccessKey: reader.AWS_SECRET_ACCESS_KEY,
    });
    const lines = Object.entries({ ...headers, host, 'content-length': body.length, connection: 'close' }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    const socket = connect(Number(new URL(aws.url).port), '127.0.0.1');
    socket.write(`POST / HTTP/1.1\r\n${lines.join('')}${more}\r\n${body}`);
    return (await text(socket)).split('\r\n')[0]!;
  }

  test('refuses another name or port, even with a valid signature', async () => {
    const { port } = new URL(aws.url);
    for (const name of ['127.0.0.1', 'localhost']) expect(await statusFor(`${name}:${port}`)).toBe('HTTP/1.1 200 OK');
    for (const host of [`evil.example:${port}`, `127.0.0.1.evil.example:${port}`, '127.0.0.1:1', 'localhost'])
      expect(await statusFor(host)).toBe('HTTP/1.1 403 Forbidden');
    expect(forwarded).toHaveLength(2);
  });

  test('refuses a second Host header and each Origin header, even with a valid signature', async () => {
    const { host } = new URL(aws.url);
    for (const more of [
      'Host: evil.example\r\n',
      `Host: ${host}\r\n`,
      'Origin: https://evil.example\r\n',
      'Origin: null\r\n',
      `Origin: ${aws.url}\r\n`,
    ])
      expect(await statusFor(host, more)).toBe('HTTP/1.1 403 Forbidden');
    expect(forwarded).toEqual([]);
  });
});

describe('Secrets Manager', () => {
  const read = (key: AccessKey, SecretId: string) => secretsManager(key).send(new GetSecretValueCommand({ SecretId }));

  test('returns a secret by ARN or name', async () => {
    expect(await read(reader, secret.arn)).toMatchObject({ ARN: secret.arn, SecretString: secret.value });
    expect(await read(reader, secret.name)).toMatchObject({ SecretString: secret.value });
  });

  test('refuses unknown secrets', async () => {
    await expect(read(operator, 'arn:other')).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });
});

const mail = (changes: { from?: string; subject?: string } & Partial<SendEmailCommandInput> = {}) =>
  new SendEmailCommand({
    ReplyToAddresses: changes.ReplyToAddresses,
    ConfigurationSetName: changes.ConfigurationSetName,
    EmailTags: changes.EmailTags,
    FromEmailAddress: changes.from ?? 'no-reply@example.com',
    Destination: { ToAddresses: ['ada@example.org'] },
    Content: {
      Simple: {
        Subject: { Data: changes.subject ?? 'Grüße' },
        Body: { Text: { Data: 'ü' }, Html: { Data: '<p>ü' } },
        Headers: [{ Name: 'X-Test', Value: '1' }],
      },
    },
  });

describe('SES', () => {
  test('puts mail into the outbox and returns its id', async () => {
    expect(await ses(reader).send(mail())).toMatchObject({ MessageId: 'mail-1' });
    expect(mails).toEqual([
      {
        from: 'no-reply@example.com',
        to: ['ada@example.org'],
        subject: 'Grüße',
        text: 'ü',
        html: '<p>ü',
        headers: [['X-Test', '1']],
      },
    ]);
  });

  test('accepts display names, reply-to addresses and settings for events', async () => {
    const from = '"Acme" <no-reply@example.com>';
    await ses(reader).send(
      mail({
        from,
        ReplyToAddresses: ['help@acme.example'],
        ConfigurationSetName: 'mails',
        EmailTags: [{ Name: 'mail', Value: '1' }],
      }),
    );
    expect(mails).toMatchObject([
      {
        from,
        headers: [
          ['Reply-To', 'help@acme.example'],
          ['X-Test', '1'],
        ],
      },
    ]);
  });

  test('refuses header injection and unsupported requests', async () => {
    await expect(ses(reader).send(mail({ subject: 'a\r\nBcc: eve@example.net' }))).rejects.toMatchObject({
      name: 'BadRequestException',
    });
    await expect(
      ses(reader).send(
        new SendEmailCommand({
          FromEmailAddress: 'a@example.com',
          Destination: { ToAddresses: ['b@example.org'] },
          Content: { Template: { TemplateName: 't' } },
        }),
      ),
    ).rejects.toMatchObject({ name: 'BadRequestException' });
    expect(mails).toEqual([]);
  });
});

const sendTo = (queue: string) =>
  sqs(reader).send(new SendMessageCommand({ QueueUrl: `${aws.url}/000000000000/${queue}`, MessageBody: 'x' }));

describe('SQS', () => {
  const waiting = async () =>
    (
      await sqs(operator).send(
        new GetQueueAttributesCommand({ QueueUrl: `${aws.url}/000000000000/q`, AttributeNames: ['All'] }),
      )
    ).Attributes?.ApproximateNumberOfMessages;

  test('accepts calls that the role allows, including batches', async () => {
    await sendTo('q');
    await sqs(reader).send(
      new SendMessageBatchCommand({ QueueUrl: `${aws.url}/000000000000/q`, Entries: [{ Id: 'a', MessageBody: 'y' }] }),
    );
    expect(await waiting()).toBe('2');
  });
});

const SES = 'arn:aws:ses:us-east-1:000000000000:';
test.each<[string, () => Promise<unknown>, string, string, string?]>([
  [
    'another action',
    () => dynamoDb(reader).send(new PutItemCommand({ TableName: 't', Item: Key })),
    'dynamodb:PutItem',
    TABLE,
  ],
  [
    'another table',
    () => dynamoDb(reader).send(new GetItemCommand({ TableName: 'u', Key })),
    'dynamodb:GetItem',
    TABLE.replace(/t$/, 'u'),
  ],
  [
    'a part of a transaction',
    () =>
      dynamoDb(reader).send(
        new TransactWriteItemsCommand({
          TransactItems: [
            { ConditionCheck: { TableName: 't', Key, ConditionExpression: 'x' } },
            { Put: { TableName: 't', Item: Key } },
          ],
        }),
      ),
    'dynamodb:PutItem',
    TABLE,
  ],
  [
    'a secret',
    () => secretsManager(nobody).send(new GetSecretValueCommand({ SecretId: secret.arn })),
    'secretsmanager:GetSecretValue',
    secret.arn,
    'Nobody',
  ],
  [
    'another configuration set',
    () => ses(reader).send(mail({ ConfigurationSetName: 'others' })),
    'ses:SendEmail',
    `${SES}configuration-set/others`,
  ],
  ['a mail', () => ses(nobody).send(mail()), 'ses:SendEmail', `${SES}identity/example.com`, 'Nobody'],
  [
    'another domain',
    () => ses(reader).send(mail({ from: 'no-reply@example.net' })),
    'ses:SendEmail',
    `${SES}identity/example.net`,
  ],
  [
    'a subdomain',
    () => ses(reader).send(mail({ from: 'no-reply@a.example.com' })),
    'ses:SendEmail',
    `${SES}identity/a.example.com`,
  ],
  ['another queue', () => sendTo('other'), 'sqs:SendMessage', QUEUE.replace(/q$/, 'other')],
  [
    'another action on a queue',
    () => sqs(reader).send(new GetQueueAttributesCommand({ QueueUrl: `${aws.url}/000000000000/q` })),
    'sqs:GetQueueAttributes',
    QUEUE,
  ],
])('%s is refused like IAM, and reported on standard error', async (_what, call, action, resource, role = 'Reader') => {
  await expect(call()).rejects.toMatchObject({
    name: 'AccessDeniedException',
    message: expect.stringContaining(
      `User: arn:aws:sts::000000000000:assumed-role/${role}/${role} is not authorized to perform: ${action} on resource: ${resource}`,
    ),
  });
  expect(stderr.mock.calls).toEqual([[`AccessDenied: ${role} may not ${action} on ${resource}\n`]]);
  expect([forwarded, mails]).toEqual([[], []]);
});

describe('a stopped service', () => {
  const call = async (url: string, operation: string, input: object) => {
    const response = await post(url, operator, `AmazonSQS.${operation}`, JSON.stringify(input));
    return (await response.json()) as { Attributes?: { QueueArn: string } };
  };
  const reason = ({ cause }: { cause?: { code: string } }) => cause?.code;
  /** Returns the queue of the answer, or the error code if the connection fails. */
  const attempt = (url: string) =>
    call(url, 'GetQueueAttributes', { QueueUrl: 'x/q' }).then(({ Attributes }) => Attributes?.QueueArn, reason);

  test('refuses connections until it is started again at the same address, while other services run', async () => {
    const { url } = aws.queues;
    expect(await attempt(url)).toBe(QUEUE);
    await aws.queues.close();
    await aws.queues.close();
    expect(await attempt(url)).toBe('ECONNREFUSED');
    expect(await attempt(aws.mail.url)).toBe(QUEUE);
    await aws.queues.open();
    await aws.queues.open();
    expect([aws.queues.url, await attempt(url)]).toEqual([url, QUEUE]);
  });

  test('closes connections with waiting calls', async () => {
    const arrived = new Promise<void>((resolve) =>
      jest.spyOn(queues, 'waitForMessage').mockImplementationOnce(() => (resolve(), new Promise(() => undefined))),
    );
    const received = call(aws.queues.url, 'ReceiveMessage', { QueueUrl: 'x/other', WaitTimeSeconds: 20 }).then(
      () => 'answered',
      reason,
    );
    await arrived;
    await aws.queues.close();
    expect(await received).toBe('UND_ERR_SOCKET');
    await aws.queues.open();
  });

  test('starts again once another program has released its port', async () => {
    const { url } = aws.mail;
    await aws.mail.close();
    const other = createServer().listen(Number(new URL(url).port), '127.0.0.1');
    await once(other, 'listening');
    setTimeout(() => other.close(), 100);
    await aws.mail.open();
    expect(await attempt(url)).toBe(QUEUE);
  });
});

test('the AWS endpoint refuses unknown services, and names them to callers with a signature only', async () => {
  const response = await post(aws.url, operator, 'AmazonSNS.Publish', '{}');
  expect([response.status, await response.json()]).toEqual([
    400,
    { __type: expect.stringMatching(/#UnknownOperationException$/), message: expect.stringContaining('AmazonSNS') },
  ]);
  const unsigned = { method: 'POST', headers: { 'x-amz-target': 'AmazonSNS.Publish' }, body: '{}' };
  expect(await (await fetch(aws.url, unsigned)).text()).toContain('MissingAuthenticationTokenException');
});
