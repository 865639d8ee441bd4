import { DatabaseSync } from 'node:sqlite';
import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import type { QueueModel } from '../../../infra/local/assembly/eventSourceModels.ts';
import { type ConsumedCapacity, Measurements } from '../../../infra/local/metrics/measurements.ts';
import { MetricLines } from '../../../infra/local/metrics/metricLines.ts';
import { sampleQueues } from '../../../infra/local/queues/queueSampler.ts';
import { QueueStore } from '../../../infra/local/queues/queueStore.ts';
import {
  addCapacityParameter,
  canAddCapacityParameter,
  capacityKind,
  extractCapacity,
} from '../../../infra/local/table/consumedCapacity.ts';
import { unicodeText } from '../../support/unicodeText.ts';

describe('Measurements', () => {
  function measured(measure: (measurements: Measurements) => void): string[] {
    const all: string[] = [];
    measure(
      new Measurements(
        {
          add: ({ namespace, name, dimensions }, value) =>
            void all.push(
              `${namespace} ${name} ${Object.entries(dimensions)
                .map((pair) => pair.join('='))
                .join()} ${value}`,
            ),
          addLine: (line) => void all.push(JSON.stringify(line)),
        },
        'api1',
      ),
    );
    return all;
  }

  test.each([
    [200, 0, 0],
    [404, 1, 0],
    [503, 0, 1],
  ])('records a request with status %d', (status, fourHundreds, fiveHundreds) => {
    expect(measured((to) => to.recordRequest(status, 12))).toEqual([
      'AWS/ApiGateway Count ApiId=api1 1',
      `AWS/ApiGateway 4xx ApiId=api1 ${fourHundreds}`,
      `AWS/ApiGateway 5xx ApiId=api1 ${fiveHundreds}`,
      'AWS/ApiGateway Latency ApiId=api1 12',
    ]);
  });

  test('records the run of a function, for the function and for all functions together', () => {
    expect(measured((to) => to.recordRun('f', 3, false))).toEqual([
      'AWS/Lambda Invocations FunctionName=f 1',
      'AWS/Lambda Invocations  1',
      'AWS/Lambda Errors FunctionName=f 0',
      'AWS/Lambda Errors  0',
      'AWS/Lambda Duration FunctionName=f 3',
      'AWS/Lambda Duration  3',
    ]);
    expect(measured((to) => to.recordRun('f', undefined, true))).toEqual([
      'AWS/Lambda Invocations FunctionName=f 1',
      'AWS/Lambda Invocations  1',
      'AWS/Lambda Errors FunctionName=f 1',
      'AWS/Lambda Errors  1',
    ]);
    expect(measured((to) => to.recordIteratorAge('f', 70))).toEqual([
      'AWS/Lambda IteratorAge FunctionName=f 70',
      'AWS/Lambda IteratorAge  70',
    ]);
  });

  test('records the level of a queue', () => {
    expect(measured((to) => to.recordQueueLevel('q', { visible: 2, inFlight: 1, oldestSeconds: 9.5 }))).toEqual([
      'AWS/SQS ApproximateNumberOfMessagesVisible QueueName=q 2',
      'AWS/SQS ApproximateNumberOfMessagesNotVisible QueueName=q 1',
      'AWS/SQS ApproximateAgeOfOldestMessage QueueName=q 9.5',
    ]);
  });

  test('records the capacity of the table and of each index', () => {
    const indexes = { gsi1: { CapacityUnits: 1 }, gsi2: { CapacityUnits: 2 } };
    expect(
      measured((to) =>
        to.recordCapacity('Write', {
          TableName: 't',
          CapacityUnits: 4,
          Table: { CapacityUnits: 1 },
          GlobalSecondaryIndexes: indexes,
        }),
      ),
    ).toEqual([
      'AWS/DynamoDB ConsumedWriteCapacityUnits TableName=t 1',
      'AWS/DynamoDB ConsumedWriteCapacityUnits TableName=t,GlobalSecondaryIndexName=gsi1 1',
      'AWS/DynamoDB ConsumedWriteCapacityUnits TableName=t,GlobalSecondaryIndexName=gsi2 2',
    ]);
    expect(
      measured((to) =>
        to.recordCapacity('Read', {
          TableName: 't',
          CapacityUnits: 2,
          Table: { CapacityUnits: 0 },
          GlobalSecondaryIndexes: { gsi1: { CapacityUnits: 2 } },
        }),
      ),
    ).toEqual(['AWS/DynamoDB ConsumedReadCapacityUnits TableName=t,GlobalSecondaryIndexName=gsi1 2']);
    expect(measured((to) => to.recordCapacity('Read', { TableName: 't', CapacityUnits: 2 }))).toEqual([
      'AWS/DynamoDB ConsumedReadCapacityUnits TableName=t 2',
    ]);
  });

  test("records the metrics of a function's own log lines", () => {
    expect(measured((to) => to.recordLine({ _aws: 1 }))).toEqual(['{"_aws":1}']);
  });
});

describe('consumed capacity', () => {
  const capacity: ConsumedCapacity = {
    TableName: 't',
    CapacityUnits: 1.5,
    Table: { CapacityUnits: 0.5 },
    GlobalSecondaryIndexes: { gsi1: { CapacityUnits: 1 } },
  };
  const taken = (answer: string) => {
    const { consumed, body } = extractCapacity(answer, true);
    return [consumed, body];
  };

  test.each([
    ['GetItem', 'Read'],
    ['TransactGetItems', 'Read'],
    ['PutItem', 'Write'],
    ['TransactWriteItems', 'Write'],
    ['BatchWriteItem', 'Write'],
    ['DescribeTable', undefined],
    ['SearchVectors', undefined],
  ])('%s consumes units of %s', (operation, kind) => {
    expect(capacityKind(operation)).toBe(kind);
  });

  test('is requested if the caller does not request it', () => {
    const requests = (text: string) =>
      canAddCapacityParameter(JSON.parse(text) as Record<string, unknown>, text)
        ? JSON.parse(addCapacityParameter(text))
        : 'not';
    expect(requests('{"TableName":"t"}')).toEqual({ TableName: 't', ReturnConsumedCapacity: 'INDEXES' });
    expect(requests('{"TableName":"t","ReturnConsumedCapacity":"NONE"}')).toBe('not');
    expect(requests('{}')).toBe('not');
    expect(requests(' {"TableName":"t"}')).toBe('not');
  });

  test.each([
    '{}',
    '{"Item":{"PK":{"S":"\\"ConsumedCapacity\\":{}"}}}',
    '{"Items":[{"M":{"M":{"ConsumedCapacity":{"S":"1"}}}}],"Count":1}',
    '{"__type":"x#Y","message":"ConsumedCapacity"}',
    'no JSON "ConsumedCapacity":',
  ])('is absent from %s, which stays unchanged', (answer) => {
    expect(taken(answer)).toEqual([[], answer]);
  });

  test('is removed where it is all', () => {
    expect(taken(JSON.stringify({ ConsumedCapacity: capacity }))).toEqual([[capacity], '{}']);
  });

  test('stays in the response if the caller requested it', () => {
    const answer = `{"Item":{},"ConsumedCapacity":${JSON.stringify(capacity)}}`;
    const { consumed, body } = extractCapacity(answer, false);
    expect([consumed, body]).toEqual([[capacity], answer]);
  });

  test('is removed, and the remaining answer is unchanged, whatever the items contain', () => {
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 2 },
        fc.record({ S: fc.oneof(unicodeText(), fc.constant('"ConsumedCapacity":{}}')) }),
        fc.record({ M: tie('item') }),
        fc.record({ L: fc.array(tie('value'), { maxLength: 2 }) }),
      ),
      item: fc.dictionary(fc.oneof(fc.string(), fc.constant('ConsumedCapacity')), tie('value'), { maxKeys: 3 }),
    })).item;
    fc.assert(
      fc.property(fc.array(value, { maxLength: 3 }), fc.boolean(), fc.boolean(), (Items, first, several) => {
        const ConsumedCapacity = several ? [capacity, capacity] : capacity;
        const answer = first ? { ConsumedCapacity, Items } : { Items, ConsumedCapacity };
        expect(taken(JSON.stringify(answer))).toEqual([[ConsumedCapacity].flat(), JSON.stringify({ Items })]);
      }),
    );
  });
});

describe('MetricLines', () => {
  const metric = (value: number, text = 'ü') => JSON.stringify({ _aws: { Timestamp: 1 }, value, text });

  test.each([
    [
      'not in a text that mentions them',
      'see "_aws" for more\n{"message":"\\"_aws\\""}\n[{"_aws":1}]\nnull "_aws"\n',
      [],
    ],
    ['between others', `plain\n${metric(1)}\n{"level":"INFO"}\n${metric(2)}\n`, [1, 2]],
    ['not before their end', metric(1), []],
  ])('finds metrics, %s', (_how, text, values) => {
    const foundValues: unknown[] = [];
    new MetricLines(({ value }) => void foundValues.push(value)).write(Buffer.from(text));
    expect(foundValues).toEqual(values);
  });

  test('finds the same metrics wherever chunks end', () => {
    const text = `plain\n${metric(1)}\n\n${metric(2)}\n{"level":"INFO"}\n${metric(3, '_aws "\n')}\n`;
    fc.assert(
      fc.property(fc.array(fc.nat(Buffer.byteLength(text)), { maxLength: 8 }), (cuts) => {
        const bytes = Buffer.from(text);
        const foundLines: unknown[] = [];
        const lines = new MetricLines((line) => void foundLines.push(line));
        const ends = [...cuts.sort((a, b) => a - b), bytes.length];
        // A stream can use the memory of a chunk again, so the test clears each chunk after its use.
        ends.forEach((end, index) => {
          const chunk = Buffer.from(bytes.subarray(ends[index - 1] ?? 0, end));
          lines.write(chunk);
          chunk.fill(0);
        });
        expect(foundLines).toEqual([metric(1), metric(2), metric(3, '_aws "\n')].map((line) => JSON.parse(line)));
      }),
    );
  });

  test('limits the memory for an endless line, and finds the lines after it', () => {
    const foundValues: unknown[] = [];
    const lines = new MetricLines(({ value }) => void foundValues.push(value));
    for (let i = 0; i < 30; i++) lines.write(Buffer.alloc(64 * 1024, 'x'));
    lines.write(Buffer.from(`\n${metric(1)}\n`));
    expect(foundValues).toEqual([1]);
  });
});

describe('sampleQueues', () => {
  const queue = (name: string, deadLetters?: string) =>
    ({
      name,
      visibilitySeconds: 30,
      retentionSeconds: 600,
      delaySeconds: 0,
      deadLetters: deadLetters && { queue: deadLetters, maxReceiveCount: 1 },
    }) as QueueModel;

  test('records every queue, including empty ones, without delayed messages', () => {
    let now = 1_000_000;
    const database = new DatabaseSync(':memory:');
    new QueueStore(database, [queue('gone')]).send('gone', [{ body: 'x' }]);
    const queues = new QueueStore(database, [queue('q', 'dead'), queue('dead'), queue('empty')], () => now);
    queues.send('q', [{ body: 'a' }, { body: 'b' }]);
    now += 1_500;
    queues.send('q', [{ body: 'c' }, { body: 'later', delaySeconds: 5 }]);
    queues.receive('q', 1);
    now += 500;
    const none = { visible: 0, inFlight: 0, oldestSeconds: 0 };
    expect(Object.fromEntries(queues.levels())).toEqual({
      q: { visible: 2, inFlight: 1, oldestSeconds: 2 },
      dead: none,
      empty: none,
    });
    now += 30_000;
    // The message in flight moves to the dead-letter queue, because its timeout is over. The delay of `later` is over too.
    expect(queues.receive('q', 10)).toHaveLength(3);
    expect(queues.levels().get('dead')).toEqual({ visible: 1, inFlight: 0, oldestSeconds: 32 });
  });

  test('records at once and every five seconds until it is stopped', () => {
    jest.useFakeTimers();
    try {
      const sampled: string[] = [];
      let visible = 0;
      const stop = sampleQueues(
        { levels: () => new Map([['q', { visible: ++visible, inFlight: 0, oldestSeconds: 0 }]]) },
        { recordQueueLevel: (name, level) => void sampled.push(`${name} ${level.visible}`) },
      );
      expect(sampled).toEqual(['q 1']);
      jest.advanceTimersByTime(10_000);
      expect(sampled).toEqual(['q 1', 'q 2', 'q 3']);
      stop();
      jest.advanceTimersByTime(10_000);
      expect(sampled).toHaveLength(3);
    } finally {
      jest.useRealTimers();
    }
  });
});
