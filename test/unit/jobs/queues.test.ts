import type {
  SendMessageBatchCommand,
  SendMessageBatchCommandInput,
  SendMessageBatchCommandOutput,
} from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { environment } from '../../../lib/app/capability.ts';
import { toApiError } from '../../../lib/http/middlewares.ts';
import { queues, queueVariable } from '../../../lib/workers/queues.ts';
import { type QueueMessage, type QueueSender, SqsSender } from '../../../lib/workers/sender.ts';
import * as sendTo from '../../../lib/workers/sendTo.ts';
import { type Queues, startQueues } from '../../support/queues.ts';
import { times } from '../../support/times.ts';

const MIB = 1024 * 1024;
/** The number of bytes in `{"n":,"text":""}`. */
const FRAME = 16;
type Entries = NonNullable<SendMessageBatchCommandInput['Entries']>;
type Failure = { Id: string; SenderFault: boolean; Code: string };

/**
 * Returns a sender with a fake client. `answer` returns the entries of a call that fail. `calls` has the entries of
 * each received call.
 */
function fakeSender(answer: (entries: Entries, call: number) => Failure[] | Error = () => []) {
  const calls: Entries[] = [];
  let [live, most] = [0, 0];
  const client = {
    async send({ input }: SendMessageBatchCommand): Promise<Partial<SendMessageBatchCommandOutput>> {
      most = Math.max(most, ++live);
      await new Promise(setImmediate);
      live--;
      const Failed = answer(input.Entries!, calls.push(input.Entries!) - 1);
      if (Failed instanceof Error) throw Failed;
      return Failed.length > 0 ? { Failed } : {};
    },
  };
  return { sender: new SqsSender('https://queue', () => client as never, [0, 0, 0]), calls, maxInFlight: () => most };
}

const failing = (entries: Entries, SenderFault = false): Failure[] =>
  entries.map(({ Id }) => ({ Id: Id!, SenderFault, Code: 'InternalError' }));
const numbered = (count: number): QueueMessage[] => times(count, (n) => ({ body: { n } }));
const bodies = (calls: readonly Entries[]) => calls.flat().map(({ MessageBody }) => JSON.parse(MessageBody!));

async function errorOf(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => {
      throw new Error('It did not fail');
    },
    (error: unknown) => error as Error,
  );
}

describe('SqsSender.send', () => {
  test('sends body, group and delay, and omits those that are not given', async () => {
    const { sender, calls } = fakeSender();
    await sender.send([
      { body: { id: 'a' }, groupId: 'ep_1', delaySeconds: 900 },
      { body: { id: 'b' }, groupId: undefined },
    ]);
    expect(calls).toEqual([
      [
        { Id: '0', MessageBody: '{"id":"a"}', MessageGroupId: 'ep_1', DelaySeconds: 900 },
        { Id: '1', MessageBody: '{"id":"b"}' },
      ],
    ]);
  });

  test('sends nothing for an empty list of messages', async () => {
    const { sender, calls } = fakeSender();
    await sender.send([]);
    expect(calls).toEqual([]);
  });

  test('sends batches of ten, at most four in parallel', async () => {
    const { sender, calls, maxInFlight: mostAtOnce } = fakeSender();
    await sender.send(numbered(95));
    expect(calls.map(({ length }) => length).sort((a, b) => b - a)).toEqual([...Array<number>(9).fill(10), 5]);
    expect(
      bodies(calls)
        .map(({ n }) => n)
        .sort((a, b) => a - b),
    ).toEqual(numbered(95).map((_, n) => n));
    expect(mostAtOnce()).toBe(4);
  });

  test('sends every message once, in batches of at most ten messages and 1 MiB', async () => {
    const sizes = fc.array(
      fc.oneof(
        fc.integer({ min: 0, max: 400_000 }),
        fc.constantFrom(MIB - FRAME, MIB / 2 - FRAME, MIB / 2 - FRAME + 1),
      ),
      { maxLength: 25 },
    );
    await fc.assert(
      fc.asyncProperty(sizes, async (sizeList) => {
        const { sender, calls } = fakeSender();
        await sender.send(
          sizeList.map((size, n) => ({ body: { n, text: 'x'.repeat(Math.max(0, size - String(n).length)) } })),
        );
        // Parsing the long texts takes most of the time.
        const sent = calls.flat().map(({ MessageBody }) => Number(/\d+/.exec(MessageBody!)));
        expect(sent.sort((a, b) => a - b)).toEqual(sizeList.map((_, n) => n));
        for (const entries of calls) {
          expect(entries.length).toBeLessThanOrEqual(10);
          expect(
            entries.reduce((sum, { MessageBody }) => sum + Buffer.byteLength(MessageBody!), 0),
          ).toBeLessThanOrEqual(MIB);
          expect(new Set(entries.map(({ Id }) => Id)).size).toBe(entries.length);
        }
      }),
      { numRuns: 30 },
    );
  });

  test('counts bytes of UTF-8, not characters', async () => {
    const { sender, calls } = fakeSender();
    await sender.send([{ body: { text: 'ü'.repeat(300_000) } }, { body: { text: 'ü'.repeat(300_000) } }]);
    expect(calls).toHaveLength(2);
  });
});

describe('SqsSender errors', () => {
  test('sends only rejected messages again', async () => {
    const { sender, calls } = fakeSender((entries, call) =>
      call === 0 ? failing(entries.slice(3, 5)) : call === 1 ? failing(entries.slice(1)) : [],
    );
    await sender.send(numbered(10));
    expect(calls.map((entries) => entries.map(({ Id }) => Id))).toEqual([
      numbered(10).map((_, n) => String(n)),
      ['3', '4'],
      ['4'],
    ]);
  });

  test('answers UNAVAILABLE after four failed tries', async () => {
    const { sender, calls } = fakeSender((entries) => failing(entries.slice(0, 1)));
    const error = await errorOf(sender.send(numbered(2)));
    expect(calls).toHaveLength(4);
    expect(error.message).toBe('SQS rejected 1 messages: InternalError');
    expect(toApiError(error, 'r').status).toBe('UNAVAILABLE');
  });

  test('does not retry a message that SQS rejects as invalid, and reports an internal error', async () => {
    const { sender, calls } = fakeSender((entries) => failing(entries, true));
    const error = await errorOf(sender.send(numbered(2)));
    expect(calls).toHaveLength(1);
    expect(toApiError(error, 'r').status).toBe('INTERNAL');
  });

  test('sends all other batches before it throws the error of a failed batch', async () => {
    const { sender, calls } = fakeSender((entries) => (entries[0]!.Id === '0' ? new Error('no answer') : []));
    expect((await errorOf(sender.send(numbered(45)))).message).toBe('no answer');
    const sent = calls.length;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([sent, calls.length]).toEqual([5, 5]);
  });

  test('answers UNAVAILABLE when a call is throttled', async () => {
    const { sender } = fakeSender(() => Object.assign(new Error('slow down'), { name: 'RequestThrottled' }));
    expect(toApiError(await errorOf(sender.send(numbered(1))), 'r').status).toBe('UNAVAILABLE');
  });
});

describe('messages beyond the limits of SQS', () => {
  test.each([
    ['a delay over 900 s', { delaySeconds: 901 }, 'delay of a message is 901 s'],
    ['a negative delay', { delaySeconds: -1 }, 'delay of a message is -1 s'],
    ['a delay that is not whole', { delaySeconds: 1.5 }, 'delay of a message is 1.5 s'],
    ['an empty group', { groupId: '' }, 'group of a message'],
    ['a group with a space', { groupId: 'a b' }, 'group of a message'],
    ['a group of 129 characters', { groupId: 'g'.repeat(129) }, 'group of a message'],
    ['more than 1 MiB', { body: { text: 'x'.repeat(MIB) } }, 'SQS accepts at most 1048576'],
  ])('rejects all messages of a call with %s', async (_what, message, says) => {
    const { sender, calls } = fakeSender();
    const error = await errorOf(sender.send([{ body: { fine: true } }, { body: {}, ...message }]));
    expect(error).toBeInstanceOf(RangeError);
    expect(error.message).toContain(says);
    expect(calls).toEqual([]);
  });
});

describe('a queue', () => {
  let local: Queues;
  beforeAll(async () => {
    local = await startQueues();
  });
  afterEach(() => local.clear());
  afterAll(() => local.stop());
  const open = (name: keyof typeof queues): QueueSender => sendTo[name].open(environment(process.env));

  test.each(Object.keys(queues) as (keyof typeof queues)[])(
    'gets messages only through its own capability sendTo.%s',
    async (name) => {
      expect(sendTo[name]).toMatchObject({
        grants: [{ resource: `queue/${name}`, actions: ['SendMessage'] }],
        env: [queueVariable[name]],
      });
      await open(name).send([{ body: { name }, groupId: 'g' }]);
      const workersOf = (Object.keys(queues) as (keyof typeof queues)[]).flatMap((each) =>
        local.messagesOf(each).map((message) => [each, message]),
      );
      expect(workersOf).toEqual([[name, { body: { name }, delaySeconds: 0 }]]);
    },
  );

  test('accepts hundreds of messages, and delayed messages', async () => {
    await open('deliver').send([...numbered(300), { body: { late: true }, delaySeconds: 900 }]);
    const waiting = local.messagesOf('deliver');
    expect(waiting).toHaveLength(301);
    expect(waiting.filter(({ delaySeconds }) => delaySeconds > 0)).toEqual([
      { body: { late: true }, delaySeconds: 900 },
    ]);
  });

  test('returns any text that an id may contain', async () => {
    const body = { id: 'a\ufffe\uffff \u{1f600}\u{1ffff}\u0007\ud800 "\\' };
    await open('jobs').send([{ body }]);
    expect(local.messagesOf('jobs')).toEqual([{ body, delaySeconds: 0 }]);
  });

  test('throws on a send if it does not exist', async () => {
    const sender = sendTo.mail.open({
      ...process.env,
      MAIL_QUEUE_URL: `${local.server.address}/000000000000/nowhere`,
    } as never);
    await expect(sender.send(numbered(1))).rejects.toThrow();
  });
});
