import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { json } from 'node:stream/consumers';
import {
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { startFauxqs } from 'fauxqs';
import type { QueueModel } from '../../../infra/local/assembly/eventSourceModels.ts';
import { openDatabase } from '../../../infra/local/queues/database.ts';
import { QueueStore } from '../../../infra/local/queues/queueStore.ts';
import { sqs } from '../../../infra/local/queues/sqs.ts';
import { times } from '../../support/times.ts';

const queue = (name: string, properties: Partial<QueueModel> = {}): QueueModel => ({
  name,
  arn: `arn:aws:sqs:us-east-1:000000000000:${name}`,
  visibilitySeconds: 30,
  retentionSeconds: 345_600,
  delaySeconds: 0,
  deadLetters: undefined,
  ...properties,
});
const models = [
  queue('q', { deadLetters: { queue: 'dead', maxReceiveCount: 2 } }),
  queue('dead'),
  queue('short', { retentionSeconds: 60 }),
  queue('late', { delaySeconds: 5 }),
];

describe('QueueStore', () => {
  let now: number;
  let store: QueueStore;

  beforeEach(() => {
    now = 1_000_000;
    store = new QueueStore(new DatabaseSync(':memory:'), models, () => now);
  });

  const send = (body: string, more: { groupId?: string; delaySeconds?: number } = {}, name = 'q') =>
    store.send(name, [{ body, ...more }]);
  const bodies = (most = 10, name = 'q') => store.receive(name, most).map(({ body }) => body);

  test('returns a message once, and again after the visibility timeout', () => {
    const [id] = send('a');
    const [first] = store.receive('q', 10);
    expect(first).toEqual({
      id,
      receiptHandle: expect.any(String),
      body: 'a',
      attributes: {},
      groupId: undefined,
      sentAt: 1_000_000,
      receiveCount: 1,
      firstReceivedAt: 1_000_000,
    });
    now += 29_999;
    expect(bodies()).toEqual([]);
    now += 1;
    expect(store.receive('q', 10)).toEqual([
      { ...first, receiptHandle: expect.not.stringMatching(`^${first!.receiptHandle}$`), receiveCount: 2 },
    ]);
  });

  test('deletes with the latest receipt handle only', () => {
    send('a');
    const [first] = store.receive('q', 1);
    now += 30_000;
    const [second] = store.receive('q', 1);
    store.delete('q', [first!.receiptHandle, 'nonsense', '']);
    expect(store.counts('q').inFlight).toBe(1);
    store.delete('dead', [second!.receiptHandle]);
    expect(store.counts('q').inFlight).toBe(1);
    store.delete('q', [second!.receiptHandle]);
    expect(store.counts('q')).toEqual({ visible: 0, inFlight: 0, delayed: 0 });
  });

  test('moves a message that was received too often to the dead-letter queue', () => {
    const [id] = send('a', { groupId: 'g' });
    for (const _ of [1, 2]) {
      expect(bodies()).toEqual(['a']);
      now += 30_000;
    }
    expect(bodies()).toEqual([]);
    expect(store.counts('q')).toEqual({ visible: 0, inFlight: 0, delayed: 0 });
    expect(store.receive('dead', 10)).toMatchObject([{ id, body: 'a', groupId: 'g', sentAt: 1_000_000 }]);
  });

  test('delays messages by their own delay. Without one, the delay of the queue applies', () => {
    send('a', { delaySeconds: 900 });
    send('b', {}, 'late');
    expect(store.counts('q')).toEqual({ visible: 0, inFlight: 0, delayed: 1 });
    now += 4_999;
    expect(bodies(10, 'late')).toEqual([]);
    now += 1;
    expect(bodies(10, 'late')).toEqual(['b']);
    now += 894_999;
    expect(bodies()).toEqual([]);
    now += 1;
    expect(bodies()).toEqual(['a']);
  });

  test('drops messages older than the retention period', () => {
    send('a', {}, 'short');
    now += 60_000;
    expect(bodies(10, 'short')).toEqual([]);
    expect(store.counts('short').visible).toBe(0);
  });

  describe('fairness between message groups', () => {
    const fill = (groupId: string, count: number) =>
      store.send(
        'q',
        times(count, () => ({ body: groupId, groupId })),
      );

    test('postpones a group that keeps the consumers busy', () => {
      fill('noisy', 100);
      expect(bodies(30)).toEqual(times(30, () => 'noisy'));
      now += 1;
      fill('quiet', 2);
      send('alone');
      expect(bodies(5).sort()).toEqual(['alone', 'noisy', 'noisy', 'quiet', 'quiet']);
    });

    test('prefers the busy group with fewer messages in flight', () => {
      fill('noisier', 200);
      bodies(60);
      now += 1;
      fill('noisy', 200);
      expect(bodies(40)).toEqual(times(40, () => 'noisy'));
      expect(bodies(3)).toEqual(['noisy', 'noisy', 'noisy']);
    });

    test('does not postpone a group with 29 messages in flight, or with a tenth of all', () => {
      fill('a', 100);
      bodies(29);
      now += 1;
      send('b', { groupId: 'b' });
      expect(bodies(1)).toEqual(['a']);
    });

    test('ends when the messages of the group are done or their timeout is over', () => {
      fill('noisy', 100);
      store.delete(
        'q',
        store.receive('q', 40).map(({ receiptHandle }) => receiptHandle),
      );
      now += 1;
      fill('quiet', 1);
      expect(bodies(1)).toEqual(['noisy']);
    });
  });

  test('never loses a message, and never returns it twice at a time or too often', () => {
    const step = fc.oneof(
      fc.constant('send' as const),
      fc.constant('receive' as const),
      fc.constant('delete' as const),
      fc.constant('wait' as const),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(step, fc.nat(4))), (steps) => {
        const fresh = new QueueStore(new DatabaseSync(':memory:'), models, () => now);
        const [sent, deleted] = [new Set<string>(), new Set<string>()];
        let heldReceipts = new Map<string, string>();
        const received = new Map<string, number>();
        for (const [kind, count] of steps) {
          if (kind === 'send')
            for (const id of fresh.send(
              'q',
              times(count, () => ({ body: 'x', groupId: String(count) })),
            ))
              sent.add(id);
          if (kind === 'wait') [now, heldReceipts] = [now + 30_000, new Map()];
          if (kind === 'receive') {
            for (const { id, receiptHandle } of fresh.receive('q', count)) {
              expect(heldReceipts.has(id) || deleted.has(id)).toBe(false);
              heldReceipts.set(id, receiptHandle);
              received.set(id, (received.get(id) ?? 0) + 1);
            }
          }
          if (kind === 'delete') {
            for (const [id, handle] of [...heldReceipts].slice(0, count)) {
              fresh.delete('q', [handle]);
              heldReceipts.delete(id);
              deleted.add(id);
            }
          }
        }
        expect(Math.max(0, ...received.values())).toBeLessThanOrEqual(2);
        const remainingCount = [fresh.counts('q'), fresh.counts('dead')].reduce(
          (sum, { visible, inFlight, delayed }) => sum + visible + inFlight + delayed,
          0,
        );
        expect(remainingCount).toBe(sent.size - deleted.size);
      }),
    );
  });
});

test('a wait for a message ends when a hidden one becomes visible, or one arrives in its queue', async () => {
  jest.useFakeTimers();
  const store = new QueueStore(new DatabaseSync(':memory:'), models);
  store.send('q', [{ body: 'a' }]);
  store.receive('q', 1, 1);
  let ends = 0;
  const wait = () => void store.waitForMessage('q', 10_000).then(() => ends++);
  const endsAfter = async (milliseconds: number) => {
    await jest.advanceTimersByTimeAsync(milliseconds);
    return ends;
  };
  wait();
  store.send('dead', [{ body: 'elsewhere' }]);
  expect([await endsAfter(999), await endsAfter(1), store.receive('q', 1).length]).toEqual([0, 1, 1]);
  wait();
  store.send('q', [{ body: 'b' }]);
  expect(await endsAfter(0)).toBe(2);
  jest.useRealTimers();
});

test('messages survive the end of the process, and those in flight become visible at once', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'queues-'));
  try {
    const first = openDatabase(dir);
    const before = new QueueStore(first, models);
    before.send('q', [{ body: 'waiting', delaySeconds: 60 }, { body: 'in flight' }]);
    expect(before.receive('q', 1)).toMatchObject([{ body: 'in flight' }]);
    // A second connection sees what a new process would see after a crash. The first connection stays open.
    const second = openDatabase(dir);
    const after = new QueueStore(second, models);
    expect(after.receive('q', 10)).toMatchObject([{ body: 'in flight', receiveCount: 2 }]);
    expect(after.counts('q').delayed).toBe(1);
    first.close();
    second.close();
  } finally {
    await rm(dir, { recursive: true });
  }
});

/** The local SQS and fauxqs must answer the same calls of the SDK in the same way. */
describe.each(['the local SQS', 'fauxqs'])('the SQS API of %s', (which) => {
  let client: SQSClient;
  let QueueUrl: string;
  let stop: () => Promise<unknown>;

  beforeEach(async () => {
    const { url, close } = which === 'fauxqs' ? await startOther() : await startOwn();
    QueueUrl = `${url}/000000000000/q`;
    client = new SQSClient({
      endpoint: url,
      region: 'us-east-1',
      maxAttempts: 1,
      credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
    });
    stop = close;
  });

  afterEach(async () => {
    client.destroy();
    await stop();
  });

  async function startOther() {
    const server = await startFauxqs({ port: 0, logger: false });
    server.createQueue('dead');
    server.createQueue('q', {
      attributes: { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: models[1]!.arn, maxReceiveCount: 2 }) },
    });
    return { url: `http://127.0.0.1:${server.port}`, close: () => server.stop() };
  }

  async function startOwn() {
    const service = sqs(new QueueStore(new DatabaseSync(':memory:'), models));
    const respond = async (request: IncomingMessage, response: ServerResponse) => {
      const input = (await json(request)) as Record<string, unknown>;
      const { status, body } = await service.answer({
        operation: String(request.headers['x-amz-target']).split('.')[1]!,
        input,
        body: '',
        isAborted: () => response.destroyed,
      });
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(body);
    };
    // Idle connections stay open, because a client without retries may use one after a long pause of the machine.
    const server: Server = createServer(
      { keepAliveTimeout: 0 },
      (request, response) => void respond(request, response),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      async close() {
        server.close();
        server.closeAllConnections();
      },
    };
  }

  const send = (MessageBody: string, more: object = {}) =>
    client.send(new SendMessageCommand({ QueueUrl, MessageBody, ...more }));
  const receive = async (more: object = {}) =>
    (
      await client.send(
        new ReceiveMessageCommand({
          QueueUrl,
          MaxNumberOfMessages: 10,
          MessageSystemAttributeNames: ['All'],
          MessageAttributeNames: ['All'],
          ...more,
        }),
      )
    ).Messages ?? [];

  test('sends, receives and deletes a message', async () => {
    const MessageAttributes = {
      kind: { DataType: 'String', StringValue: 'ü' },
      raw: { DataType: 'Binary', BinaryValue: Buffer.from([1, 2]) },
    };
    const { MessageId } = await send('Grüße', { MessageAttributes });
    const [message] = await receive();
    expect(message).toMatchObject({
      MessageId,
      Body: 'Grüße',
      Attributes: { ApproximateReceiveCount: '1', SenderId: '000000000000' },
      MessageAttributes: { kind: { DataType: 'String', StringValue: 'ü' }, raw: { DataType: 'Binary' } },
    });
    expect([...message!.MessageAttributes!.raw!.BinaryValue!]).toEqual([1, 2]);
    expect(Math.abs(Number(message!.Attributes!.SentTimestamp) - Date.now())).toBeLessThan(5_000);
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message!.ReceiptHandle! }));
    expect(await receive({ VisibilityTimeout: 0 })).toEqual([]);
  });

  test('fails only the wrong entries of a batch', async () => {
    const { Successful, Failed } = await client.send(
      new SendMessageBatchCommand({
        QueueUrl,
        Entries: [
          { Id: 'a', MessageBody: 'x' },
          { Id: 'b', MessageBody: '\u0000' },
        ],
      }),
    );
    expect(Successful?.map(({ Id }) => Id)).toEqual(['a']);
    expect(Failed).toMatchObject([{ Id: 'b', SenderFault: true, Code: 'InvalidMessageContents' }]);
    const { Successful: deleted } = await client.send(
      new DeleteMessageBatchCommand({
        QueueUrl,
        Entries: (await receive()).map(({ ReceiptHandle }) => ({ Id: 'a', ReceiptHandle })),
      }),
    );
    expect(deleted).toEqual([{ Id: 'a' }]);
  });

  test('waits for a message with long polling', async () => {
    const received = receive({ WaitTimeSeconds: 5 });
    await send('late');
    expect(await received).toMatchObject([{ Body: 'late' }]);
  });

  test('returns the numbers of waiting, delayed and in-flight messages', async () => {
    await send('a');
    await send('b');
    await send('c', { DelaySeconds: 60 });
    await receive({ MaxNumberOfMessages: 1 });
    const { Attributes } = await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
    expect(Attributes).toMatchObject({
      QueueArn: models[0]!.arn,
      ApproximateNumberOfMessages: '1',
      ApproximateNumberOfMessagesNotVisible: '1',
      ApproximateNumberOfMessagesDelayed: '1',
    });
  });

  test('returns a message again at visibility timeout zero, and dead-letters it at the third receive', async () => {
    await send('a');
    for (const count of ['1', '2']) {
      const [message] = await receive({ VisibilityTimeout: 0 });
      expect(message?.Attributes?.ApproximateReceiveCount).toBe(count);
    }
    expect(await receive()).toEqual([]);
    expect(await receive({ QueueUrl: QueueUrl.replace(/q$/, 'dead') })).toMatchObject([{ Body: 'a' }]);
  });

  test.each([
    ['an unknown queue', () => send('x', { QueueUrl: QueueUrl.replace(/q$/, 'nothing') }), 'QueueDoesNotExist'],
    ['an empty message', () => send(''), 'MissingParameter'],
    ['characters that XML does not allow', () => send('a\u0007b'), 'InvalidMessageContents'],
    ['a message over 1 MiB', () => send('x'.repeat(1024 * 1024 + 1)), 'InvalidParameterValue'],
    ['11 messages to receive', () => receive({ MaxNumberOfMessages: 11 }), 'InvalidParameterValue'],
    ['a wait of 21 s', () => receive({ WaitTimeSeconds: 21 }), 'InvalidParameterValue'],
    ['no entries', () => client.send(new SendMessageBatchCommand({ QueueUrl, Entries: [] })), 'EmptyBatchRequest'],
    [
      '11 entries',
      () =>
        client.send(
          new SendMessageBatchCommand({
            QueueUrl,
            Entries: times(11, (i) => ({ Id: `${i}`, MessageBody: 'x' })),
          }),
        ),
      'TooManyEntriesInBatchRequest',
    ],
    [
      'entries with one id',
      () =>
        client.send(
          new SendMessageBatchCommand({ QueueUrl, Entries: [1, 2].map(() => ({ Id: 'a', MessageBody: 'x' })) }),
        ),
      'BatchEntryIdsNotDistinct',
    ],
    [
      'a batch over 1 MiB',
      () =>
        client.send(
          new SendMessageBatchCommand({
            QueueUrl,
            Entries: ['a', 'b'].map((Id) => ({ Id, MessageBody: 'x'.repeat(600_000) })),
          }),
        ),
      'BatchRequestTooLong',
    ],
  ])('refuses %s', async (_what, call, name) => {
    // Fauxqs puts the prefix of the old protocol before some codes.
    await expect(call()).rejects.toMatchObject({
      name: expect.stringMatching(`^(AWS\\.SimpleQueueService\\.)?${name}$`),
    });
  });
});

describe('the local SQS, where the emulator fauxqs differs from AWS,', () => {
  const answered = async (operation: string, input: object) => {
    const service = sqs(new QueueStore(new DatabaseSync(':memory:'), models));
    const { status, body } = await service.answer({
      operation,
      input: { QueueUrl: 'http://any/0/q', MessageBody: 'x', ...input },
      body: '',
      isAborted: () => false,
    });
    return [status, (JSON.parse(body) as { __type?: string }).__type?.split('#')[1]];
  };

  test.each([
    ['a delay over 900 s', 'SendMessage', { DelaySeconds: 901 }, [400, 'InvalidParameterValue']],
    ['a delay of 900 s', 'SendMessage', { DelaySeconds: 900 }, [200, undefined]],
    ['half a second', 'SendMessage', { DelaySeconds: 0.5 }, [400, 'InvalidParameterValue']],
    ['characters beyond the first plane', 'SendMessage', { MessageBody: '🎉' }, [200, undefined]],
    ['half of a surrogate pair', 'SendMessage', { MessageBody: '\ud83c' }, [400, 'InvalidMessageContents']],
    ['a group with a space', 'SendMessage', { MessageGroupId: 'a b' }, [400, 'InvalidParameterValue']],
    ['a group of 129 characters', 'SendMessage', { MessageGroupId: 'g'.repeat(129) }, [400, 'InvalidParameterValue']],
    ['an operation that it does not support', 'CreateQueue', {}, [400, 'UnknownOperationException']],
  ])('answers like AWS to %s', async (_what, operation, input, expected) => {
    expect(await answered(operation, input)).toEqual(expected);
  });
});
