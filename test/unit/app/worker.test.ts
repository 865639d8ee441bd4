import { describe, expect, jest, test } from '@jest/globals';
import * as z from 'zod';
import type { Capability } from '../../../lib/app/capability.ts';
import {
  defineWorker,
  type FromInserts,
  type FromQueue,
  type FromTimer,
  PermanentError,
  type Source,
  type WorkerRun,
} from '../../../lib/app/worker.ts';
import { toWorkerLambda, type WorkerHandler } from '../../../lib/workers/lambda.ts';
import { capturedLogObjects } from '../../support/capturedLog.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { times } from '../../support/times.ts';
import { insertsEvent, lambdaContext, messagesEvent } from '../../support/workers.ts';

const lines = capturedLogObjects();

const linesWith = (message: string) => lines.filter((line) => line.message === message);
const metrics = () => lines.filter((line) => '_aws' in line);
const faults = () =>
  metrics()
    .filter((line) => 'Faults' in line)
    .map(({ service, worker, Faults }) => ({ service, worker, Faults }));

const source = { SERVICE_NAME: 'svc' };
const nothing = {};
const declare = <S extends Source>(on: S) => ({
  name: 'testWorker',
  summary: 'Tests',
  on,
  uses: nothing,
  impact: 'none',
  timeoutSeconds: 30,
});
const Message = z.object({ id: z.string(), deliveries: z.array(z.object({ endpointId: z.string() })).optional() });

function onQueue(run: WorkerRun<FromQueue<typeof Message>, typeof nothing>): WorkerHandler {
  return toWorkerLambda(defineWorker(declare({ queue: 'deliver', message: Message } as const), run), source);
}
function onInserts(run: WorkerRun<FromInserts, typeof nothing>): WorkerHandler {
  return toWorkerLambda(defineWorker(declare({ inserts: ['Event'] }), run), source);
}
function onTimer(run: WorkerRun<FromTimer, typeof nothing>): WorkerHandler {
  return toWorkerLambda(defineWorker(declare({ every: 'minute' }), run), source);
}

const broken = async () => {
  throw new Error('broken');
};
const ids = (count: number) => times(count, (n) => ({ id: `id-${n}` }));
const failedItems = (...names: string[]) => ({
  batchItemFailures: names.map((itemIdentifier) => ({ itemIdentifier })),
});

describe('a queue worker', () => {
  test('gets one parsed message at a time, with its time of sending', async () => {
    const got: unknown[] = [];
    const handler = onQueue(async ({ message, sentAt }) => void got.push({ message, sentAt }));
    expect(
      await handler(
        messagesEvent([{ id: 'a', unknown: 1 }, { id: 'b' }], { sentAt: 1_700_000_000_123 }),
        lambdaContext(),
      ),
    ).toEqual(failedItems());
    expect(got).toEqual(['a', 'b'].map((id) => ({ message: { id }, sentAt: 1_700_000_000_123 })));
  });

  test('handles the messages of a batch at the same time', async () => {
    let arrived = 0;
    const all = Promise.withResolvers<undefined>();
    const handler = onQueue(async () => {
      if (++arrived === 10) all.resolve(undefined);
      await all.promise;
    });
    expect(await handler(messagesEvent(ids(10)), lambdaContext())).toEqual(failedItems());
  });

  test.each([
    ['rejects', broken],
    [
      'throws before it returns a promise',
      () => {
        throw new Error('broken');
      },
    ],
    [
      'throws a value that is not an error',
      async () => {
        // oxlint-disable-next-line typescript/only-throw-error -- libraries may throw other values
        throw null;
      },
    ],
  ])('fails only the message whose handler %s', async (_how, fail) => {
    const done: string[] = [];
    const handler = onQueue(({ message }) =>
      message.id === 'id-3' ? fail() : Promise.resolve(void done.push(message.id)),
    );
    expect(await handler(messagesEvent(ids(10)), lambdaContext())).toEqual(failedItems('message-3'));
    expect(done).toHaveLength(9);
    expect(linesWith('queue message failed')).toMatchObject([
      {
        level: 'ERROR',
        worker: 'testWorker',
        messageId: 'message-3',
        receiveCount: 1,
        permanent: false,
      },
    ]);
    expect(faults()).toEqual([{ service: 'svc', worker: 'testWorker', Faults: 1 }]);
  });

  test('returns all messages as failed when all handlers fail', async () => {
    const handler = onQueue(broken);
    expect(await handler(messagesEvent(ids(10)), lambdaContext())).toEqual(
      failedItems(...ids(10).map((_, n) => `message-${n}`)),
    );
    expect(faults()).toEqual([{ service: 'svc', worker: 'testWorker', Faults: 10 }]);
  });

  test.each([
    ['is not JSON', 'hunter2 {', 'The message is not JSON'],
    ['is empty', '', 'The message is not JSON'],
    [
      'does not match the schema',
      { id: 'hunter2', deliveries: [{ endpointId: 'hunter2' }, { endpointId: 42 }] },
      'The message does not match its schema: deliveries[1].endpointId (invalid_type)',
    ],
    ['is of another kind', '"hunter2"', 'The message does not match its schema: data (invalid_type)'],
  ])('does not acknowledge a message that %s, and does not log its content', async (_what, body, says) => {
    const handled: string[] = [];
    const handler = onQueue(async ({ message }) => void handled.push(message.id));
    expect(await handler(messagesEvent([{ id: 'fine' }, body]), lambdaContext())).toEqual(failedItems('message-1'));
    expect(handled).toEqual(['fine']);
    expect(linesWith('queue message failed')).toMatchObject([{ messageId: 'message-1', error: { message: says } }]);
    expect(JSON.stringify(lines)).not.toContain('hunter2');
  });

  test('acknowledges, logs and counts a PermanentError', async () => {
    const handler = onQueue(async ({ message }) => {
      if (message.id === 'id-1') throw new PermanentError('nobody knows this endpoint');
    });
    expect(await handler(messagesEvent(ids(3)), lambdaContext())).toEqual(failedItems());
    expect(linesWith('queue message failed')).toMatchObject([
      {
        messageId: 'message-1',
        permanent: true,
        error: { name: 'PermanentError', message: 'nobody knows this endpoint' },
      },
    ]);
    expect(linesWith('worker run completed')).toMatchObject([{ messages: 3, failed: 0, permanent: 1 }]);
    expect(faults()).toEqual([{ service: 'svc', worker: 'testWorker', Faults: 1 }]);
  });

  test('fails only the unfinished message shortly before the function times out', async () => {
    const handler = onQueue(({ message }) => (message.id === 'id-0' ? new Promise(() => {}) : Promise.resolve()));
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'setInterval', 'queueMicrotask', 'performance'] });
    try {
      const answer = handler(messagesEvent(ids(3)), lambdaContext(30_000));
      await new Promise(setImmediate);
      jest.advanceTimersByTime(29_999);
      expect(await answer).toEqual(failedItems('message-0'));
    } finally {
      jest.useRealTimers();
    }
    expect(linesWith('queue message failed')[0]?.error.message).toBe('The function ran out of time');
  });

  test('shares no state between invocations, even simultaneous ones', async () => {
    const handler = onQueue(async ({ message }) => {
      await new Promise(setImmediate);
      if (message.id === 'bad') throw new Error('broken');
    });
    const [first, second] = await Promise.all([
      handler(messagesEvent([{ id: 'bad' }]), lambdaContext()),
      handler(messagesEvent([{ id: 'good' }]), lambdaContext()),
    ]);
    expect([first, second]).toEqual([failedItems('message-0'), failedItems()]);
  });
});

describe('a stream worker', () => {
  const items = [
    {
      PK: 'T#a#EVENT#1',
      SK: 'META',
      _t: 'Event',
      tags: ['x'],
      nested: { deep: { n: 1.5 } },
      none: null,
      bytes: new Uint8Array([1, 2]),
    },
    { PK: 'T#a#EVENT#2', SK: 'META', _t: 'Event' },
  ];

  test('gets the stored items, with bytes as base64', async () => {
    let got: unknown;
    const handler = onInserts(async ({ records }) => {
      got = records;
      return [];
    });
    expect(await handler(insertsEvent(items, 1_700_000_000_999), lambdaContext())).toEqual(failedItems());
    expect(got).toEqual(
      items.map((item, index) => ({
        id: String(index + 1),
        key: { PK: item.PK, SK: item.SK },
        item: { ...item, ...('bytes' in item && { bytes: 'AQI=' }) },
        createdAt: 1_700_000_000_000,
      })),
    );
  });

  test('returns and logs the records that failed', async () => {
    const handler = onInserts(async ({ records }) => [records[1]!.id]);
    expect(await handler(insertsEvent(items), lambdaContext())).toEqual(failedItems('2'));
    expect(linesWith('stream record failed')).toMatchObject([{ worker: 'testWorker', recordId: '2' }]);
    expect(linesWith('worker run completed')).toMatchObject([{ records: 2, failed: 1 }]);
    expect(faults()).toEqual([{ service: 'svc', worker: 'testWorker', Faults: 1 }]);
  });

  test('fails the whole batch after an error, so that Lambda splits it', async () => {
    const handler = onInserts(broken);
    await expect(handler(insertsEvent(items), lambdaContext())).rejects.toThrow('broken');
    expect(linesWith('worker run failed')).toMatchObject([{ worker: 'testWorker', error: { message: 'broken' } }]);
    expect(faults()).toHaveLength(1);
  });

  test('fails before the function times out', async () => {
    await expect(onInserts(() => new Promise(() => {}))(insertsEvent(items), lambdaContext(520))).rejects.toThrow(
      'ran out of time',
    );
  });
});

describe('a timer worker', () => {
  test('gets the clock, new ids and its deadline', () =>
    withStillClock(async () => {
      let got: { deadline: number; clock: number; id: string } | undefined;
      const handler = onTimer(async ({ deadline, clock, newId }) => {
        got = { deadline, clock: clock(), id: newId('job') };
      });
      expect(await handler({}, lambdaContext(10_000))).toBeUndefined();
      const now = Date.now();
      expect(got).toEqual({ clock: now, deadline: now + 9_500, id: expect.stringMatching(/^job_[0-9A-Za-z]{27}$/) });
      expect(faults()).toEqual([]);
    }));

  test('fails after an error, or shortly before the function times out', async () => {
    await expect(onTimer(broken)({}, lambdaContext())).rejects.toThrow('broken');
    await expect(onTimer(() => new Promise(() => {}))({}, lambdaContext(510))).rejects.toThrow('ran out of time');
    expect(faults()).toHaveLength(2);
  });
});

describe('every worker', () => {
  test('opens its capabilities once, at the first invocation', async () => {
    let opened = 0;
    const counter: Capability<{ number: number }> = {
      grants: [],
      env: ['TABLE_NAME'],
      open: ({ TABLE_NAME }) => ({ number: TABLE_NAME.length + opened++ }),
    };
    const seen: number[] = [];
    const worker = defineWorker(
      { ...declare({ every: 'minute' }), uses: { counter } },
      async ({ deps }) => void seen.push(deps.counter.number),
    );
    const handler = toWorkerLambda(worker, { ...source, TABLE_NAME: 'four' });
    expect(opened).toBe(0);
    for (let i = 0; i < 3; i++) await handler({}, lambdaContext());
    expect(seen).toEqual([4, 4, 4]);
    const misconfigured = toWorkerLambda(worker, source);
    await expect(misconfigured({}, lambdaContext())).rejects.toThrow('Environment variable TABLE_NAME is not set');
  });

  test('logs one line per invocation with the worker, the outcome and the duration', async () => {
    const context = lambdaContext();
    await onQueue(async () => {})(messagesEvent(ids(2)), context);
    expect(linesWith('worker run completed')).toMatchObject([
      {
        level: 'INFO',
        service: 'svc',
        worker: 'testWorker',
        requestId: context.awsRequestId,
        messages: 2,
        failed: 0,
        permanent: 0,
        durationMs: expect.any(Number),
        coldStart: expect.any(Boolean),
      },
    ]);
    expect(lines).toHaveLength(1);
  });

  test('writes each count as a sum and all recorded values, with service as the only dimension', async () => {
    await onQueue(async ({ measures }) => {
      measures.count('WebhookAttemptsDelivered');
      measures.count('DuplicateMessages', 2);
      measures.record('FirstAttemptLatency', 120);
    })(messagesEvent(ids(3)), lambdaContext());
    expect(metrics()).toMatchObject([
      {
        service: 'svc',
        WebhookAttemptsDelivered: 3,
        DuplicateMessages: 6,
        FirstAttemptLatency: [120, 120, 120],
      },
    ]);
    const [{ Namespace, Dimensions, Metrics }] = metrics()[0]!._aws.CloudWatchMetrics;
    expect([Namespace, Dimensions]).toEqual(['CollaborationBackend', [['service']]]);
    expect(Metrics).toEqual([
      { Name: 'WebhookAttemptsDelivered', Unit: 'Count' },
      { Name: 'DuplicateMessages', Unit: 'Count' },
      { Name: 'FirstAttemptLatency', Unit: 'Milliseconds' },
    ]);
  });

  test('writes its metrics after an error too, and starts the next invocation without metrics', async () => {
    let fails = true;
    const handler = onTimer(async ({ measures }) => {
      if (!fails) return;
      measures.record('OldestOverdueDeliveryAge', 7);
      throw new Error('broken');
    });
    await expect(handler({}, lambdaContext())).rejects.toThrow();
    expect(metrics().map(({ OldestOverdueDeliveryAge }) => OldestOverdueDeliveryAge)).toEqual([7, undefined]);
    fails = false;
    lines.length = 0;
    await handler({}, lambdaContext());
    expect(metrics()).toEqual([]);
  });

  test('leaves out values that are not finite', async () => {
    await onTimer(async ({ measures }) => {
      for (const value of [Number.NaN, Infinity]) measures.record('FanOutLatency', value);
      measures.record('FanOutLatency', 5);
      measures.count('MailsSent');
      measures.count('MailsSent', Number.NaN);
    })({}, lambdaContext());
    expect(metrics()).toMatchObject([{ FanOutLatency: 5, MailsSent: 1 }]);
  });

  test('writes more values than one CloudWatch record holds', async () => {
    await onTimer(async ({ measures }) => {
      for (let i = 0; i < 250; i++) measures.record('FanOutLatency', i);
    })({}, lambdaContext());
    expect(metrics().flatMap(({ FanOutLatency }) => FanOutLatency)).toEqual(times(250, (i) => i));
  });
});
