import { beforeEach, describe, expect, test } from '@jest/globals';
import { JobStore } from '../../../lib/jobs/jobStore.ts';
import { upsert } from '../../../lib/table/table.ts';
import { DeliveryStore, toDelivery } from '../../../lib/webhooks/deliveries.ts';
import { type DeliveryMessage, nextAttemptMessages } from '../../../lib/webhooks/deliveryMessage.ts';
import { EndpointHealthEntity } from '../../../lib/webhooks/endpointHealth.ts';
import { ParkedDeliveryStore } from '../../../lib/webhooks/parkedDeliveries.ts';
import { parkingJob } from '../../../lib/webhooks/parkingJob.ts';
import { parkDelivery } from '../../../lib/webhooks/rules/delivery.ts';
import { HOUR, MINUTE, SECOND } from '../../support/deliveries.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { times } from '../../support/times.ts';
import { paths } from '../../support/webhooks.ts';
import { webhookWorld } from '../../support/webhookWorld.ts';

const { customer, hooks, system, createEndpoint, eventsOf, useBasicWebhooks } = webhookWorld({
  table: 'memory',
  isCleared: true,
});
let tenant: string;
let endpointId: string;

beforeEach(async () => {
  tenant = customer.apiKey;
  hooks.answer('/dead', { status: 500 });
  endpointId = await create({});
});

const create = async (fields: object): Promise<string> =>
  await createEndpoint('/dead', { filterTypes: ['comment.add'], ...fields });

/**
 * Opens the endpoint's breaker by ten failures. The messages of their retries are removed from the queue. In the
 * table, the retries stay due.
 */
async function openBreaker(): Promise<void> {
  await system.publishMany(10);
  await system.processMessages(10);
  expect(await openUntil()).toBe(system.now + 30 * SECOND);
  system.retryQueue.messages.length = 0;
}

/** Publishes events, which are parked, because the breaker is open or is opened first. Returns their ids. */
async function park(count: number, event: Parameters<typeof system.publish>[0] = {}): Promise<string[]> {
  if ((await openUntil()) === undefined) await openBreaker();
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    ids.push(await system.publish(event));
    system.now += 1;
  }
  await system.drain(system.now);
  return ids;
}

const parkOne = async () => (await park(1))[0]!;
const health = async () => system.table.get(EndpointHealthEntity, { tenant, endpointId });
const openUntil = async () => (await health())?.breaker.open?.until;
const parkingOf = async () => new JobStore(system.table).get({ tenant, jobId: parkingJob(endpointId, 0).jobId });
const delivery = async (eventId: string) => (await system.delivery(eventId, endpointId))!;
const statesOf = async (ids: readonly string[]) =>
  (await Promise.all(ids.map(delivery))).map(({ status, attempts }) => `${status} ${attempts}`);
const parked = async () =>
  (await new ParkedDeliveryStore(system.table).listOldest({ tenant, endpointId }, 10_000)).deliveries.length;
const repeated = (count: number, state: string) => times(count, () => state);

describe('a delivery to an endpoint with an open circuit breaker', () => {
  test('is parked without a queue message, a due time or an attempt', async () => {
    const eventId = await parkOne();
    const stored = await delivery(eventId);
    expect(stored).toMatchObject({ status: 'PENDING', attempts: 0, parked: true });
    expect(stored).not.toHaveProperty('nextAt');
    expect([system.waiting, hooks.at('/dead').length, await parked()]).toEqual([[], 10, 1]);
    expect(system.measures.counted.get('DeliveriesParked')).toBe(1);
    // If its message arrives twice, it is not written again.
    const { _r } = stored;
    await system.processMessage({ tenant, eventId, endpointId, attemptNo: 1 });
    expect((await delivery(eventId))._r).toBe(_r);
    expect(system.waiting).toEqual([]);
  });

  test('is attempted at once by a resend, and parked again if the attempt fails', async () => {
    const eventId = await parkOne();
    const resend = async (resendId: string) => {
      const key = { tenant, eventId, endpointId, resendId };
      const due = await new DeliveryStore(system.table).resend(key, system.now, system.timing);
      for (const { body } of due!.flatMap((each) => nextAttemptMessages(each, system.now)))
        system.retryQueue.add(body as DeliveryMessage, system.now);
      await system.drain(system.now);
    };
    await resend('rsd_1');
    expect(hooks.at('/dead')).toHaveLength(11);
    expect(await delivery(eventId)).toMatchObject({ status: 'PENDING', attempts: 1, parked: true });
    hooks.answer('/dead', { status: 200 });
    await resend('rsd_2');
    expect(await statesOf([eventId])).toEqual(['DELIVERED 2']);
  });

  test('is released by a job that starts when the breaker opens and ends when no delivery is parked', async () => {
    expect(await parkingOf()).toBeUndefined();
    await openBreaker();
    expect(await parkingOf()).toMatchObject({ kind: 'releaseParked', notBefore: system.now + 30 * SECOND });
    // The retries have no messages and the sweep does not run, so no delivery is parked.
    const from = system.now;
    await system.drain();
    expect(await parkingOf()).toBeUndefined();
    expect(system.now - from).toBeLessThan(2 * MINUTE);
  });
});

describe('the probe of an endpoint', () => {
  test('is the oldest parked delivery, and one per pause for any number of parked deliveries', async () => {
    const ids = await park(30);
    const from = system.now;
    await system.drain(from + 2 * HOUR);
    // Between the probes are pauses of 0.5, 1, 2, 4, 8, 15, 15 ... minutes.
    const probes = hooks.at('/dead').slice(10);
    expect(probes.length).toBeGreaterThanOrEqual(10);
    expect(probes.length).toBeLessThanOrEqual(13);
    expect(probes[0]!.headers['webhook-id']).toBe(ids[0]);
    const states = await Promise.all(ids.map(delivery));
    expect(states.reduce((sum, { attempts }) => sum + attempts, 0)).toBe(probes.length);
    expect(states.filter(({ attempts }) => attempts === 0).length).toBeGreaterThan(20);
    expect(system.measures.counted.get('CircuitBreakersOpened')).toBe(1);
  });

  test('is attempted again if its worker crashes', async () => {
    const eventId = await parkOne();
    hooks.answer('/dead', { status: 200 });
    const { client } = system.attemptPorts;
    let crashes = 1;
    system.replacedPorts.attempt = {
      client: {
        post: async (request) => (crashes-- > 0 ? Promise.reject(new Error('crash')) : client.post(request)),
      },
    };
    // Removes the message of the crashed worker too, as if it were lost.
    while (crashes > 0) {
      await system.runNextJob();
      for (const message of system.retryQueue.messages.splice(0))
        await system.processMessage(message.body).catch(() => undefined);
    }
    await system.runUntilEnded(eventId, [endpointId]);
    expect(await statesOf([eventId])).toEqual(['DELIVERED 1']);
  });

  test('is followed by another one at once if its thread is deleted, so that nothing is sent', async () => {
    const deletedDocument = { organizationKey: 'org', organizationId: 'acme', documentKey: 'doc' };
    const thread = { ...deletedDocument, annotationId: 'thread', createdAt: system.now, authorId: 'ada' };
    const payload = { source: 'comment', data: {}, audience: { addressed: [], following: [], thread } } as const;
    const deleted = await park(20, { documentId: 'nda', payload });
    const eventId = await parkOne();
    let sentAt: number | undefined;
    hooks.answer('/dead', () => {
      sentAt = system.now;
      return { status: 200 };
    });
    const endOfPause = (await openUntil())!;
    await system.drain();
    expect(await statesOf([...deleted, eventId])).toEqual([...repeated(20, 'CANCELLED 0'), 'DELIVERED 1']);
    expect(sentAt! - endOfPause).toBeLessThan(5 * SECOND);
  });

  test('releases the other parked deliveries if it succeeds, oldest first, 50 per second', async () => {
    const ids = await park(120);
    hooks.answer('/dead', { status: 200 });
    const postTimes: number[] = [];
    hooks.answer('/dead', () => {
      postTimes.push(system.now);
      return { status: 200 };
    });
    hooks.received.length = 0;
    await system.drain();
    expect(await statesOf(ids)).toEqual(repeated(120, 'DELIVERED 1'));
    expect(hooks.at('/dead').map(({ headers }) => headers['webhook-id'])[0]).toBe(ids[0]);
    for (const from of postTimes)
      expect(postTimes.filter((time) => time >= from && time < from + SECOND).length).toBeLessThan(56);
    expect(postTimes.at(-1)! - postTimes[1]!).toBeLessThan(4 * SECOND);
    expect(system.measures.counted.get('DeliveriesReleased')).toBe(119);
    expect(await openUntil()).toBeUndefined();
    expect(await parked()).toBe(0);
    expect(await parkingOf()).toBeUndefined();
  });

  test('releases the other parked deliveries page by page within the rate limit of the endpoint', async () => {
    endpointId = await create({ rateLimit: 2, filterTypes: ['comment.update'] });
    const published: string[] = [];
    const publish = async () => published.push(await system.publish({ event: 'comment.update' }));
    for (let i = 0; i < 10; i++) await publish();
    while ((await openUntil()) === undefined) await system.processNextMessage();
    system.retryQueue.messages.length = 0;
    for (let i = 0; i < 45; i++) await publish();
    await system.drain(system.now);
    hooks.answer('/dead', { status: 200 });
    const from = system.now;
    const ids = published.slice(10);
    let mostWaiting = 0;
    while (await parked()) {
      await system.runNextJob();
      mostWaiting = Math.max(mostWaiting, system.waiting.length);
      await system.drain(system.now);
    }
    // A step releases the deliveries of ten seconds. At most two pages wait in the queue: those of this step and of
    // the step before.
    expect(mostWaiting).toBeLessThanOrEqual(40);
    await system.drain();
    expect(await statesOf(ids)).toEqual(repeated(45, 'DELIVERED 1'));
    expect(system.now - from).toBeGreaterThan(22 * SECOND);
  });
});

describe('the release of parked deliveries', () => {
  test('leaves deliveries parked if the breaker opens again', async () => {
    const ids = await park(620);
    let healthy = 50;
    hooks.answer('/dead', () => ({ status: healthy-- > 0 ? 200 : 500 }));
    hooks.received.length = 0;
    const from = system.now;
    await system.drain(from + 45 * SECOND);
    expect(await openUntil()).toBeGreaterThan(system.now);
    const states = await statesOf(ids);
    expect(states.filter((state) => state === 'DELIVERED 1')).toHaveLength(50);
    expect(hooks.at('/dead').length).toBeLessThan(120);
    // All other deliveries are parked and have no message.
    expect(states.filter((state) => state === 'PENDING 0').length).toBeGreaterThan(500);
    expect(system.waiting.length).toBeLessThan(100);
    hooks.answer('/dead', { status: 200 });
    await system.drain();
    expect(await parked()).toBe(0);
    expect(new Set((await statesOf(ids)).map((state) => state.split(' ')[0]))).toEqual(new Set(['DELIVERED']));
  }, 60_000);

  test('does not delay new deliveries', async () => {
    await park(600);
    hooks.answer('/dead', { status: 200 });
    while ((await openUntil()) !== undefined) {
      await system.runNextJob();
      await system.drain(system.now);
    }
    expect(await parked()).toBeGreaterThan(0);
    const eventId = await system.publish();
    await system.drain(system.now);
    expect(await statesOf([eventId])).toEqual(['DELIVERED 1']);
  }, 30_000);

  test('sends each delivery once if three steps run at the same time', async () => {
    const ids = await park(40);
    const job = (await parkingOf())!;
    await system.table.write([
      upsert(EndpointHealthEntity, { ...(await health())!, tenant, endpointId, breaker: { inARow: 0 } }),
    ]);
    const step = () => system.releaseParked(job);
    await Promise.all([step(), step(), step()]);
    expect(system.retryQueue.messages.map(({ body }) => body.eventId).sort()).toEqual([...ids].sort());
    expect(await parked()).toBe(0);
  });

  test('includes a delivery that a slow worker parks after the breaker closed', async () => {
    await park(1);
    hooks.answer('/dead', { status: 200 });
    const eventId = await system.publish();
    system.firstQueue.messages.length = 0;
    while ((await openUntil()) !== undefined) {
      await system.runNextJob();
      await system.drain(system.now);
    }
    // The job has found no parked delivery. It looks again a minute later, before it ends.
    expect(await parkingOf()).toMatchObject({ notBefore: system.now + MINUTE });
    const [event] = await system.insertedEvents([eventId]);
    const first = toDelivery(event!, endpointId, system.now, system.timing);
    await new DeliveryStore(system.table).replace(first, parkDelivery(first));
    await system.drain();
    expect(await statesOf([eventId])).toEqual(['DELIVERED 1']);
  });
});

describe('a parked delivery', () => {
  test('is exhausted after its deadline together with others, and each emits an event', async () => {
    const ids = await park(60);
    system.now += 20 * HOUR;
    const young = await park(5);
    system.now += 10 * HOUR + 20 * MINUTE;
    await system.drain(system.now + 5 * MINUTE);
    const ended = (await statesOf(ids)).filter((state) => state.startsWith('EXHAUSTED'));
    expect(ended).toHaveLength(60);
    expect((await statesOf(young)).filter((state) => state.startsWith('PENDING'))).toHaveLength(5);
    const exhaustedEvents = await eventsOf('message.attempt.exhausted');
    expect(exhaustedEvents).toHaveLength(ended.length);
    expect(system.measures.counted.get('DeliveriesExhausted')).toBe(ended.length);
    // No endpoint receives these events, so they count as fanned out from the start.
    expect(exhaustedEvents.filter(({ fannedOutAt }) => fannedOutAt === undefined)).toEqual([]);
  });

  test('is exhausted again, with a second event, if it was recovered and no attempt was made', async () => {
    await create({ url: hooks.url('/ops'), filterTypes: ['message.attempt.exhausted'] });
    const eventId = await parkOne();
    const job = (await parkingOf())!;
    const exhaust = async () => {
      system.now += 31 * HOUR;
      await system.releaseParked(job);
      expect(await statesOf([eventId])).toEqual(['EXHAUSTED 0']);
    };
    await exhaust();
    const store = new DeliveryStore(system.table);
    await store.recover({ ...(await delivery(eventId)), tenant }, system.now, system.timing);
    const recovered = await delivery(eventId);
    await store.replace({ ...recovered, tenant }, parkDelivery(recovered));
    await exhaust();
    // An endpoint subscribes to these events, so they are in the outbox.
    const inOutbox = (await eventsOf('message.attempt.exhausted')).map(({ fannedOutAt }) => fannedOutAt);
    expect(inOutbox).toEqual([undefined, undefined]);
  });

  test('disables its endpoint when exhausted, if the endpoint has failed for five days', async () => {
    await park(3);
    const current = (await health())!;
    const failing = { since: system.now - 5 * 24 * HOUR, last: system.now - HOUR, days: 5, warned: 3 };
    await system.table.write([upsert(EndpointHealthEntity, { ...current, tenant, endpointId, failing })]);
    system.now += 31 * HOUR;
    await system.drain(system.now + MINUTE);
    const [listed] = (await customer.ok(paths.list, {})).endpoints;
    expect(listed.disabled).toBe(true);
    expect(system.ownerNotifications).toMatchObject([{ endpointId, stage: 'disabled' }]);
  });

  test.each([
    ['the endpoint is deleted', () => customer.ok(paths.delete, { endpointId })],
    ['advanced webhooks are turned off', () => customer.ok(paths.updateConfig, { isEnabled: false })],
  ])('is cancelled if %s', async (_what, change) => {
    const ids = await park(20);
    await change();
    hooks.received.length = 0;
    await system.runNextJob();
    expect(await statesOf(ids)).toEqual(repeated(20, 'CANCELLED 0'));
    await system.drain();
    expect(hooks.received).toEqual([]);
    expect(await parkingOf()).toBeUndefined();
  });

  const changeUrl = async () => customer.ok(paths.update, { endpointId, url: hooks.url('/better') });

  /** Opens the breaker, parks 20 deliveries, and changes the URL of the endpoint. Returns the ids of their events. */
  const parkAndChange = async (change = changeUrl): Promise<string[]> =>
    withStillClock(async () => {
      system.now = Date.now();
      const ids = await park(20);
      await change();
      return ids;
    });

  const expectReleased = async (ids: readonly string[]) => {
    const job = (await parkingOf())!;
    expect(job.dueAt).toBeLessThan((await openUntil())!);
    system.now += SECOND;
    await system.sweep();
    expect(system.jobs).toEqual([{ tenant, jobId: job.jobId }]);
    await system.releaseParked(job);
    await system.drain(system.now + SECOND);
    expect(await statesOf(ids)).toEqual(ids.map(() => 'DELIVERED 1'));
  };

  test('is released after a change of the endpoint, before the pause would have ended and without a probe', async () => {
    await expectReleased(await parkAndChange());
    expect(hooks.at('/better')).toHaveLength(20);
  });

  test('is released if the endpoint is changed during a probe that fails', () =>
    withStillClock(async () => {
      system.now = Date.now();
      const [, ...ids] = await park(20);
      hooks.answer('/dead', async () => {
        await changeUrl();
        return { status: 500 };
      });
      await system.runNextJob();
      await system.processNextMessage();
      await expectReleased(ids);
    }));

  test('waits for the end of the pause if the endpoint is disabled', async () => {
    await park(1);
    const before = await parkingOf();
    await customer.ok(paths.update, { endpointId, disabled: true });
    expect(await parkingOf()).toEqual(before);
  });

  describe('to a URL of basic webhooks', () => {
    const changeRawUrl = async (path: string) => useBasicWebhooks({ rawNotificationUrl: hooks.url(path) });

    beforeEach(async () => {
      await customer.ok(paths.delete, { endpointId });
      await changeRawUrl('/dead');
      endpointId = 'ep_basic_raw';
    });

    test('is released after a change of the config, before the pause would have ended', async () => {
      await expectReleased(await parkAndChange(() => changeRawUrl('/better')));
    });

    test('waits for the end of the pause if basic webhooks are turned off', async () => {
      await park(1);
      const before = await parkingOf();
      await customer.ok(paths.updateBasic, { useWebhookService: false });
      expect(await parkingOf()).toEqual(before);
    });
  });

  test('is not read by the sweep of due deliveries', async () => {
    await park(20);
    system.now += HOUR;
    await system.sweep();
    // Only the ten failed deliveries are due. The messages of their retries were removed.
    expect(system.measures.counted.get('DeliveriesDue')).toBe(10);
    expect(system.jobs).toEqual([{ tenant, jobId: parkingJob(endpointId, 0).jobId }]);
  });
});
