import { once } from 'node:events';
import { watch } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { signRequest } from '../support/signRequest.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { times } from '../support/times.ts';
import { copyAssembly } from './assembly.ts';
import { startInVain, startSystem, type System } from './system.ts';

/** An action of one of the functions below. The functions write each action as a line into the file `SEEN`. */
interface Seen {
  readonly by: 'queue' | 'stream' | 'timer';
  readonly id: string;
  readonly step?: string;
  readonly at: number;
  readonly instance: string;
  readonly [more: string]: unknown;
}

/**
 * The code of the test functions, without an SDK. One function calls AWS. The others record messages, stream records
 * and timer runs.
 */
const CODE = `
import { createHash, createHmac } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
${signRequest.toString()}
const instance = crypto.randomUUID();
const tell = (what) => appendFileSync(process.env.SEEN, JSON.stringify({ ...what, instance, at: Date.now() }) + '\\n');
async function aws(service, target, input) {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, ['AWS_ENDPOINT_URL_' + service]: url } = process.env;
  const body = JSON.stringify(input);
  const headers = { 'content-type': 'application/x-amz-json-1.0', ...signRequest({ url, service: service.toLowerCase(), target, body, accessKeyId, secretAccessKey }) };
  const response = await fetch(url, { method: 'POST', headers, body });
  if (service === 'DYNAMODB' && !response.ok) throw new Error(await response.text());
  return { status: response.status, body: await response.json() };
}
const put = (id) => aws('DYNAMODB', 'DynamoDB_20120810.PutItem', { TableName: process.env.TABLE_NAME, Item: { PK: { S: 'test#' + id }, SK: { S: 'item' }, _t: { S: 'TestItem' }, id: { S: id }, putAt: { N: String(Date.now()) } } });
const steps = {
  put: ({ id }) => put(id),
  fail: () => Promise.reject(new Error('the test message says fail')),
  wait: ({ milliseconds }) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  waitForOtherInstance: async ({ id }) => {
    const wave = id.split('-')[0];
    const lines = () => readFileSync(process.env.SEEN, 'utf8').split('\\n').slice(0, -1).map((line) => JSON.parse(line));
    const instances = () => new Set(lines().filter((line) => line.id.startsWith(wave)).map((line) => line.instance));
    while (instances().size < 2) await new Promise((resolve) => setTimeout(resolve, 20));
  },
  hangAtFirst: ({ receives }) => receives === 1 ? new Promise(() => {}) : undefined,
};
const pass = async (record, body) => {
  const message = { ...JSON.parse(body), receives: Number(record.attributes?.ApproximateReceiveCount) };
  tell({ by: 'queue', id: message.id, step: 'begun', receives: message.receives, firstReceivedAt: Number(record.attributes?.ApproximateFirstReceiveTimestamp), group: record.attributes?.MessageGroupId, schedule: process.env.WEBHOOK_RETRY_SCHEDULE });
  await steps[message.do](message);
  tell({ by: 'queue', id: message.id, step: 'done' });
};
export const ask = async ({ body }) => ({ statusCode: 200, body: JSON.stringify(await aws(...JSON.parse(body))) });
export const onMessages = async ({ Records }) => {
  const failed = [];
  await Promise.all(Records.map((record) => pass(record, record.body).catch(() => failed.push({ itemIdentifier: record.messageId }))));
  return { batchItemFailures: failed };
};
export const onItems = async ({ Records }) => {
  for (const { eventName, eventSourceARN, dynamodb: { NewImage, SequenceNumber } } of Records) {
    const id = NewImage.id.S;
    tell({ by: 'stream', id, eventName, eventSourceARN, putAt: Number(NewImage.putAt?.N) });
    if (id.startsWith('poison')) return { batchItemFailures: [{ itemIdentifier: SequenceNumber }] };
  }
};
export const onTick = async (event) => tell({ by: 'timer', id: event['detail-type'] });
`;

const arnOf = (resource: string) => ({ 'Fn::GetAtt': [resource, 'Arn'] });
const stream = { 'Fn::GetAtt': ['Table', 'StreamArn'] };

/** Returns the directory of a copied assembly, in which the test functions replace the workers. */
async function assemblyWithTestWorkers(seen: string, without: { action?: string } = {}): Promise<string> {
  const { dir, addCode, changeTemplate } = await copyAssembly();
  const S3Key = await addCode('test-workers', CODE);
  const allow = (Action: string[], Resource: unknown) => ({
    Effect: 'Allow',
    Action: Action.filter((each) => each !== without.action),
    Resource,
  });
  const reading = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'];
  const role = (...Statement: object[]) => ({
    Type: 'AWS::IAM::Role',
    Properties: { Policies: [{ PolicyDocument: { Statement } }] },
  });
  const lambda = (name: string, Role: string, Timeout = 3) => ({
    Type: 'AWS::Lambda::Function',
    Properties: {
      Code: { S3Key },
      Handler: `index.${name}`,
      Role: arnOf(Role),
      Timeout,
      Environment: { Variables: { SEEN: seen, TABLE_NAME: { Ref: 'Table' }, WEBHOOK_RETRY_SCHEDULE: '0,5' } },
    },
  });
  await changeTemplate(({ Resources }) => {
    if (!Resources.Table) return false;
    delete Resources.Workers;
    // Alarms and dashboards refer to the removed workers.
    for (const [id, { Type }] of Object.entries(Resources))
      if (Type.startsWith('AWS::CloudWatch::')) Reflect.deleteProperty(Resources, id);
    Object.assign(Resources, {
      TestQueue: {
        Type: 'AWS::SQS::Queue',
        Properties: {
          QueueName: 'test',
          VisibilityTimeout: 1,
          RedrivePolicy: { deadLetterTargetArn: arnOf('TestDeadLetters'), maxReceiveCount: 2 },
        },
      },
      TestDeadLetters: { Type: 'AWS::SQS::Queue', Properties: { QueueName: 'test-dead' } },
      TestSlowQueue: { Type: 'AWS::SQS::Queue', Properties: { QueueName: 'test-slow', VisibilityTimeout: 180 } },
      TestAskRole: role(
        allow(['sqs:SendMessage'], [arnOf('TestQueue'), arnOf('TestSlowQueue')]),
        allow(reading, arnOf('TestDeadLetters')),
        allow(['sqs:GetQueueAttributes'], [arnOf('TestQueue'), arnOf('TestSlowQueue')]),
        allow(['dynamodb:PutItem', 'dynamodb:UpdateItem'], arnOf('Table')),
      ),
      TestAsk: lambda('ask', 'TestAskRole'),
      TestIntegration: { Type: 'AWS::ApiGatewayV2::Integration', Properties: { IntegrationUri: arnOf('TestAsk') } },
      TestRoute: {
        Type: 'AWS::ApiGatewayV2::Route',
        Properties: {
          RouteKey: 'POST /test',
          Target: { 'Fn::Join': ['/', ['integrations', { Ref: 'TestIntegration' }]] },
        },
      },
      TestMessagesRole: role(
        allow(reading, [arnOf('TestQueue'), arnOf('TestSlowQueue')]),
        allow(['dynamodb:PutItem'], arnOf('Table')),
      ),
      TestMessages: lambda('onMessages', 'TestMessagesRole', 1),
      TestSource: {
        Type: 'AWS::Lambda::EventSourceMapping',
        Properties: {
          EventSourceArn: arnOf('TestQueue'),
          FunctionName: { Ref: 'TestMessages' },
          BatchSize: 10,
          FunctionResponseTypes: ['ReportBatchItemFailures'],
          ScalingConfig: { MaximumConcurrency: 2 },
        },
      },
      TestSlowMessages: lambda('onMessages', 'TestMessagesRole', 30),
      TestSlowSource: {
        Type: 'AWS::Lambda::EventSourceMapping',
        Properties: {
          EventSourceArn: arnOf('TestSlowQueue'),
          FunctionName: { Ref: 'TestSlowMessages' },
          FunctionResponseTypes: ['ReportBatchItemFailures'],
          ScalingConfig: { MaximumConcurrency: 2 },
        },
      },
      TestItemsRole: role(
        allow(
          ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator', 'dynamodb:ListStreams'],
          stream,
        ),
        allow(['sqs:SendMessage'], arnOf('TestDeadLetters')),
      ),
      TestItems: lambda('onItems', 'TestItemsRole'),
      TestStream: {
        Type: 'AWS::Lambda::EventSourceMapping',
        Properties: {
          EventSourceArn: stream,
          FunctionName: { Ref: 'TestItems' },
          StartingPosition: 'TRIM_HORIZON',
          BatchSize: 100,
          ParallelizationFactor: 10,
          FunctionResponseTypes: ['ReportBatchItemFailures'],
          BisectBatchOnFunctionError: true,
          MaximumRetryAttempts: 1,
          DestinationConfig: { OnFailure: { Destination: arnOf('TestDeadLetters') } },
          FilterCriteria: {
            Filters: [{ Pattern: '{"eventName":["INSERT"],"dynamodb":{"NewImage":{"_t":{"S":["TestItem"]}}}}' }],
          },
        },
      },
      TestTickRole: role(),
      TestTick: lambda('onTick', 'TestTickRole'),
      TestRule: {
        Type: 'AWS::Events::Rule',
        Properties: { ScheduleExpression: 'rate(1 minute)', Targets: [{ Id: 'Tick', Arn: arnOf('TestTick') }] },
      },
      TestMayTick: {
        Type: 'AWS::Lambda::Permission',
        Properties: {
          Action: 'lambda:InvokeFunction',
          FunctionName: arnOf('TestTick'),
          Principal: 'events.amazonaws.com',
          SourceArn: arnOf('TestRule'),
        },
      },
    });
  });
  return dir;
}

// All tests share one data directory and several starts of the system. The tests run in this order.
describe('workers in npm start', () => {
  let assembly: string;
  let system: System;
  let startedAt: number;

  const start = () =>
    startSystem({ dataDir, env: { ASSEMBLY_DIR: assembly, SCHEDULE_SECONDS: '2', WEBHOOK_RETRY_SCHEDULE: '0,1' } });

  beforeAll(async () => {
    await writeFile(seenFile, '');
    assembly = await assemblyWithTestWorkers(seenFile);
    startedAt = Date.now();
    system = await start();
  });

  afterAll(() => system.stop());
  const dataDir = temporaryFolder();
  const seenFile = join(dataDir, 'seen.jsonl');

  const seen = async () =>
    (await readFile(seenFile, 'utf8'))
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Seen);

  /** Waits until at least `count` recorded lines match. Returns them. */
  async function until(like: (line: Seen) => boolean, count = 1): Promise<Seen[]> {
    const changes = watch(seenFile);
    try {
      for (;;) {
        const changed = once(changes, 'change');
        const calls = (await seen()).filter(like);
        if (calls.length >= count) return calls;
        await changed;
      }
    } finally {
      changes.close();
    }
  }

  /** Makes a call of AWS inside the function that answers `POST /test`. */
  async function ask(
    service: 'SQS' | 'DYNAMODB',
    operation: string,
    input: object,
  ): Promise<{ status: number; body: any }> {
    const target = `${service === 'SQS' ? 'AmazonSQS' : 'DynamoDB_20120810'}.${operation}`;
    const response = await fetch(`${system.baseUrl}/test`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([service, target, input]),
    });
    return (await response.json()) as { status: number; body: any };
  }

  const url = (queue: string) => `http://any/000000000000/${queue}`;
  const sendTo = (queue: string, ...bodies: object[]) =>
    ask('SQS', 'SendMessageBatch', {
      QueueUrl: url(queue),
      Entries: bodies.map((body, index) => ({
        Id: String(index),
        MessageBody: JSON.stringify(body),
        MessageGroupId: 'group',
      })),
    });
  const put = (id: string) =>
    ask('DYNAMODB', 'PutItem', {
      TableName: 'CollaborationBackend-Table',
      Item: {
        PK: { S: `test#${id}` },
        SK: { S: 'item' },
        _t: { S: 'TestItem' },
        id: { S: id },
        putAt: { N: String(Date.now()) },
      },
    });

  test('passes a queue message to a function, and the item that it writes to a stream function', async () => {
    await sendTo('test', { do: 'put', id: 'first' });
    const [begun] = await until(({ by, id, step }) => by === 'queue' && id === 'first' && step === 'begun');
    expect(begun).toMatchObject({ receives: 1, group: 'group', schedule: '0,1' });
    const [inserted] = await until(({ by, id }) => by === 'stream' && id === 'first');
    expect(inserted).toMatchObject({
      eventName: 'INSERT',
      eventSourceARN: 'arn:aws:dynamodb:us-east-1:000000000000:table/CollaborationBackend-Table/stream/local',
    });
  });

  test('delivers only stream records that pass the filter', async () => {
    await put('again');
    await put('again');
    await ask('DYNAMODB', 'PutItem', {
      TableName: 'CollaborationBackend-Table',
      Item: { PK: { S: 'test#other' }, SK: { S: 'item' }, _t: { S: 'Other' }, id: { S: 'other' } },
    });
    await put('last');
    await until(({ by, id }) => by === 'stream' && id === 'last');
    const fromStream = (await seen()).filter(({ by }) => by === 'stream').map(({ id }) => id);
    expect(fromStream).toEqual(['first', 'again', 'last']);
  });

  test('takes less than 1 s from the commit to the function on an idle machine', async () => {
    const [delays, requests]: [number[], number[]] = [[], []];
    for (let i = 0; i < 50; i++) {
      const sentAt = performance.now();
      await put(`timed-${i}`);
      requests.push(performance.now() - sentAt);
      const [line] = await until(({ by, id }) => by === 'stream' && id === `timed-${i}`);
      delays.push(line!.at - Number(line!.putAt));
    }
    const nth = (values: number[], index: number) => values.sort((a, b) => a - b)[index]!;
    // On a slow machine, requests are slow too. On an idle machine, twenty requests take less than 1 s.
    expect(nth(delays, 48)).toBeLessThan(Math.max(1_000, 20 * nth(requests, 25)));
  });

  test('moves only messages that fail repeatedly to the dead-letter queue', async () => {
    await sendTo('test', { do: 'fail', id: 'bad' }, { do: 'wait', milliseconds: 0, id: 'good' });
    const starts = await until(({ id, step }) => id === 'bad' && step === 'begun', 2);
    expect(starts.map(({ receives }) => receives)).toEqual([1, 2]);
    // The visibility timeout is one second.
    expect(starts[1]!.at - Number(starts[0]!.firstReceivedAt)).toBeGreaterThanOrEqual(1_000);
    const { body } = await ask('SQS', 'ReceiveMessage', {
      QueueUrl: url('test-dead'),
      WaitTimeSeconds: 5,
      MaxNumberOfMessages: 10,
    });
    expect(body.Messages.map(({ Body }: { Body: string }) => JSON.parse(Body).id)).toEqual(['bad']);
    const good = (await seen()).filter(({ id }) => id === 'good');
    expect(good.map(({ step }) => step)).toEqual(['begun', 'done']);
    const { Attributes } = (await ask('SQS', 'GetQueueAttributes', { QueueUrl: url('test'), AttributeNames: ['All'] }))
      .body;
    expect(Attributes).toMatchObject({ ApproximateNumberOfMessages: '0', ApproximateNumberOfMessagesNotVisible: '0' });
  });

  test('skips a record that still fails after its retries, reports it, and delays no other record', async () => {
    // The partition keys of the two records lead to different batches. Lambda would skip all records of one batch.
    await put('poison-1');
    await put('well');
    await until(({ id }) => id === 'well');
    expect(await until(({ id }) => id === 'poison-1', 2)).toHaveLength(2);
    const { body } = await ask('SQS', 'ReceiveMessage', { QueueUrl: url('test-dead'), WaitTimeSeconds: 5 });
    expect(JSON.parse(body.Messages[0].Body)).toMatchObject({
      requestContext: {
        condition: 'RetryAttemptsExhausted',
        approximateInvokeCount: 2,
        functionArn: expect.stringMatching(/:CollaborationBackend-TestItems:\$LATEST$/),
      },
      DDBStreamBatchInfo: { batchSize: 1, streamArn: expect.stringMatching(/\/stream\/local$/) },
    });
  });

  test('runs schedules at the rate that the environment sets', async () => {
    const ticks = await until(({ by }) => by === 'timer', 3);
    expect(ticks[0]!.id).toBe('Scheduled Event');
    // A tick can be late, so two ticks can be closer than two seconds.
    expect(ticks.length).toBeLessThanOrEqual(1 + (ticks.at(-1)!.at - startedAt) / 2_000);
  });

  test('runs several batches of a queue at the same time, each in its own thread', async () => {
    // The messages do not fit into one batch. Each batch ends only after the other one has begun in another thread.
    for (const group of [0, 1])
      await sendTo('test-slow', ...times(10, (i) => ({ do: 'waitForOtherInstance', id: `wave-${group}-${i}` })));
    const done = await until(({ id, step }) => id.startsWith('wave-') && step === 'done', 20);
    expect(new Set(done.map(({ instance }) => instance)).size).toBe(2);
  });

  test('enforces roles and AWS limits on queues', async () => {
    expect(await ask('SQS', 'SendMessage', { QueueUrl: url('test-dead'), MessageBody: 'x' })).toMatchObject({
      status: 400,
      body: { __type: expect.stringMatching(/#AccessDeniedException$/) },
    });
    expect(system.logs()).toContain(
      'AccessDenied: CollaborationBackend-TestAsk may not sqs:SendMessage on arn:aws:sqs:us-east-1:000000000000:test-dead',
    );
    expect(
      await ask('SQS', 'SendMessage', { QueueUrl: url('test'), MessageBody: 'x', DelaySeconds: 901 }),
    ).toMatchObject({ status: 400, body: { __type: expect.stringMatching(/#InvalidParameterValue$/) } });
  });

  test('lets a running batch finish on SIGTERM, and does not deliver it again', async () => {
    await sendTo('test-slow', { do: 'wait', milliseconds: 1_500, id: 'under way' });
    await until(({ id }) => id === 'under way');
    expect(await system.stop()).toBe(0);
    expect((await seen()).filter(({ id }) => id === 'under way').map(({ step }) => step)).toEqual(['begun', 'done']);
    system = await start();
    const { Attributes } = (
      await ask('SQS', 'GetQueueAttributes', { QueueUrl: url('test-slow'), AttributeNames: ['All'] })
    ).body;
    expect(Attributes).toMatchObject({ ApproximateNumberOfMessages: '0', ApproximateNumberOfMessagesNotVisible: '0' });
  });

  test('delivers unfinished messages and records again after it is killed', async () => {
    await sendTo('test-slow', { do: 'hangAtFirst', id: 'in flight' });
    await until(({ id }) => id === 'in flight');
    const acknowledged: string[] = [];
    const write = async (writer: number) => {
      for (let i = 0; ; i++) {
        const id = `written-${writer}-${i}`;
        expect((await put(id)).status).toBe(200);
        acknowledged.push(id);
        if (acknowledged.length === 200) void system.kill();
      }
    };
    await Promise.allSettled([write(0), write(1), write(2), write(3)]);
    expect(acknowledged.length).toBeGreaterThanOrEqual(200);

    system = await start();
    const again = await until(({ id, step }) => id === 'in flight' && step === 'begun', 2);
    expect(again.map(({ receives }) => receives)).toEqual([1, 2]);
    await until(({ id, step }) => id === 'in flight' && step === 'done');
    for (const written of acknowledged) await until(({ by, id }) => by === 'stream' && id === written);
    // The system stores its position in the stream, so old records are not delivered again.
    expect((await seen()).filter(({ by, id }) => by === 'stream' && id === 'first')).toHaveLength(1);
  });

  test.each(['sqs:ReceiveMessage', 'dynamodb:GetRecords'])(
    'does not start if the role of a worker lacks %s on its event source',
    async (action) => {
      const broken = await assemblyWithTestWorkers(seenFile, { action });
      const { code, output } = await startInVain({ env: { ASSEMBLY_DIR: broken } });
      expect(code).toBe(1);
      expect(output).toMatch(
        new RegExp(
          `^The event source Test\\w+ cannot work: the role of CollaborationBackend-Test\\w+ does not allow ${action} on arn:\\S+\\.$`,
          'm',
        ),
      );
    },
  );
});
