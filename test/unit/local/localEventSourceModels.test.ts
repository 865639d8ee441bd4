import { describe, expect, test } from '@jest/globals';
import { eventFilter } from '../../../infra/local/assembly/eventFilter.ts';
import { batchSourcesOf, queuesOf, schedulesOf } from '../../../infra/local/assembly/eventSourceModels.ts';
import type { FunctionModel } from '../../../infra/local/assembly/functionModel.ts';
import type { Resource } from '../../../infra/local/assembly/template.ts';

const QUEUE = 'arn:aws:sqs:us-east-1:000000000000:q';
const DEAD = 'arn:aws:sqs:us-east-1:000000000000:dead';
const STREAM = 'arn:aws:dynamodb:us-east-1:000000000000:table/t/stream/local';

const resource = (
  path: string,
  properties: Record<string, unknown>,
  arn = `arn:aws:x:us-east-1:000000000000:${path}`,
): Resource => ({ path, type: 'Test', ref: path, arn, properties });
const all = {
  actions: new Set([
    'sqs:ReceiveMessage',
    'sqs:DeleteMessage',
    'sqs:GetQueueAttributes',
    'sqs:SendMessage',
    'dynamodb:DescribeStream',
    'dynamodb:GetRecords',
    'dynamodb:GetShardIterator',
    'dynamodb:ListStreams',
  ]),
  resources: ['*'],
};
const worker = (changes: Partial<FunctionModel> = {}) =>
  ({ name: 'worker', arn: 'arn:worker', timeoutSeconds: 30, statements: [all], ...changes }) as FunctionModel;

const queue = (properties: Record<string, unknown> = {}, arn = QUEUE) =>
  resource(arn.split(':').at(-1)!, properties, arn);
const queues = queuesOf([queue({ VisibilityTimeout: 180 }), queue({}, DEAD)]);
const tables = [
  {
    name: 't',
    streamArn: STREAM,
    properties: {
      KeySchema: [
        { AttributeName: 'SK', KeyType: 'RANGE' },
        { AttributeName: 'PK', KeyType: 'HASH' },
      ],
    },
  },
];

describe('queuesOf', () => {
  test('reads the properties of a queue, with the defaults of SQS', () => {
    expect(
      queuesOf([
        queue({
          VisibilityTimeout: 180,
          MessageRetentionPeriod: 1_209_600,
          DelaySeconds: 2,
          RedrivePolicy: { deadLetterTargetArn: DEAD, maxReceiveCount: 5 },
          SqsManagedSseEnabled: true,
        }),
        queue({}, DEAD),
      ]),
    ).toEqual([
      {
        name: 'q',
        arn: QUEUE,
        visibilitySeconds: 180,
        retentionSeconds: 1_209_600,
        delaySeconds: 2,
        deadLetters: { queue: 'dead', maxReceiveCount: 5 },
      },
      {
        name: 'dead',
        arn: DEAD,
        visibilitySeconds: 30,
        retentionSeconds: 345_600,
        delaySeconds: 0,
        deadLetters: undefined,
      },
    ]);
  });

  test.each([
    ['is a FIFO queue', { FifoQueue: true }],
    [
      'has a dead-letter queue that the template does not define',
      { RedrivePolicy: { deadLetterTargetArn: 'arn:elsewhere', maxReceiveCount: 1 } },
    ],
  ])('refuses a queue that %s', (problem, properties) => {
    expect(() => queuesOf([queue(properties)])).toThrow(`The queue q ${problem}`);
  });
});

describe('batchSourcesOf', () => {
  const read = (properties: Record<string, unknown>, target = worker()) =>
    batchSourcesOf([resource('Source', properties)], { functions: [target], queues, tables });
  const fromQueue = { EventSourceArn: QUEUE, FunctionName: 'worker' };
  const fromStream = { EventSourceArn: STREAM, FunctionName: 'worker', StartingPosition: 'TRIM_HORIZON' };

  test('reads the event source of a queue, with at most 16 parallel batches', () => {
    const {
      queueSources: [usual],
    } = read(fromQueue);
    expect(usual).toEqual({
      path: 'Source',
      function: worker(),
      queue: queues[0],
      batchSize: 10,
      reportsFailures: false,
      maxConcurrency: 16,
    });
    const {
      queueSources: [special],
    } = read({
      ...fromQueue,
      FunctionName: 'arn:worker',
      BatchSize: 5,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig: { MaximumConcurrency: 4 },
    });
    expect(special).toMatchObject({
      batchSize: 5,
      reportsFailures: true,
      maxConcurrency: 4,
    });
    expect(read({ ...fromQueue, ScalingConfig: { MaximumConcurrency: 100 } }).queueSources[0]!.maxConcurrency).toBe(16);
  });

  test("reads the event source of a table's stream", () => {
    const {
      streamSources: [usual],
    } = read(fromStream);
    expect(usual).toMatchObject({
      table: 't',
      partitionKey: 'PK',
      arn: STREAM,
      batchSize: 100,
      lanes: 1,
      maxRetries: Infinity,
      bisects: false,
      onFailure: undefined,
    });
    const {
      streamSources: [special],
    } = read({
      ...fromStream,
      BatchSize: 50,
      ParallelizationFactor: 10,
      MaximumRetryAttempts: 20,
      BisectBatchOnFunctionError: true,
      MaximumRecordAgeInSeconds: 3_600,
      DestinationConfig: { OnFailure: { Destination: DEAD } },
    });
    expect(special).toMatchObject({ batchSize: 50, lanes: 10, maxRetries: 20, bisects: true, onFailure: queues[1] });
  });

  test('ignores disabled event sources', () => {
    expect(read({ ...fromQueue, Enabled: false })).toEqual({ queueSources: [], streamSources: [] });
  });

  const without = (action: string) =>
    worker({ statements: [{ ...all, actions: new Set([...all.actions].filter((each) => each !== action)) }] });

  test.each([
    [
      'an unknown property',
      { ...fromStream, TumblingWindowInSeconds: 5 },
      worker(),
      'Source has TumblingWindowInSeconds',
    ],
    ['no function', { ...fromQueue, FunctionName: 'nobody' }, worker(), 'Source has no function'],
    ['an unknown source', { ...fromQueue, EventSourceArn: 'arn:kinesis' }, worker(), 'Source reads arn:kinesis'],
    ['a filter for messages', { ...fromQueue, FilterCriteria: { Filters: [] } }, worker(), 'Source filters messages'],
    ['another starting position', { ...fromStream, StartingPosition: 'LATEST' }, worker(), 'Source starts at LATEST'],
    [
      'a destination that is not a queue',
      { ...fromStream, DestinationConfig: { OnFailure: { Destination: 'arn:topic' } } },
      worker(),
      'Source sends failed records to arn:topic',
    ],
    [
      "a visibility timeout below the function's",
      fromQueue,
      worker({ timeoutSeconds: 181 }),
      'Source is refused by AWS: the queue hides a message for 180 s, and the function may take 181 s',
    ],
    [
      'no right to receive',
      fromQueue,
      without('sqs:ReceiveMessage'),
      `Source cannot work: the role of worker does not allow sqs:ReceiveMessage on ${QUEUE}`,
    ],
    ['no right to delete', fromQueue, without('sqs:DeleteMessage'), 'sqs:DeleteMessage'],
    [
      'no right to read the stream',
      fromStream,
      without('dynamodb:GetRecords'),
      `Source cannot work: the role of worker does not allow dynamodb:GetRecords on ${STREAM}`,
    ],
    [
      'no right to send to the destination',
      { ...fromStream, DestinationConfig: { OnFailure: { Destination: DEAD } } },
      without('sqs:SendMessage'),
      `does not allow sqs:SendMessage on ${DEAD}`,
    ],
  ])('refuses %s, and names the event source', (_what, properties, target, message) => {
    expect(() => read(properties, target)).toThrow(message);
  });
});

describe('eventFilter', () => {
  const passes = (criteria: unknown, record: object) => eventFilter(criteria, 'Source')(record);
  const pattern = (...patterns: object[]) => ({ Filters: patterns.map((each) => ({ Pattern: JSON.stringify(each) })) });
  const inserts = pattern({ eventName: ['INSERT'], dynamodb: { NewImage: { _t: { S: ['Event', 'Mail'] } } } });
  const record = (eventName: string, type?: string) => ({
    eventName,
    dynamodb: { Keys: {}, ...(type && { NewImage: { _t: { S: type }, other: { S: 'Event' } } }) },
  });

  test.each([
    ['a listed value', inserts, record('INSERT', 'Mail'), true],
    ['another event', inserts, record('MODIFY', 'Event'), false],
    ['another type', inserts, record('INSERT', 'Job'), false],
    ['a record without the attribute', inserts, record('REMOVE'), false],
    ['any record, without patterns', undefined, record('REMOVE'), true],
    ['a prefix', pattern({ eventName: [{ prefix: 'INS' }] }), record('INSERT'), true],
    ['another prefix', pattern({ eventName: [{ prefix: 'MOD' }] }), record('INSERT'), false],
    ['a suffix', pattern({ eventName: ['REMOVE', { suffix: 'SERT' }] }), record('INSERT'), true],
    [
      'a value of the second pattern',
      pattern({ eventName: ['MODIFY'] }, { eventName: ['INSERT'] }),
      record('INSERT', 'Job'),
      true,
    ],
  ])('decides on %s', (_what, criteria, event, expected) => {
    expect(passes(criteria, event)).toBe(expected);
  });

  test.each([
    ['two conditions in one', { eventName: [{ prefix: 'IN', suffix: 'T' }] }],
    ['a prefix that is not text', { eventName: [{ prefix: 1 }] }],
    ['a condition that the attribute exists', { dynamodb: { NewImage: { _t: [{ exists: true }] } } }],
    ['nothing', { eventName: [] }],
    ['text', { eventName: 'INSERT' }],
  ])('refuses %s, and names the event source', (_what, unknown) => {
    expect(() => eventFilter(pattern(unknown), 'Workers/Source')).toThrow('The event source Workers/Source filters by');
  });
});

describe('schedulesOf', () => {
  const RULE = 'arn:aws:events:us-east-1:000000000000:rule/minutely';
  const permission = {
    Action: 'lambda:InvokeFunction',
    FunctionName: 'arn:worker',
    Principal: 'events.amazonaws.com',
    SourceArn: RULE,
  };
  const read = (rule: Record<string, unknown>, allowed: Record<string, unknown> = permission) =>
    schedulesOf(
      [resource('Rule', { Targets: [{ Arn: 'arn:worker' }], ...rule }, RULE)],
      [resource('Permission', allowed)],
      [worker()],
    );

  test.each([
    ['rate(1 minute)', 60],
    ['rate(2 hours)', 7_200],
    ['rate(1 day)', 86_400],
  ])('reads %s as a tick every %d s', (ScheduleExpression, everySeconds) => {
    expect(read({ ScheduleExpression })).toEqual([{ arn: RULE, function: worker(), everySeconds }]);
  });

  test('ignores disabled rules', () => {
    expect(read({ ScheduleExpression: 'rate(1 minute)', State: 'DISABLED' })).toEqual([]);
  });

  const minutely = { ScheduleExpression: 'rate(1 minute)' };
  test.each([
    [
      'a time of the day',
      { ScheduleExpression: 'cron(0 12 * * ? *)' },
      permission,
      'Rule has the schedule cron(0 12 * * ? *)',
    ],
    ['no schedule', { EventPattern: {} }, permission, 'Rule has the schedule undefined'],
    ['another target', { ...minutely, Targets: [{ Arn: 'arn:queue' }] }, permission, 'Rule must have one target'],
    [
      'an own input',
      { ...minutely, Targets: [{ Arn: 'arn:worker', Input: '{}' }] },
      permission,
      'Rule changes the input',
    ],
    ['no permission', minutely, { ...permission, Principal: 's3.amazonaws.com' }, 'Rule cannot call worker'],
    ['the permission of another rule', minutely, { ...permission, SourceArn: 'arn:other' }, 'Rule cannot call worker'],
    [
      'a permission for another function',
      minutely,
      { ...permission, FunctionName: 'arn:other' },
      'Rule cannot call worker',
    ],
  ])('refuses %s, and names the rule', (_what, rule, allowed, message) => {
    expect(() => read(rule, allowed)).toThrow(message);
  });
});
