import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { recordEvent, tenantShards } from '../../../lib/events/outbox.ts';
import { inParallel } from '../../../lib/shared/inParallel.ts';
import { inTransactions, Table, upsert, type WriteOp } from '../../../lib/table/table.ts';
import { AttemptEntity, DeliveryEntity } from '../../../lib/webhooks/deliveries.ts';
import { MessageReader } from '../../../lib/webhooks/messages.ts';
import type { Delivery } from '../../../lib/webhooks/rules/delivery.ts';
import { acmeWorld, table } from '../../support/acmeWorld.ts';
import { times } from '../../support/times.ts';
import { newWebhookCustomer, outcome, paths } from '../../support/webhooks.ts';

const ADVANCED = '/v2/workspace/advancedwebhook';
const [MESSAGES, ATTEMPTS] = [`${ADVANCED}/messages/get`, `${ADVANCED}/attempts/get`];
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const { customer, useNewCustomer } = acmeWorld({ table: 'memory', newCustomer: newWebhookCustomer });
let tenant: string;
let causes = 0;
beforeEach(() => {
  tenant = customer.apiKey;
});

interface Made {
  readonly at: number;
  /** By default comment.add. */
  readonly event?: string;
  readonly channels?: string[];
  /** A text in the payload. */
  readonly text?: string;
  readonly to?: readonly (Partial<Delivery> & { endpointId: string })[];
}

/** Returns the id of a new event, and the operations that write the event with its deliveries. */
function newEvent({ at, event = 'comment.add', channels, text, to = [] }: Made): { eventId: string; ops: WriteOp[] } {
  const recorded = recordEvent(
    tenant,
    {
      event,
      cause: { type: 'Test', id: String(causes++), revision: 1 },
      channels,
      payload: { source: 'comment', data: { text } },
    },
    at,
  );
  const { eventId, shard } = recorded.event;
  const rows = to.map((delivery) =>
    upsert(DeliveryEntity, {
      tenant,
      eventId,
      event,
      status: 'DELIVERED',
      attempts: 1,
      uncounted: 0,
      sweeps: 0,
      deadline: at + DAY,
      createdAt: at,
      shard,
      ...delivery,
    }),
  );
  return { eventId, ops: [...recorded.ops, ...rows] };
}
async function storeEvents(...all: Made[]): Promise<string[]> {
  const events = all.map(newEvent);
  await inParallel(
    inTransactions(events, { operations: 90 }),
    8,
    async (group) => void (await table.write(group.flatMap(({ ops }) => ops))),
  );
  return events.map(({ eventId }) => eventId);
}
const list = (data: object = {}): Promise<any> => customer.untyped(MESSAGES, data);
const idsOf = ({ messages }: any): string[] => messages.map(({ id }: any) => id);

/** Reads all pages of messages. Calls `between` before each page after the first one. */
async function listAll(
  data: object,
  between: () => Promise<unknown> = async () => undefined,
): Promise<{ ids: string[]; pages: number }> {
  let page = await list(data);
  const ids = idsOf(page);
  let pages = 1;
  while (!page.done) {
    await between();
    page = await list({ ...data, iterator: page.iterator });
    ids.push(...idsOf(page));
    pages++;
  }
  expect(page.iterator).toBeNull();
  return { ids, pages };
}

/** Expects which messages each filter selects, in pages of one message and in one page. */
async function expectIds(cases: readonly (readonly [filter: object, ids: readonly unknown[]])[]): Promise<void> {
  for (const [filter, ids] of cases) {
    expect([filter, (await listAll({ ...filter, limit: 1 })).ids]).toEqual([filter, ids]);
    expect([filter, idsOf(await list(filter))]).toEqual([filter, ids]);
  }
}

describe('POST /v2/workspace/advancedwebhook/messages/get', () => {
  test('returns each message with its deliveries and their next attempts', async () => {
    const createdAt = Date.now() - MINUTE;
    const nextAt = createdAt + 5 * MINUTE;
    const [id] = await storeEvents({
      at: createdAt,
      channels: ['sales'],
      to: [
        { endpointId: 'ep_a', status: 'PENDING', attempts: 2, nextAt, dueAt: nextAt },
        { endpointId: 'ep_b' },
        { endpointId: 'ep_c', status: 'EXHAUSTED', attempts: 8 },
        { endpointId: 'ep_d', status: 'CANCELLED', attempts: 0 },
      ],
    });
    await storeEvents({ at: createdAt - 1 });
    expect((await list()).messages).toEqual([
      {
        id,
        event: 'comment.add',
        channels: ['sales'],
        createdAt: new Date(createdAt).toISOString(),
        deliveries: [
          { endpointId: 'ep_a', status: 'pending', attempts: 2, nextAttemptAt: new Date(nextAt).toISOString() },
          { endpointId: 'ep_b', status: 'delivered', attempts: 1, nextAttemptAt: null },
          { endpointId: 'ep_c', status: 'failed', attempts: 8, nextAttemptAt: null },
          { endpointId: 'ep_d', status: 'failed', attempts: 0, nextAttemptAt: null },
        ],
      },
      expect.objectContaining({ channels: null, deliveries: [] }),
    ]);
  });

  test('returns the messages of the last 30 days, newest first, and none of other tenants', async () => {
    const now = Date.now();
    const moments = [0, 1, 1.5, 2, 9.99, 20, 29.9].flatMap((days) =>
      [0, 1, 2].map((offset) => now - MINUTE - days * DAY - offset),
    );
    const ids = await storeEvents(...moments.map((at) => ({ at })));
    await storeEvents({ at: now - 30 * DAY - MINUTE });
    expect((await listAll({ limit: 4 })).ids).toEqual(ids);
    await useNewCustomer();
    expect(await list()).toEqual({ messages: [], iterator: null, done: true });
  });

  test('returns each message once over many pages while events arrive', async () => {
    const now = Date.now();
    const channels = times(60, (i) => `${i}`.padEnd(100, 'x'));
    const ids = await storeEvents(
      ...times(400, (i) => ({
        at: now - MINUTE - Math.floor(i / 3) * 97_001,
        channels,
        to: [{ endpointId: 'ep_a' }],
      })),
    );
    const { ids: read, pages } = await listAll({ limit: 100 }, () =>
      storeEvents({ at: Date.now() }, { at: Date.now() }),
    );
    expect(pages).toBe(4);
    expect(read).toHaveLength(400);
    expect([...read].sort()).toEqual([...ids].sort());
    // The messages that were added during the paging are at the top of the list.
    expect((await list({ limit: 250 })).messages.slice(0, 6).every(({ id }: any) => !ids.includes(id))).toBe(true);
    expect(
      (
        await listAll({ limit: 100, endpointId: 'ep_a' }, () =>
          storeEvents({ at: Date.now(), to: [{ endpointId: 'ep_a' }] }),
        )
      ).ids,
    ).toEqual(read);
  });

  test('returns only messages with deliveries that match all filters', async () => {
    const minutesAgo = (n: number) => Date.now() - n * MINUTE;
    const due = { nextAt: minutesAgo(0) + DAY, dueAt: minutesAgo(0) + DAY };
    const [first, two, three, four] = await storeEvents(
      { at: minutesAgo(1), to: [{ endpointId: 'ep_a' }, { endpointId: 'ep_b', status: 'EXHAUSTED' }] },
      { at: minutesAgo(2), to: [{ endpointId: 'ep_a', status: 'CANCELLED' }, { endpointId: 'ep_b' }] },
      { at: minutesAgo(3), to: [{ endpointId: 'ep_a', status: 'PENDING', ...due }] },
      { at: minutesAgo(4), to: [{ endpointId: 'ep_b', status: 'EXHAUSTED' }] },
      { at: minutesAgo(5) },
    );
    const cases = [
      [{ endpointId: 'ep_a' }, [first, two, three]],
      [{ endpointId: 'ep_b' }, [first, two, four]],
      [{ endpointId: 'ep_none' }, []],
      [{ status: 'failed' }, [first, two, four]],
      [{ status: 'pending' }, [three]],
      [{ status: 'delivered' }, [first, two]],
      [{ endpointId: 'ep_b', status: 'failed' }, [first, four]],
      [{ endpointId: 'ep_a', status: 'delivered' }, [first]],
    ] as const;
    await expectIds(cases);
    expect(
      (await list({ status: 'failed' })).messages.map(({ deliveries }: any) =>
        deliveries.map((delivery: any) => delivery.endpointId),
      ),
    ).toEqual([['ep_b'], ['ep_a'], ['ep_b']]);
  });

  test('selects messages by type and time of their events, together with other filters', async () => {
    const at = Date.now() - 60 * MINUTE;
    const to = [{ endpointId: 'ep_a', status: 'EXHAUSTED' as const }];
    const [add, huddle, update, last] = await storeEvents(
      { at, to },
      { at: at - 1, event: 'huddle.create' },
      { at: at - 2, event: 'comment.update', to },
      { at: at - 1_000 },
    );
    const iso = (time: number) => new Date(time).toISOString();
    const cases = [
      [{ events: ['comment.add'] }, [add, last]],
      [{ events: ['huddle.create', 'comment.update', 'huddle.create'] }, [huddle, update]],
      [{ events: ['huddle.join'] }, []],
      [{ events: ['comment.add', 'comment.update'], endpointId: 'ep_a' }, [add, update]],
      [{ events: ['comment.update'], endpointId: 'ep_a', status: 'failed' }, [update]],
      [{ events: ['comment.update', 'huddle.create'], status: 'failed' }, [update]],
      [{ since: at - 1 }, [add, huddle]],
      [{ until: at }, [huddle, update, last]],
      [{ since: iso(at - 2), until: iso(at) }, [huddle, update]],
      [{ since: at, until: at }, []],
      [{ since: at - 2, until: at, endpointId: 'ep_a', status: 'failed' }, [update]],
      [{ since: at - 2, until: at + 1, endpointId: 'ep_a' }, [add, update]],
      [{ since: at - 2, until: at, events: ['huddle.create', 'comment.add'] }, [huddle]],
      [{ since: 0 }, [add, huddle, update, last]],
      [{ until: at - 31 * DAY }, []],
    ] as const;
    await expectIds(cases);
  });

  test('selects by type also events whose index keys have no type, as version 0.1.0 wrote them', async () => {
    const made = ['comment.add', 'comment.update'].map((event, index) =>
      newEvent({ at: Date.now() - MINUTE - index, event, to: [{ endpointId: 'ep_a' }] }),
    );
    const withoutType = made
      .flatMap(({ ops }) => ops)
      .map((op) => {
        if (!('put' in op) || typeof op.put.gsi4sk !== 'string') return op;
        return { ...op, put: { ...op.put, gsi4sk: op.put.gsi4sk.split('#').slice(0, 2).join('#') } };
      });
    await table.write(withoutType);
    for (const filter of [{}, { endpointId: 'ep_a' }])
      expect((await listAll({ ...filter, events: ['comment.update'], limit: 1 })).ids).toEqual([made[1]!.eventId]);
  });

  test('returns each message of a type once while events arrive, and reads each index partition once per page', async () => {
    const now = Date.now();
    const isSelected = (i: number) => i % 50 === 0;
    const ids = await storeEvents(
      ...times(2_500, (i) => ({ at: now - MINUTE - i, event: isSelected(i) ? 'huddle.join' : 'comment.add' })),
    );
    const queries = jest.spyOn(Table.prototype, 'queryIndex');
    const items = jest.spyOn(Table.prototype, 'getByKeys');
    const { ids: read, pages } = await listAll({ events: ['huddle.join'] }, () =>
      storeEvents({ at: Date.now(), event: 'huddle.join' }),
    );
    expect(read).toEqual(ids.filter((_id, i) => isSelected(i)));
    expect(pages).toBeGreaterThan(2);
    expect(pages).toBeLessThan(7);
    expect(queries).toHaveBeenCalledTimes(pages * tenantShards);
    expect(items.mock.calls.flatMap(([, keys]) => keys)).toHaveLength(ids.length / 50);
    jest.restoreAllMocks();
  });

  test('reads a limited number of messages per call, and the next call continues', async () => {
    const now = Date.now();
    await storeEvents(...times(1_300, (i) => ({ at: now - MINUTE - i * 100 })));
    const [last] = await storeEvents({
      at: Date.now() - 10 * MINUTE,
      to: [{ endpointId: 'ep_a', status: 'EXHAUSTED' }],
    });
    const first = await list({ status: 'failed' });
    expect(first).toMatchObject({ messages: [], done: false, iterator: expect.any(String) });
    expect(await list({ status: 'failed', iterator: first.iterator })).toMatchObject({
      messages: [{ id: last }],
      done: true,
    });
  });

  test('ends a page before the response exceeds its maximum size', async () => {
    const channels = times(100, (i) => `${i}`.padEnd(512, 'é'));
    const now = Date.now();
    const ids = await storeEvents(...times(60, (i) => ({ at: now - MINUTE - i, channels })));
    const { values, next } = await new MessageReader(table).list(tenant, {}, { limit: 250, now });
    expect(values.length).toBeLessThan(60);
    expect(next).toBeDefined();
    expect((await listAll({ limit: 250 })).ids).toEqual(ids);
  });

  test('counts only the size of the response, which does not contain payloads', async () => {
    const channels = times(100, (i) => `${i}`.padEnd(153, 'x'));
    const now = Date.now();
    const text = 'x'.repeat(2_300);
    await storeEvents(...times(250, (i) => ({ at: now - MINUTE - i, channels, text })));
    expect(await list({ limit: 250 })).toMatchObject({ messages: { length: 250 }, done: true });
  });

  test('rejects an empty time range', async () => {
    const range = { since: '2026-01-02', until: '2026-01-01T23:59:59Z' };
    const [status, message] = await outcome(customer, MESSAGES, range);
    expect([status, message]).toEqual(['INVALID_ARGUMENT', expect.stringMatching('^since')]);
  });
});

describe('POST /v2/workspace/advancedwebhook/attempts/get', () => {
  const attempt = (eventId: string, endpointId: string, n: number, at: number, more: object = {}) =>
    table.write([
      upsert(AttemptEntity, {
        tenant,
        eventId,
        endpointId,
        attempt: n,
        claim: `clm_${n}`,
        at,
        outcome: 'failed',
        durationMs: 12,
        byHand: false,
        ...more,
      }),
    ]);

  test('returns the attempts of all endpoints or of one, oldest first', async () => {
    const now = Date.now();
    const [messageId = ''] = await storeEvents({ at: now });
    await attempt(messageId, 'ep_b', 1, now + 1, { outcome: 'timeout' });
    await attempt(messageId, 'ep_a', 1, now + 2, { responseStatus: 503, responseBody: Buffer.from('<b>no</b>') });
    await attempt(messageId, 'ep_b', 2, now + 3, {
      outcome: 'delivered',
      responseStatus: 204,
      responseBody: Buffer.alloc(0),
    });
    await attempt(messageId, 'ep_b10', 1, now + 4, { outcome: 'refused' });
    const { attempts } = await customer.untyped(ATTEMPTS, { messageId });
    const rows = [
      ['ep_b', 1, 'timeout', null, null],
      ['ep_a', 1, 'failed', 503, '<b>no</b>'],
      ['ep_b', 2, 'delivered', 204, ''],
      ['ep_b10', 1, 'refused', null, null],
    ] as const;
    expect(attempts).toEqual(
      rows.map(([endpointId, number, outcome, responseStatus, responseBody], index) => ({
        endpointId,
        attempt: number,
        at: new Date(now + 1 + index).toISOString(),
        outcome,
        responseStatus,
        responseBody,
        durationMs: 12,
      })),
    );
    expect(
      (await customer.untyped(ATTEMPTS, { messageId, endpointId: 'ep_b' })).attempts.map(({ attempt: n }: any) => n),
    ).toEqual([1, 2]);
  });

  test('returns at most 1 KiB of a response body as text, without splitting a character', async () => {
    const now = Date.now();
    const [messageId = ''] = await storeEvents({ at: now });
    for (let n = 1; n <= 80; n++)
      await attempt(messageId, 'ep_a', n, now + n, {
        responseBody: Buffer.concat([Buffer.from([0xff]), Buffer.from('é'.repeat(8_000))]),
      });
    const { attempts } = await customer.untyped(ATTEMPTS, { messageId });
    expect(attempts.map(({ attempt: n }: any) => n)).toEqual(times(80, (i) => i + 1));
    expect(attempts[0].responseBody).toBe(`\ufffd${'é'.repeat(511)}`);
  });

  test('returns the newest 1,000 attempts at an endpoint, and requires an endpointId for a message with more', async () => {
    const now = Date.now();
    const [messageId = ''] = await storeEvents({ at: now });
    await inParallel(times(1_001, Number), 8, (n) => attempt(messageId, 'ep_a', n + 1, now + n));
    const { attempts } = await customer.untyped(ATTEMPTS, { messageId, endpointId: 'ep_a' });
    expect(attempts.map(({ attempt: n }: any) => n)).toEqual(times(1_000, (i) => i + 2));
    expect(await outcome(customer, ATTEMPTS, { messageId })).toEqual([
      'INVALID_ARGUMENT',
      'endpointId is required for this message, which has more than 1000 attempts',
    ]);
  });

  test('returns an empty list for a message without attempts, and NOT_FOUND for an unknown message', async () => {
    const [messageId = ''] = await storeEvents({ at: Date.now() });
    expect(await customer.untyped(ATTEMPTS, { messageId })).toEqual({ attempts: [] });
    for (const [who, id] of [
      [customer, 'msg_none'],
      [await newWebhookCustomer(), messageId],
    ] as const)
      expect((await outcome(who, ATTEMPTS, { messageId: id }))[0]).toBe('NOT_FOUND');
  });
});

test.each([
  [MESSAGES, {}],
  [ATTEMPTS, { messageId: 'm' }],
])('%s returns FAILED_PRECONDITION while advanced webhooks are disabled', async (path, data) => {
  await customer.ok(paths.updateConfig, { isEnabled: false });
  expect((await outcome(customer, path, data))[0]).toBe('FAILED_PRECONDITION');
});
