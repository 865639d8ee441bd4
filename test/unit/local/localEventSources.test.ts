import { once } from 'node:events';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import type {
  QueueModel,
  QueueSourceModel,
  StreamSourceModel,
} from '../../../infra/local/assembly/eventSourceModels.ts';
import type { FunctionModel } from '../../../infra/local/assembly/functionModel.ts';
import { Schedule } from '../../../infra/local/functions/schedule.ts';
import { failedItems } from '../../../infra/local/queues/failedItems.ts';
import { QueueSource } from '../../../infra/local/queues/queueSource.ts';
import { QueueStore } from '../../../infra/local/queues/queueStore.ts';
import { StoppableMessages } from '../../../infra/local/queues/stoppableMessages.ts';
import {
  type ReadRecord,
  SharedReads,
  StreamReader,
  type StreamRecord,
} from '../../../infra/local/streams/streamReader.ts';
import { StreamSource } from '../../../infra/local/streams/streamSource.ts';
import { times } from '../../support/times.ts';

const worker = { name: 'worker', arn: 'arn:worker' } as FunctionModel;
const none = JSON.stringify({ batchItemFailures: [] });
const failures = (...ids: string[]) =>
  JSON.stringify({ batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })) });

const started: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  jest.useRealTimers();
  await Promise.all(started.splice(0).map((source) => source.stop()));
});

/** A fake function. Tests answer each of its calls. */
class Invocations {
  readonly #arrived: { event: any; answer: PromiseWithResolvers<string> }[] = [];
  /** The number of calls that run now (`active`), and its maximum so far (`most`). */
  active = 0;
  most = 0;

  readonly invoke = async (event: object): Promise<string> => {
    const answer = Promise.withResolvers<string>();
    this.#arrived.push({ event, answer });
    this.most = Math.max(this.most, ++this.active);
    return answer.promise.finally(() => this.active--);
  };

  async next(): Promise<{ records: any[]; answer: PromiseWithResolvers<string> }> {
    await when(() => this.#arrived.length > 0);
    const { event, answer } = this.#arrived.shift()!;
    return { records: event.Records, answer };
  }

  get waiting(): number {
    return this.#arrived.length;
  }
}

/** Checks a condition until it is true. */
async function when(isSo: () => boolean): Promise<void> {
  while (!isSo()) await delay(1);
}

describe('failedItems', () => {
  test.each([
    ['nothing', 'null', []],
    ['an empty object', '{}', []],
    ['null instead of a list', '{"batchItemFailures":null}', []],
    ['an empty list', none, []],
    ['one of several ids', failures('b'), ['b']],
    ['an unknown one', failures('b', 'z'), ['a', 'b']],
    ['an empty name', failures(''), ['a', 'b']],
    ['no name', '{"batchItemFailures":[{"id":"a"}]}', ['a', 'b']],
    ['null as a name', '{"batchItemFailures":[{"itemIdentifier":null},null]}', ['a', 'b']],
    ['no list', '{"batchItemFailures":"a"}', ['a', 'b']],
  ])('%s', (_what, answer, expected) => {
    expect(failedItems({ reportsFailures: true }, answer, ['a', 'b'])).toEqual(expected);
  });
});

describe('QueueSource', () => {
  const model = (changes: Partial<QueueSourceModel> = {}): QueueSourceModel => ({
    path: 'Source',
    function: worker,
    queue: { name: 'q', arn: 'arn:q' } as QueueModel,
    batchSize: 10,
    maxConcurrency: 2,
    reportsFailures: true,
    ...changes,
  });
  const store = (clock = Date.now) =>
    new QueueStore(
      new DatabaseSync(':memory:'),
      [
        {
          name: 'q',
          arn: 'arn:q',
          visibilitySeconds: 30,
          retentionSeconds: 600,
          delaySeconds: 0,
          deadLetters: undefined,
        },
      ],
      clock,
    );

  function start(changes: Partial<QueueSourceModel> = {}) {
    const [queues, calls] = [store(), new Invocations()];
    const source = new QueueSource(model(changes), queues, calls.invoke);
    started.push(source);
    const send = (...bodies: string[]) =>
      queues.send(
        'q',
        bodies.map((body) => ({ body })),
      );
    return { queues, calls, source, send };
  }

  /** Resolves when this number of messages is in flight and no other message waits. */
  const untilInFlight = (queues: QueueStore, inFlight: number) =>
    when(() => {
      const counts = queues.counts('q');
      return counts.inFlight === inFlight && counts.visible === 0;
    });

  test("passes messages to the function in Lambda's format", async () => {
    const { queues, calls } = start();
    const [id] = queues.send('q', [
      {
        body: 'ü',
        groupId: 'g',
        attributes: {
          kind: { DataType: 'String', StringValue: 's' },
          raw: { DataType: 'Binary', BinaryValue: 'AQI=' },
        },
      },
    ]);
    const { records, answer } = await calls.next();
    expect(records).toEqual([
      {
        messageId: id,
        receiptHandle: expect.any(String),
        body: 'ü',
        attributes: {
          ApproximateReceiveCount: '1',
          SentTimestamp: expect.stringMatching(/^\d{13}$/),
          SenderId: '000000000000',
          ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
          MessageGroupId: 'g',
        },
        messageAttributes: {
          kind: { stringValue: 's', stringListValues: [], binaryListValues: [], dataType: 'String' },
          raw: { binaryValue: 'AQI=', stringListValues: [], binaryListValues: [], dataType: 'Binary' },
        },
        md5OfBody: 'c03410a5204b21cd8229ff754688d743',
        eventSource: 'aws:sqs',
        eventSourceARN: 'arn:q',
        awsRegion: 'us-east-1',
      },
    ]);
    answer.resolve(none);
    await untilInFlight(queues, 0);
  });

  test.each<[string, Partial<QueueSourceModel>, (ids: string[]) => Promise<string>, number]>([
    ['deletes the messages that did not fail', {}, async ([, second]) => failures(second!), 1],
    ['deletes nothing if the function throws', {}, () => Promise.reject(new Error('boom')), 3],
    [
      'ignores failures that the source does not report',
      { reportsFailures: false },
      async (ids) => failures(...ids),
      0,
    ],
  ])('%s', async (_title, changes, result, inFlight) => {
    const { queues, calls, send, source } = start(changes);
    const ids = send('a', 'b', 'c');
    const { records, answer } = await calls.next();
    expect(records.map(({ body }) => body)).toEqual(['a', 'b', 'c']);
    answer.resolve(result(ids));
    await source.stop();
    expect(queues.counts('q')).toEqual({ visible: 0, inFlight, delayed: 0 });
  });

  test('runs up to the maximum number of parallel batches', async () => {
    const { calls, send } = start({ batchSize: 2, maxConcurrency: 3 });
    send(...times(10, (i) => String(i)));
    const first = [await calls.next(), await calls.next(), await calls.next()];
    expect(first.map(({ records }) => records.length)).toEqual([2, 2, 2]);
    await delay(20);
    expect(calls.waiting).toBe(0);
    first[0]!.answer.resolve(none);
    const fourth = await calls.next();
    for (const { answer } of [...first, fourth]) answer.resolve(none);
    (await calls.next()).answer.resolve(none);
    expect(calls.most).toBe(3);
  });

  test('does nothing while queues are stopped, and messages in flight return after their timeout', async () => {
    let now = Date.now();
    const queues = store(() => now);
    const [messages, calls] = [new StoppableMessages(queues), new Invocations()];
    const source = new QueueSource(model(), messages, calls.invoke);
    started.push(source);
    const received = jest.spyOn(messages, 'receive');
    queues.send('q', [{ body: 'in work' }]);
    const { answer } = await calls.next();
    messages.stop();
    answer.resolve(none);
    queues.send('q', [{ body: 'sent meanwhile' }]);
    await when(() => calls.active === 0);
    received.mockClear();
    await delay(20);
    expect([calls.waiting, queues.counts('q')]).toEqual([0, { visible: 1, inFlight: 1, delayed: 0 }]);
    // The source waits for a wake-up. It would receive more often if it polled.
    expect(received.mock.calls.length).toBeLessThan(3);

    messages.start();
    const next = await calls.next();
    expect(next.records.map(({ body }) => body)).toEqual(['sent meanwhile']);
    next.answer.resolve(none);
    await untilInFlight(queues, 1);
    now += 30_000;
    queues.wake('q');
    const again = await calls.next();
    expect(again.records.map(({ body, attributes }) => [body, attributes.ApproximateReceiveCount])).toEqual([
      ['in work', '2'],
    ]);
    again.answer.resolve(none);
    await untilInFlight(queues, 0);
    messages.stop();
    messages.wake('q');
    await source.stop();
  });

  test('receives nothing after it is stopped, and lets batches finish', async () => {
    const { queues, calls, send, source } = start();
    send('a');
    const { answer } = await calls.next();
    let stopped = false;
    const stop = source.stop().then(() => (stopped = true));
    send('b');
    await delay(10);
    expect([stopped, calls.waiting, queues.counts('q').visible]).toEqual([false, 0, 1]);
    answer.resolve(none);
    await stop;
    expect(queues.counts('q')).toEqual({ visible: 1, inFlight: 0, delayed: 0 });
  });
});

describe('StreamSource', () => {
  const record = (sequence: number, key = `k${sequence}`, more: object = {}): ReadRecord => ({
    position: { shard: 's', sequence: String(sequence) },
    record: {
      eventID: String(sequence),
      eventName: 'INSERT',
      awsRegion: 'elsewhere',
      dynamodb: {
        Keys: { PK: { S: key } },
        SequenceNumber: String(sequence),
        ApproximateCreationDateTime: 1_767_225_600,
      },
      ...more,
    } as StreamRecord,
  });

  const model = (changes: Partial<StreamSourceModel>): StreamSourceModel => ({
    path: 'Source',
    function: worker,
    table: 't',
    partitionKey: 'PK',
    arn: 'arn:stream',
    batchSize: 100,
    reportsFailures: true,
    lanes: 1,
    filter: () => true,
    maxRetries: 2,
    bisects: true,
    onFailure: undefined,
    ...changes,
  });

  /** Starts a source whose stream has these records. Tests can write more. */
  function start(records: readonly ReadRecord[], changes: Partial<StreamSourceModel> = {}) {
    const calls = new Invocations();
    const unread: (ReadRecord[] | Error)[] = [[...records]];
    const [saved, discarded, errors, retries, ages]: [string[], any[], unknown[], number[], number[]] = [
      [],
      [],
      [],
      [],
      [],
    ];
    const source = new StreamSource({
      model: model(changes),
      reader: {
        async next() {
          const read = unread.shift() ?? [];
          if (read instanceof Error) throw read;
          return read;
        },
      },
      save: ({ sequence }) => saved.push(sequence),
      invoke: calls.invoke,
      onSkipped: (account) => discarded.push(account),
      onError: (error) => errors.push(error),
      measureAge: (milliseconds) => ages.push(milliseconds),
      pause: async (retry) => void retries.push(retry),
    });
    started.push(source);
    const write = (...more: ReadRecord[]) => {
      unread.push(more);
      source.wake();
    };
    return { source, calls, saved, discarded, errors, retries, ages, unread, write };
  }

  const sequences = (records: any[]) => records.map(({ dynamodb }) => dynamodb.SequenceNumber);
  /** Resolves when the last saved position is this one. */
  const until = (saved: readonly string[], sequence: string) => when(() => saved.at(-1) === sequence);

  test("passes records to the function in Lambda's format, in batches", async () => {
    const { calls, saved } = start([record(1), record(2), record(3)], { batchSize: 2 });
    const { records, answer } = await calls.next();
    expect(sequences(records)).toEqual(['1', '2']);
    expect(records[0]).toEqual({ ...record(1).record, awsRegion: 'us-east-1', eventSourceARN: 'arn:stream' });
    answer.resolve('null');
    const lastBatch = await calls.next();
    expect(sequences(lastBatch.records)).toEqual(['3']);
    lastBatch.answer.resolve(none);
    await until(saved, '3');
    expect(saved).toEqual(['2', '3']);
  });

  test('measures the age of the last record of each batch, whatever the result', async () => {
    const now = jest.spyOn(Date, 'now').mockReturnValue(1_772_366_400_000);
    const since = Date.now();
    const aged = (sequence: number, seconds: number): ReadRecord => {
      const {
        record: { dynamodb, ...rest },
        position,
      } = record(sequence);
      return {
        record: { ...rest, dynamodb: { ...dynamodb, ApproximateCreationDateTime: since / 1000 - seconds } },
        position,
      };
    };
    const { calls, ages, saved } = start([aged(1, 90), aged(2, 60)], { bisects: false });
    (await calls.next()).answer.reject(new Error('boom'));
    (await calls.next()).answer.resolve(none);
    await until(saved, '2');
    now.mockRestore();
    expect(ages).toEqual([60_000, 60_000]);
  });

  test('reports an unreadable stream once per outage', async () => {
    const { source, errors, unread, calls, saved } = start([]);
    const fail = async (text: string) => {
      unread.push(new Error(text));
      source.wake();
      await when(() => unread.length === 0);
    };
    await fail('first');
    await fail('again');
    unread.push([record(1)]);
    source.wake();
    (await calls.next()).answer.resolve(none);
    await until(saved, '1');
    await fail('after recovery');
    await when(() => errors.length > 1);
    expect(errors.map((error) => (error as Error).message)).toEqual(['first', 'after recovery']);
  });

  test('skips records that the filter excludes', async () => {
    const { calls, saved } = start(
      [record(1), record(2, 'k', { eventName: 'MODIFY' }), record(3), record(4, 'k', { eventName: 'REMOVE' })],
      { filter: (each) => (each as StreamRecord).eventName === 'INSERT' },
    );
    const { records, answer } = await calls.next();
    expect(sequences(records)).toEqual(['1', '3']);
    expect(saved).toEqual([]);
    answer.resolve(none);
    await until(saved, '4');
  });

  test('continues from the first failed record, with all its retries', async () => {
    const { calls, saved, retries, discarded } = start([record(1), record(2), record(3)]);
    (await calls.next()).answer.resolve(failures('3', '2'));
    const second = await calls.next();
    expect(sequences(second.records)).toEqual(['2', '3']);
    expect(saved).toEqual(['1']);
    second.answer.resolve(failures('3'));
    const third = await calls.next();
    expect(sequences(third.records)).toEqual(['3']);
    third.answer.resolve(none);
    await until(saved, '3');
    expect(retries).toEqual([1, 1]);
    expect(discarded).toEqual([]);
  });

  test('splits a batch until the failing record is alone, retries that one, and reports it when it is skipped', async () => {
    const { calls, saved, retries, discarded } = start([record(1), record(2), record(3), record(4)], { maxRetries: 2 });
    const seen: string[] = [];
    for (let call = 0; call < 7; call++) {
      const { records, answer } = await calls.next();
      seen.push(sequences(records).join());
      if (sequences(records).includes('2')) answer.reject(new Error('boom'));
      else answer.resolve(none);
    }
    expect(seen).toEqual(['1,2,3,4', '1,2', '1', '2', '2', '2', '3,4']);
    await until(saved, '4');
    expect(retries).toEqual([1, 2]);
    expect(discarded).toEqual([
      {
        requestContext: {
          requestId: expect.any(String),
          functionArn: 'arn:worker:$LATEST',
          condition: 'RetryAttemptsExhausted',
          approximateInvokeCount: 3,
        },
        responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
        version: '1.0',
        timestamp: expect.any(String),
        DDBStreamBatchInfo: {
          shardId: 's',
          startSequenceNumber: '2',
          endSequenceNumber: '2',
          approximateArrivalOfFirstRecord: '2026-01-01T00:00:00.000Z',
          approximateArrivalOfLastRecord: '2026-01-01T00:00:00.000Z',
          batchSize: 1,
          streamArn: 'arn:stream',
        },
      },
    ]);
  });

  test('does not split batches without the setting in the template', async () => {
    const { calls, discarded } = start([record(1), record(2)], { bisects: false, maxRetries: 1 });
    for (const _ of [1, 2]) {
      const { records, answer } = await calls.next();
      expect(sequences(records)).toEqual(['1', '2']);
      answer.reject(new Error('boom'));
    }
    await when(() => discarded.length > 0);
    expect(discarded[0].DDBStreamBatchInfo).toMatchObject({
      startSequenceNumber: '1',
      endSequenceNumber: '2',
      batchSize: 2,
    });
  });

  test('blocks the partition key of a failing record only, and keeps the position before it', async () => {
    const { calls, saved, write } = start([record(1, 'a')], { lanes: 10, batchSize: 1 });
    const stuck = await calls.next();
    write(record(2, 'a'), record(3, 'b'), record(4, 'c'));
    const others = [await calls.next(), await calls.next()];
    expect(others.flatMap(({ records }) => sequences(records)).sort()).toEqual(['3', '4']);
    for (const { answer } of others) answer.resolve(none);
    await delay(20);
    expect([calls.waiting, saved]).toEqual([0, []]);
    stuck.answer.resolve(none);
    (await calls.next()).answer.resolve(none);
    await until(saved, '4');
  });

  /** Stops the clock of timeouts. Without a wake-up, a source would poll once a second. */
  const fakeTimeouts = () =>
    jest.useFakeTimers({
      doNotFake: ['nextTick', 'setImmediate', 'setInterval', 'queueMicrotask', 'performance', 'Date'],
    });

  test('reads new records as soon as it is woken', async () => {
    fakeTimeouts();
    const { calls, write } = start([]);
    await delay(30);
    write(record(1));
    (await calls.next()).answer.resolve(none);
    write(record(2));
    (await calls.next()).answer.resolve(none);
  });

  test('continues to read when 2,000 unfinished records are done', async () => {
    fakeTimeouts();
    const unfinished = times(2_000, (index) => record(index + 1));
    const { calls, write } = start(unfinished, { batchSize: 2_000 });
    const { answer } = await calls.next();
    write(record(2_001, 'other'));
    // The source has too many unfinished records to read another one now.
    await delay(30);
    answer.resolve(none);
    const { records, answer: lastAnswer } = await calls.next();
    expect(sequences(records)).toEqual(['2001']);
    lastAnswer.resolve(none);
  });

  test('keeps the position before unfinished records when it is stopped', async () => {
    const { source, calls, saved, discarded } = start([record(1, 'a'), record(2, 'a'), record(3, 'a')], {
      batchSize: 1,
      maxRetries: 0,
    });
    (await calls.next()).answer.resolve(none);
    const underWay = await calls.next();
    const stopped = source.stop();
    underWay.answer.reject(new Error('The thread ended'));
    await stopped;
    expect([saved, discarded, calls.waiting]).toEqual([['1'], [], 0]);
  });

  test('processes or reports every record before the position passes it, whatever fails', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c'), fails: fc.nat(4), throws: fc.boolean() }), {
          minLength: 1,
          maxLength: 12,
        }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 3 }),
        fc.boolean(),
        async (written, batchSize, lanes, splits) => {
          const remainingFailures = new Map(written.map(({ fails }, index) => [String(index + 1), fails]));
          const [done, order]: [Set<string>, Map<string, string[]>] = [new Set(), new Map()];
          const finished = Promise.withResolvers<undefined>();
          const read = written.map(({ key }, index) => record(index + 1, key));
          const unread = [read];
          const source = new StreamSource({
            model: model({ batchSize, lanes, bisects: splits }),
            reader: { next: async () => unread.shift() ?? [] },
            save({ sequence }) {
              for (let each = 1; each <= Number(sequence); each++)
                if (!done.has(String(each))) finished.reject(new Error(`${each} was passed over`));
              if (sequence === String(written.length)) finished.resolve(undefined);
            },
            async invoke(event) {
              const records = (event as { Records: StreamRecord[] }).Records;
              const failed = [];
              for (const {
                dynamodb: { SequenceNumber: sequence, Keys },
              } of records) {
                const fails = remainingFailures.get(sequence)!;
                remainingFailures.set(sequence, fails - 1);
                if (fails > 0 && written[Number(sequence) - 1]!.throws) throw new Error('boom');
                if (fails > 0) {
                  failed.push(sequence);
                  break;
                }
                if (!done.has(sequence))
                  order.set(JSON.stringify(Keys), [...(order.get(JSON.stringify(Keys)) ?? []), sequence]);
                done.add(sequence);
              }
              return failures(...failed);
            },
            onSkipped({ DDBStreamBatchInfo: { startSequenceNumber, endSequenceNumber } }: any) {
              for (let each = Number(startSequenceNumber); each <= Number(endSequenceNumber); each++)
                done.add(String(each));
            },
            onError: finished.reject,
            pause: async () => undefined,
          });
          await finished.promise;
          await source.stop();
          for (const ofKey of order.values()) expect(ofKey).toEqual([...ofKey].sort((a, b) => Number(a) - Number(b)));
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe('StreamReader', () => {
  /** Returns an engine with these shards and with records of these sequence numbers. Only the last shard is open. */
  function engineWith(shards: Record<string, number[]>) {
    const calls: string[] = [];
    const names = () => Object.keys(shards);
    const call = async (target: string, input: any) => {
      const operation = target.split('.')[1];
      calls.push([operation, ...Object.values(input).filter((value) => value !== 'stream')].join(' '));
      if (operation === 'DescribeStream')
        return { StreamDescription: { Shards: names().map((ShardId) => ({ ShardId })) } };
      if (operation === 'GetShardIterator') {
        if (input.SequenceNumber && !shards[input.ShardId]!.includes(Number(input.SequenceNumber)))
          throw new Error('The sequence number is of another shard');
        return { ShardIterator: `${input.ShardId}/${input.SequenceNumber ?? 0}` };
      }
      const [shard, after] = input.ShardIterator.split('/');
      const records = shards[shard]!.filter((sequence) => sequence > Number(after)).slice(0, 2);
      const closed = shard !== names().at(-1) && records.at(-1) === shards[shard]!.at(-1);
      return {
        Records: records.map((sequence) => ({ eventID: `${sequence}`, dynamodb: { SequenceNumber: `${sequence}` } })),
        ...(!closed && { NextShardIterator: `${shard}/${records.at(-1) ?? after}` }),
      };
    };
    return { calls, call: call as never, shards };
  }
  const read = async (reader: StreamReader, repeats: number) => {
    const readRecords: string[] = [];
    for (let i = 0; i < repeats; i++)
      for (const { position } of await reader.next()) readRecords.push(`${position.shard}${position.sequence}`);
    return readRecords;
  };

  test('starts at the beginning and reads shard after shard', async () => {
    const { call, shards } = engineWith({ a: [1, 2, 3], b: [4], c: [] });
    const reader = new StreamReader(call, 'stream', undefined);
    expect(await read(reader, 5)).toEqual(['a1', 'a2', 'a3', 'b4']);
    shards.c!.push(5);
    expect(await read(reader, 1)).toEqual(['c5']);
  });

  test('shares a read with a reader at the same position, until the next write', async () => {
    const { call, calls, shards } = engineWith({ a: [1, 2] });
    const shared = new SharedReads();
    const [first, second] = [1, 2].map(() => new StreamReader(call, 'stream', undefined, shared));
    const reads = () => calls.filter((each) => each.startsWith('GetRecords')).length;
    expect(await Promise.all([read(first!, 1), read(second!, 1)])).toEqual([
      ['a1', 'a2'],
      ['a1', 'a2'],
    ]);
    expect(reads()).toBe(1);
    // Empty answers are not shared, because later reads may find new records.
    expect([await read(first!, 1), await read(second!, 1), reads()]).toEqual([[], [], 3]);
    shards.a!.push(3);
    expect([await read(first!, 1), reads()]).toEqual([['a3'], 4]);
    shards.a!.push(4);
    shared.expire();
    // The second reader also gets the record that was written after the first reader's read.
    expect([await read(second!, 1), reads()]).toEqual([['a3', 'a4'], 5]);
  });

  test('continues from the position of an earlier run', async () => {
    const { call } = engineWith({ a: [1], b: [4, 5, 6, 7], c: [8] });
    expect(await read(new StreamReader(call, 'stream', { shard: 'b', sequence: '5' }), 3)).toEqual(['b6', 'b7', 'c8']);
  });

  test('starts at the oldest shard if its shard no longer exists', async () => {
    const { call } = engineWith({ b: [4] });
    expect(await read(new StreamReader(call, 'stream', { shard: 'a', sequence: '3' }), 1)).toEqual(['b4']);
  });

  test('continues after the last returned record when an error is over', async () => {
    const { call, calls } = engineWith({ a: [1, 2, 3, 4, 5] });
    let broken = false;
    const reader = new StreamReader(
      ((target: string, input: object) => {
        if (broken && target.endsWith('GetRecords'))
          throw Object.assign(new Error('expired'), { name: 'ExpiredIteratorException' });
        return (call as (target: string, input: object) => Promise<unknown>)(target, input);
      }) as never,
      'stream',
      undefined,
    );
    expect(await read(reader, 1)).toEqual(['a1', 'a2']);
    broken = true;
    await expect(reader.next()).rejects.toThrow('expired');
    broken = false;
    expect(await read(reader, 2)).toEqual(['a3', 'a4', 'a5']);
    expect(calls.filter((each) => each.startsWith('GetShardIterator'))).toEqual([
      'GetShardIterator a TRIM_HORIZON',
      'GetShardIterator a AFTER_SEQUENCE_NUMBER 2',
    ]);
  });
});

describe('Schedule', () => {
  const model = (everySeconds: number) => ({ arn: 'arn:rule', function: worker, everySeconds });

  test("calls the function at once, then at its rate, with EventBridge's event", async () => {
    const events: any[] = [];
    const third = Promise.withResolvers<undefined>();
    let now = Date.parse('2026-03-01T12:00:00.000Z');
    const call = async (event: object) => {
      // Each call takes a third of the pause.
      now += 20_000;
      if (events.push(event) === 3) third.resolve(undefined);
    };
    const pause = async (milliseconds: number, signal: AbortSignal) => {
      if (events.length === 3) await once(signal, 'abort');
      now += milliseconds;
    };
    started.push(new Schedule(model(60), call, { clock: () => now, pause }));
    await third.promise;
    expect(events.map(({ time }) => time)).toEqual([
      '2026-03-01T12:00:00Z',
      '2026-03-01T12:01:00Z',
      '2026-03-01T12:02:00Z',
    ]);
    expect(events[0]).toEqual({
      version: '0',
      id: expect.any(String),
      'detail-type': 'Scheduled Event',
      source: 'aws.events',
      account: '000000000000',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      region: 'us-east-1',
      resources: ['arn:rule'],
      detail: {},
    });
  });

  test('never overlaps two calls, and continues after a failure', async () => {
    let [active, most, calls] = [0, 0, 0];
    const third = Promise.withResolvers<undefined>();
    started.push(
      new Schedule(model(0.001), async () => {
        most = Math.max(most, ++active);
        await delay(10);
        active--;
        if (++calls === 3) third.resolve(undefined);
        throw new Error('boom');
      }),
    );
    await third.promise;
    expect(most).toBe(1);
  });

  test('stops between two ticks, or at the end of a running tick', async () => {
    let [calls, active] = [0, false];
    const schedule = new Schedule(model(3_600), async () => {
      calls++;
      active = true;
      await delay(20);
      active = false;
    });
    await schedule.stop();
    expect([calls, active]).toEqual([1, false]);
  });
});
