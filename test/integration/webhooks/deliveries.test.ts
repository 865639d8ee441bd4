import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { EventPayloadEntity } from '../../../lib/events/outbox.ts';
import { upsert } from '../../../lib/table/table.ts';
import { EndpointHealthEntity } from '../../../lib/webhooks/endpointHealth.ts';
import { WebhookEndpointEntity } from '../../../lib/webhooks/endpoints.ts';
import { DeliverySystem, HOUR, MINUTE, SECOND } from '../../support/deliveries.ts';
import { times } from '../../support/times.ts';
import { paths } from '../../support/webhooks.ts';
import { webhookWorld } from '../../support/webhookWorld.ts';

const DAY = 24 * HOUR;

const { customer, hooks, system, createEndpoint, eventsOf, itemsOf, stateOf, useBasicWebhooks } = webhookWorld({
  table: 'both',
});
let tenant: string;

beforeEach(() => {
  tenant = customer.apiKey;
});

/**
 * Fields of an event that has recipients of mails and notifications. Its fan-out writes these too, and stores the
 * first attempts in a group.
 */
const withAudience = { source: 'huddle', data: {}, audience: { addressed: ['grace'], following: [] } } as const;

/** Fields of an event whose data name no user. Its deliveries read the settings a second time only after a wait. */
const withoutUsers = { payload: { source: 'huddle', data: {} } } as const;

describe('the fan-out of an event', () => {
  test('delivers an event once to each matching endpoint, signed with its own secret', async () => {
    const [a, b] = [await createEndpoint('/a'), await createEndpoint('/b', { filterTypes: ['comment.add'] })];
    await createEndpoint('/other', { filterTypes: ['comment.delete'] });
    await createEndpoint('/disabled', { disabled: true });
    await createEndpoint('/channel', { channels: ['x'] });
    const eventId = await system.publish();
    // The event stays in the outbox, and no delivery is stored, until the first attempts end.
    expect([await system.isFannedOut(eventId), await stateOf(eventId, a)]).toEqual([false, undefined]);
    await system.drain();

    expect(hooks.received.map(({ path }) => path).sort()).toEqual(['/a', '/b']);
    for (const [path, endpointId] of [
      ['/a', a],
      ['/b', b],
    ] as const) {
      const { secret } = await customer.ok(paths.getSecret, { endpointId });
      const { headers, body } = hooks.at(path)[0]!;
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({
        event: 'comment.add',
        webhookId: eventId,
        data: { actionUser: { userId: 'ada' } },
      });
      expect(headers['webhook-id']).toBe(eventId);
      expect(await stateOf(eventId, endpointId)).toEqual(['DELIVERED', 1]);
    }
    expect(await system.isFannedOut(eventId)).toBe(true);
    expect(system.measures.counted.get('WebhookAttemptsDelivered')).toBe(2);
    expect(system.measures.recorded.get('FirstAttemptLatency')).toHaveLength(2);
    expect(system.measures.recorded.get('FanOutLatency')).toHaveLength(1);
  });

  test('reports only the event that it cannot fan out as failed', async () => {
    await createEndpoint('/a');
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) ids.push(await system.emit({ payload: withAudience }));
    const [, bad] = ids;
    const seen: unknown[] = [];
    const concerns = async () => true;
    system.replacedPorts.fanOut = {
      consumers: [
        () => ({
          concerns,
          consume: async ({ eventId }) => (eventId === bad ? Promise.reject(new Error('no')) : undefined),
        }),
        () => ({ concerns, consume: async (event) => void seen.push(event) }),
      ],
    };
    expect(await system.fanOut(...ids)).toEqual([bad]);
    expect(await Promise.all(ids.map((eventId) => system.isFannedOut(eventId)))).toEqual([true, false, true]);
    // The webhooks of the event and its other consumers do not fail with it.
    expect(seen).toMatchObject(
      ids.map((eventId) => ({ tenant, eventId, event: 'comment.add', payload: { source: 'huddle' } })),
    );
    await system.drain();
    expect(hooks.at('/a')).toHaveLength(3);

    // The event whose fan-out failed is still in the outbox, where the sweep finds it.
    system.replacedPorts.fanOut = {};
    system.now += 3 * MINUTE + 1;
    await system.sweep();
    await system.drain();
    expect(
      hooks
        .at('/a')
        .map(({ headers }) => String(headers['webhook-id']))
        .sort(),
    ).toEqual(ids.toSorted());
  });

  test('delivers basic webhooks to both URLs with the auth token, and no advanced ones while these are disabled', async () => {
    const endpointId = await createEndpoint('/a');
    await customer.ok(paths.updateConfig, { isEnabled: false });
    await useBasicWebhooks({
      authToken: 's3cret',
      rawNotificationUrl: hooks.url('/raw'),
      processedNotificationUrl: hooks.url('/processed'),
      triggers: { 'huddle.join': false },
    });
    const eventId = await system.publish({ event: 'huddle.create' });
    const other = await system.publish({ event: 'huddle.join' });
    await system.drain();
    expect(
      hooks.received.map(({ path, headers }) => [path, headers.authorization, headers['webhook-id']]).sort(),
    ).toEqual([
      ['/processed', 'Basic s3cret', eventId],
      ['/raw', 'Basic s3cret', eventId],
    ]);
    expect(JSON.parse(hooks.at('/raw')[0]!.body)).toMatchObject({
      webhookId: eventId,
      actionType: 'created',
      notificationSource: 'huddle',
    });
    const deliveries = [stateOf(eventId, 'ep_basic_raw'), stateOf(other, 'ep_basic_raw'), stateOf(eventId, endpointId)];
    expect(await Promise.all(deliveries)).toEqual([['DELIVERED', 1], undefined, undefined]);
  });
});

describe('a failed attempt', () => {
  test('is repeated up to eight times in 27.6 hours. Then the delivery is exhausted and emits an event', async () => {
    const endpointId = await createEndpoint('/dead', { filterTypes: ['comment.add'] });
    await createEndpoint('/ops', { filterTypes: ['message.attempt.exhausted'] });
    const moments: number[] = [];
    const from = system.now;
    hooks.answer('/dead', () => {
      moments.push(system.now - from);
      return { status: 500, body: 'no' };
    });
    const eventId = await system.publish();
    await system.runUntilEnded(eventId, [endpointId]);

    const due = [0, 5, 305, 2_105, 9_305, 27_305, 63_305, 99_305];
    expect(moments.map((time, index) => Math.abs(time / SECOND - due[index]!) < 10)).toEqual(due.map(() => true));
    expect(await stateOf(eventId, endpointId)).toEqual(['EXHAUSTED', 8]);
    const failed = { endpointId, outcome: 'failed', responseStatus: 500, error: 'status 500', byHand: false };
    expect(await system.attempts(eventId)).toMatchObject(
      due.map((_time, index) => ({ ...failed, attempt: index + 1 })),
    );

    // An event about the exhausted delivery is in the outbox. It was not fanned out yet.
    const exhaustedEvents = await eventsOf('message.attempt.exhausted');
    expect(exhaustedEvents).toHaveLength(1);
    await system.fanOut(exhaustedEvents[0]!.eventId);
    await system.drain();
    expect(JSON.parse(hooks.at('/ops')[0]!.body)).toMatchObject({
      event: 'message.attempt.exhausted',
      source: 'operational',
      data: {
        messageId: eventId,
        event: 'comment.add',
        endpointId,
        attempts: 8,
        lastAttempt: { outcome: 'failed', responseStatus: 500 },
      },
    });
  });

  test('of an operational event emits no further event', async () => {
    system.timing = { ...system.timing, schedule: [0] };
    const endpointId = await createEndpoint('/dead');
    hooks.answer('/dead', { status: 500 });
    const eventId = await system.publish({ event: 'message.attempt.exhausted' });
    await system.drain();
    expect(await stateOf(eventId, endpointId)).toEqual(['EXHAUSTED', 1]);
    expect(await itemsOf('Event')).toHaveLength(1);
  });

  test('with Retry-After delays the next attempt', async () => {
    const endpointId = await createEndpoint('/busy');
    hooks.answer('/busy', { status: 503, headers: { 'retry-after': '8' } });
    const eventId = await system.publish();
    await system.processNextMessage();
    expect((await system.delivery(eventId, endpointId))!.nextAt! - system.now).toBe(8 * SECOND);
  });

  test('is logged with 16 KiB of the response, and a failed log write changes no delivery', async () => {
    const endpointId = await createEndpoint('/long');
    const bytes = Buffer.alloc(40_000, Buffer.from([0xff, 0x00, 0x41]));
    hooks.answer('/long', { status: 200, body: bytes });
    const eventId = await system.publish();
    await system.drain();
    const [attempt] = await system.attempts(eventId);
    expect(Buffer.from(attempt!.responseBody!).equals(bytes.subarray(0, 16 * 1024))).toBe(true);

    const real = system.attemptPorts.deliveries;
    system.replacedPorts.attempt = {
      deliveries: {
        get: (key) => real.get(key),
        replace: (...change) => real.replace(...change),
        logAttempt: async () => Promise.reject(new Error('throttled')),
      },
    };
    const unlogged = await system.publish();
    await system.drain();
    expect(await stateOf(unlogged, endpointId)).toEqual(['DELIVERED', 1]);
    expect(hooks.at('/long')).toHaveLength(2);
    expect(system.errors).toMatchObject([{ message: 'webhook attempt not recorded' }]);
  });
});

describe('a worker that receives a queue message', () => {
  test('makes a first attempt once if its message arrives twice', async () => {
    const endpointId = await createEndpoint('/a');
    const eventId = await system.publish();
    const { body } = system.firstQueue.messages[0]!;
    await system.processMessage(body);
    await system.processMessage(body);
    expect(hooks.at('/a')).toHaveLength(1);
    expect(await stateOf(eventId, endpointId)).toEqual(['DELIVERED', 1]);
  });

  test('may send a first attempt twice if two workers receive its message, but counts one attempt', async () => {
    const endpointId = await createEndpoint('/a');
    const eventId = await system.publish();
    const { body } = system.firstQueue.messages[0]!;
    await Promise.all([1, 2].map(() => system.processMessage(body)));
    expect(hooks.at('/a').map(({ headers }) => headers['webhook-id'])).toEqual([eventId, eventId]);
    expect(await stateOf(eventId, endpointId)).toEqual(['DELIVERED', 1]);
    expect((await system.attempts(eventId)).map(({ attempt }) => attempt)).toEqual([1, 1]);
  });

  test('marks a message as delivered if one of two simultaneous first attempts succeeds', async () => {
    const endpointId = await createEndpoint('/a');
    const eventId = await system.publish();
    const { body } = system.firstQueue.messages[0]!;
    // The success is the last of the two results.
    hooks.answer('/a', async (_hook, nth) => {
      if (nth > 1) return { status: 500 };
      while (!(await stateOf(eventId, endpointId))) await new Promise((resolve) => setImmediate(resolve));
      return { status: 200 };
    });
    await Promise.all([1, 2].map(() => system.processMessage(body)));
    expect(await stateOf(eventId, endpointId)).toEqual(['DELIVERED', 2]);
    const attempts = await system.attempts(eventId);
    expect(attempts.map(({ outcome }) => outcome).sort()).toEqual(['delivered', 'failed']);
  });

  test('sends a message that arrives too early to the queue again, with a delay', async () => {
    const endpointId = await createEndpoint('/a');
    hooks.answer('/a', { status: 500 });
    const eventId = await system.publish();
    await system.processNextMessage();
    await system.processNextMessage();
    const { body } = system.retryQueue.messages[0]!;
    system.retryQueue.messages.length = 0;
    await system.processMessage(body);
    expect(hooks.at('/a')).toHaveLength(2);
    expect(system.retryQueue.messages).toMatchObject([{ body: { attemptNo: 3 }, visibleAt: system.now + 5 * MINUTE }]);
    expect(await stateOf(eventId, endpointId)).toEqual(['PENDING', 2]);
  });

  test('ignores the message of an unknown delivery', async () => {
    await system.processMessage({ tenant, eventId: 'msg_none', endpointId: 'ep_none', attemptNo: 1 });
    expect(system.errors).toEqual([]);
  });

  test.each(['deleted', 'disabled', 'advanced webhooks disabled'])(
    'sends nothing to an endpoint that was %s before the attempt, and cancels its deliveries',
    async (change) => {
      const endpointId = await createEndpoint('/a');
      const eventId = await system.publish();
      if (change === 'deleted') await customer.ok(paths.delete, { endpointId });
      else if (change === 'disabled') await customer.ok(paths.update, { endpointId, disabled: true });
      else await customer.ok(paths.updateConfig, { isEnabled: false });
      await system.drain();
      expect(hooks.received).toEqual([]);
      expect(await stateOf(eventId, endpointId)).toEqual(['CANCELLED', 0]);
    },
  );

  test('makes no first attempt if the endpoint was deleted while the attempt waited for its slot', async () => {
    const endpointId = await createEndpoint('/a', { rateLimit: 1 });
    const eventId = await system.publish(withoutUsers);
    system.replacedPorts.attempt = {
      slots: { reserve: async () => system.now + SECOND },
      sleep: async () => void (await customer.ok(paths.delete, { endpointId })),
    };
    await system.processNextMessage();
    expect(hooks.received).toEqual([]);
    expect(await stateOf(eventId, endpointId)).toEqual(['CANCELLED', 0]);
  });

  test('uses the settings at the time of the delivery, also after earlier deliveries of the same process', async () => {
    const endpointId = await createEndpoint('/a');
    const changes = [
      () => undefined,
      () => customer.ok(paths.update, { endpointId, url: hooks.url('/b') }),
      () => customer.ok(paths.updateConfig, { encodeData: true }),
      () => customer.ok(paths.delete, { endpointId }),
    ];
    for (const change of changes) {
      await system.publish();
      await change();
      await system.drain();
    }
    expect(hooks.received.map(({ path, body }) => [path, Object.hasOwn(JSON.parse(body), 'encodedPayload')])).toEqual([
      ['/a', false],
      ['/b', false],
      ['/b', true],
    ]);
  });

  test('only logs an attempt that ends after its lease if another worker has made the attempt', async () => {
    const endpointId = await createEndpoint('/slow');
    const eventId = await system.publish();
    const { body } = system.firstQueue.messages[0]!;
    hooks.answer('/slow', async (_hook, nth) => {
      if (nth > 1) return { status: 200 };
      system.now += 61 * SECOND;
      await system.processMessage(body);
      return { status: 500 };
    });
    await system.processMessage(body);
    expect(await stateOf(eventId, endpointId)).toEqual(['DELIVERED', 1]);
    expect((await system.attempts(eventId)).map(({ attempt, outcome }) => [attempt, outcome]).sort()).toEqual([
      [1, 'delivered'],
      [1, 'failed'],
    ]);
  });
});

describe('the rate limit of an endpoint', () => {
  /** Records the simulated time of each request to the path `/limited`. */
  const recordMoments = () => {
    const moments: number[] = [];
    hooks.answer('/limited', () => {
      moments.push(system.now);
      return { status: 200 };
    });
    return moments;
  };
  const mostPerSecond = (moments: readonly number[]) =>
    Math.max(...moments.map((from) => moments.filter((time) => time >= from && time < from + SECOND).length));

  test('delays deliveries above the limit without counting attempts', async () => {
    const endpointId = await createEndpoint('/limited', { rateLimit: 10 });
    const ids = await system.publishMany(36);
    const moments = recordMoments();
    await system.drainInParallel();
    expect(moments).toHaveLength(36);
    // deliveryRuntime.test.ts checks the exact limit.
    expect(mostPerSecond(moments)).toBeLessThanOrEqual(11);
    for (const eventId of ids) expect(await stateOf(eventId, endpointId)).toEqual(['DELIVERED', 1]);
    expect(system.measures.counted.get('RateLimitedDeliveries')).toBeGreaterThan(0);
    expect(moments.at(-1)! - moments[0]!).toBeLessThan((35 / 10) * SECOND * 1.1);
  });

  test('is kept in any second even if a request takes long to prepare', async () => {
    await createEndpoint('/limited', { rateLimit: 20 });
    await system.publishMany(60);
    const { requests, sleep } = system.attemptPorts;
    let calls = 0;
    system.replacedPorts.attempt = {
      requests: {
        async prepare(...attempt) {
          // The preparation lasts longer than the slots of the first second, so these expire.
          await sleep(calls++ < 20 ? SECOND : 0);
          return requests.prepare(...attempt);
        },
      },
    };
    const moments = recordMoments();
    await system.drainInParallel();
    expect(moments).toHaveLength(60);
    expect(mostPerSecond(moments)).toBeLessThanOrEqual(22);
  });

  test('delays messages for longer than a queue can, and does not treat them as lost', async () => {
    const endpointId = await createEndpoint('/limited', { rateLimit: 1 });
    const slots = [700, 2_000].map((seconds) => system.now + seconds * SECOND);
    system.replacedPorts.attempt = {
      slots: { reserve: async () => slots.shift() ?? system.now },
    };
    const [near, far] = [await system.publish(), await system.publish()];
    const from = system.now;
    await system.drain(from + SECOND);
    expect(await system.delivery(near, endpointId)).toMatchObject({
      attempts: 0,
      slot: from + 700 * SECOND,
    });
    expect((await system.delivery(near, endpointId))!.dueAt!).toBeGreaterThan(from + 700 * SECOND + 4 * MINUTE);
    expect(system.waiting).toHaveLength(1);
    await system.runUntilEnded(near, [endpointId]);
    await system.runUntilEnded(far, [endpointId]);
    expect(hooks.received).toHaveLength(2);
    expect(system.now - from).toBeGreaterThanOrEqual(2_000 * SECOND);
    expect(system.now - from).toBeLessThan(2_010 * SECOND);
  });

  test('applies to waiting deliveries as soon as it is lowered', async () => {
    const endpointId = await createEndpoint('/limited', { rateLimit: 20 });
    await system.publishMany(80);
    const moments: number[] = [];
    let changedAt = Infinity;
    hooks.answer('/limited', async () => {
      moments.push(system.now);
      if (moments.length === 1) {
        changedAt = system.now;
        await customer.ok(paths.update, { endpointId, rateLimit: 2 });
      }
      return { status: 200 };
    });
    await system.drainInParallel();
    expect(moments).toHaveLength(80);
    // Workers wait up to 2 s for slots that they reserved before the change.
    const later = moments.filter((time) => time > changedAt + 2 * SECOND);
    expect(later.length).toBeGreaterThan(20);
    expect(mostPerSecond(later)).toBeLessThanOrEqual(2);
  });

  test.each([
    ['gets a higher limit', { rateLimit: 10 }],
    ['is enabled again', { disabled: false }],
  ])('does not delay new deliveries behind earlier ones after the endpoint %s', async (_what, change) => {
    const endpointId = await createEndpoint('/limited', { rateLimit: 1 });
    await system.publishMany(30);
    const messages = system.firstQueue.messages.splice(0);
    await Promise.all(messages.map(({ body }) => system.processMessage(body)));
    if ('disabled' in change) await customer.ok(paths.update, { endpointId, disabled: true });
    await customer.ok(paths.update, { endpointId, ...change });
    const eventId = await system.publish();
    await system.drain(system.now + 3 * SECOND);
    expect(await stateOf(eventId, endpointId)).toEqual(['DELIVERED', 1]);
  });

  test('can be as high as a number can be', async () => {
    const endpointId = await createEndpoint('/limited', { rateLimit: Number.MAX_SAFE_INTEGER });
    const ids = await system.publishMany(3);
    await system.drain(system.now);
    for (const eventId of ids) expect(await stateOf(eventId, endpointId)).toEqual(['DELIVERED', 1]);
  });

  test('gives parallel workers different slots', async () => {
    const { slots: own } = system.attemptPorts;
    const limit = { rateLimit: 100, revision: 1 };
    const slots = await Promise.all(
      times(64, () => own.reserve({ tenant, endpointId: 'ep_1' }, limit, () => system.now)),
    );
    expect(slots.sort((a, b) => a - b)).toEqual(times(64, (index) => system.now + index * 10));
    // Another process gets the next free slots. If it starts much later, its slot is at its own time.
    const other = new DeliverySystem(tenant).attemptPorts.slots;
    expect(await other.reserve({ tenant, endpointId: 'ep_1' }, limit, () => system.now)).toBe(system.now + 640);
    expect(await other.reserve({ tenant, endpointId: 'ep_1' }, limit, () => system.now + MINUTE)).toBe(
      system.now + MINUTE,
    );
    // Each endpoint has its own limit.
    expect(await other.reserve({ tenant, endpointId: 'ep_2' }, limit, () => system.now)).toBe(system.now);
  });
});

describe('a slow endpoint', () => {
  test('is recorded during an attempt, and its next first attempts use the queue of retries', async () => {
    const endpointId = await createEndpoint('/slow');
    await createEndpoint('/fast');
    const health = async () => system.table.get(EndpointHealthEntity, { tenant, endpointId });
    // The receiver does not answer before the endpoint counts as slow.
    hooks.answer('/slow', async () => {
      while (!(await health())?.slowUntil) await new Promise((resolve) => setImmediate(resolve));
      return { status: 200 };
    });
    const yieldToEventLoop = jest.fn(async () => undefined);
    system.replacedPorts.attempt = { yieldToEventLoop };
    const first = await system.publish();
    await system.drain();
    expect(await stateOf(first, endpointId)).toEqual(['DELIVERED', 1]);
    expect(yieldToEventLoop).toHaveBeenCalledTimes(1);
    expect((await health())?.slowUntil).toBeGreaterThan(system.now);

    const second = await system.publish();
    await system.processFirstQueue();
    expect(hooks.at('/fast')).toHaveLength(2);
    expect(hooks.at('/slow')).toHaveLength(1);
    expect(system.retryQueue.messages).toMatchObject([{ body: { eventId: second, endpointId, attemptNo: 1 } }]);
    await system.drain();
    expect(await stateOf(second, endpointId)).toEqual(['DELIVERED', 1]);

    // A minute later, the queue of first attempts serves the slow endpoint again.
    system.now += MINUTE + SECOND;
    await system.publish();
    await system.processFirstQueue();
    expect(hooks.at('/slow')).toHaveLength(3);
  });
});

describe('a healthy endpoint', () => {
  test('gets its request before unhealthy endpoints of the same message are stored', async () => {
    const [slow, dead, failing] = [
      await createEndpoint('/slow'),
      await createEndpoint('/dead'),
      await createEndpoint('/failing'),
    ];
    const healthy = await createEndpoint('/healthy');
    const { now, table } = system;
    const open = { until: now + HOUR, pauseMs: HOUR };
    for (const [endpointId, fields] of [
      [slow, { breaker: { inARow: 0 }, slowUntil: now + HOUR }],
      [dead, { breaker: { inARow: 10, open } }],
    ] as const)
      await table.write([upsert(EndpointHealthEntity, { tenant, endpointId, about: 1, writtenAt: now, ...fields })]);
    const healthyHasRequest = Promise.withResolvers<undefined>();
    const yieldToEventLoop = jest.fn(() => healthyHasRequest.promise);
    system.replacedPorts.attempt = { yieldToEventLoop };
    const eventId = await system.publish();
    const states = () => Promise.all([slow, dead, failing].map((endpointId) => stateOf(eventId, endpointId)));
    hooks.answer('/failing', { status: 500 });
    const statesAtRequest: unknown[] = [];
    hooks.answer('/healthy', async () => {
      statesAtRequest.push(...(await states()));
      healthyHasRequest.resolve(undefined);
      return { status: 200 };
    });
    await system.processFirstQueue();
    expect(statesAtRequest).toEqual([undefined, undefined, undefined]);
    expect(await states()).toEqual([
      ['PENDING', 0],
      ['PENDING', 0],
      ['PENDING', 1],
    ]);
    expect(await stateOf(eventId, healthy)).toEqual(['DELIVERED', 1]);
    expect(yieldToEventLoop).toHaveBeenCalledTimes(3);
  });

  test('gets its request before endpoints of the same message that this process has not reached', async () => {
    const failing = await createEndpoint('/failing');
    hooks.answer('/failing', { status: 500 });
    const healthy = await createEndpoint('/healthy');
    const publishAndAttempt = async () => {
      const eventId = await system.publish(withoutUsers);
      await system.processFirstQueue();
      return eventId;
    };
    await publishAndAttempt();
    const healthyHasRequest = Promise.withResolvers<undefined>();
    const failingRequests: number[] = [];
    hooks.answer('/healthy', async () => {
      failingRequests.push(hooks.at('/failing').length);
      healthyHasRequest.resolve(undefined);
      return { status: 200 };
    });
    const requestsWritten = jest.fn(() => healthyHasRequest.promise);
    system.replacedPorts.attempt = { requestsWritten };
    const eventId = await publishAndAttempt();
    expect(requestsWritten).toHaveBeenCalledTimes(1);
    expect(failingRequests).toEqual([1]);
    expect(await stateOf(eventId, healthy)).toEqual(['DELIVERED', 1]);
    expect(await stateOf(eventId, failing)).toEqual(['PENDING', 1]);

    // A deletion during the wait is seen before the request.
    system.replacedPorts.attempt = {
      requestsWritten: async () => void (await customer.ok(paths.delete, { endpointId: failing })),
    };
    const later = await publishAndAttempt();
    expect(hooks.at('/failing')).toHaveLength(2);
    expect(await stateOf(later, failing)).toEqual(['CANCELLED', 0]);
  });
});

describe('the breaker of an endpoint', () => {
  const failTenTimes = async () => {
    hooks.answer('/dead', { status: 500 });
    await system.publishMany(10);
    await system.processMessages(10);
  };

  test('lets one probe pass after the pause, and all other deliveries after the probe succeeds', async () => {
    const dead = await createEndpoint('/dead');
    await failTenTimes();
    const ids = await system.publishMany(5);
    system.now += 40 * SECOND;
    let answer: () => void = () => undefined;
    const waits = new Promise<void>((resolve) => (answer = resolve));
    hooks.answer('/dead', async () => {
      await waits;
      return { status: 200 };
    });
    const messages = system.firstQueue.messages
      .filter(({ body }) => ids.includes(body.eventId))
      .map(({ body }) => body);
    system.firstQueue.messages.length = 0;
    const work = messages.map((message) => system.processMessage(message));
    await Promise.race(work);
    while (hooks.at('/dead').length < 11) await new Promise((resolve) => setImmediate(resolve));
    answer();
    await Promise.all(work);
    expect(hooks.at('/dead')).toHaveLength(11);
    const health = await system.table.get(EndpointHealthEntity, { tenant, endpointId: dead });
    expect(health).toMatchObject({ breaker: { inARow: 0 } });
    expect(health?.breaker.open).toBeUndefined();
    for (const eventId of ids) await system.runUntilEnded(eventId, [dead]);
    expect(await Promise.all(ids.map((eventId) => stateOf(eventId, dead)))).toEqual(ids.map(() => ['DELIVERED', 1]));
  });

  test('lets a paused delivery become exhausted after its deadline', async () => {
    const dead = await createEndpoint('/dead');
    await failTenTimes();
    const eventId = await system.publish();
    for (const message of [...system.firstQueue.messages]) await system.processMessage(message.body);
    expect(await stateOf(eventId, dead)).toEqual(['PENDING', 0]);
    system.now += 31 * HOUR;
    await system.processMessage({ tenant, eventId, endpointId: dead, attemptNo: 1 });
    expect(await stateOf(eventId, dead)).toEqual(['EXHAUSTED', 0]);
    expect(system.measures.counted.get('DeliveriesExhausted')).toBe(1);
  });
});

describe('an endpoint that fails for days', () => {
  /** Stores the health of an endpoint that has failed for days. Returns the time of its first failure. */
  const failingSince = async (endpointId: string, days: number, warned = 3) => {
    const { _r } = (await system.table.get(WebhookEndpointEntity, { tenant, endpointId }))!;
    const since = system.now - days * DAY;
    await system.table.write([
      upsert(EndpointHealthEntity, {
        tenant,
        endpointId,
        about: _r,
        breaker: { inARow: 0 },
        failing: { since, last: system.now - HOUR, days: 4, warned },
        writtenAt: system.now - HOUR,
      }),
    ]);
    return since;
  };

  const isDisabled = async (endpointId: string) =>
    (await customer.ok(paths.list, {})).endpoints.find(({ id }: { id: string }) => id === endpointId).disabled;

  test('is disabled after five days without a success, with an event, a mail and cancelled deliveries', async () => {
    system.timing = { ...system.timing, schedule: [0, 5 * SECOND] };
    const endpointId = await createEndpoint('/dead', { filterTypes: ['comment.add'] });
    await createEndpoint('/ops', { filterTypes: ['endpoint.disabled'] });
    hooks.answer('/dead', { status: 500 });
    const since = await failingSince(endpointId, 5);
    const [first, second] = [await system.publish(), await system.publish()];
    await system.processMessages(3);
    expect(await stateOf(first, endpointId)).toEqual(['EXHAUSTED', 2]);
    expect(await isDisabled(endpointId)).toBe(true);
    expect(system.ownerNotifications).toEqual([
      { tenant, endpointId, url: hooks.url('/dead'), stage: 'disabled', failingSince: since },
    ]);
    expect(system.measures.counted.get('EndpointsDisabled')).toBe(1);

    await system.drain();
    expect(await stateOf(second, endpointId)).toEqual(['CANCELLED', 1]);
    expect(hooks.at('/dead')).toHaveLength(3);
    const disabledEvents = await eventsOf('endpoint.disabled');
    expect(disabledEvents).toHaveLength(1);
    await system.fanOut(disabledEvents[0]!.eventId);
    await system.drain();
    expect(JSON.parse(hooks.at('/ops')[0]!.body)).toMatchObject({
      data: { endpointId, firstFailureAt: new Date(since).toISOString(), metadata: { apiKey: tenant } },
    });

    // After an endpoint is enabled again, its earlier failures do not count.
    await customer.ok(paths.update, { endpointId, disabled: false });
    hooks.answer('/dead', { status: 500 });
    await system.publish();
    await system.drain();
    expect(await isDisabled(endpointId)).toBe(false);
  });

  test('stays enabled if a success arrives while it is being disabled', async () => {
    system.timing = { ...system.timing, schedule: [0] };
    const endpointId = await createEndpoint('/dead');
    hooks.answer('/dead', { status: 500 });
    await failingSince(endpointId, 6);
    const store = system.attemptPorts.health;
    system.replacedPorts.attempt = {
      health: {
        write: (...args) => store.write(...args),
        async get(key) {
          const health = (await store.get(key))!;
          return { ...health, failing: { ...health.failing!, since: system.now - HOUR } };
        },
      },
    };
    const eventId = await system.publish();
    await system.drain();
    expect(await stateOf(eventId, endpointId)).toEqual(['EXHAUSTED', 1]);
    expect(await isDisabled(endpointId)).toBe(false);
  });

  test('causes one warning to the owner, which a later attempt repeats if it fails', async () => {
    const endpointId = await createEndpoint('/dead');
    hooks.answer('/dead', { status: 500 });
    await failingSince(endpointId, 1, 0);
    system.replacedPorts.attempt = { notifyOwner: async () => Promise.reject(new Error('no mail')) };
    const eventId = await system.publish();
    await system.processFirstQueue();
    expect(await stateOf(eventId, endpointId)).toEqual(['PENDING', 1]);
    expect(system.errors).toMatchObject([{ message: 'owner notification failed' }]);
    system.replacedPorts = {};
    await system.publishMany(2);
    await system.processFirstQueue();
    expect(system.ownerNotifications.map(({ stage }) => stage)).toEqual([1]);
  });
});

test('a delivery has a payload that is an item of its own, and is cancelled if the payload has expired', async () => {
  const payload = { source: 'comment', data: { text: 'x'.repeat(3_000) } } as const;
  const endpointId = await createEndpoint('/a');
  await system.publish({ payload });
  await system.drain();
  expect(JSON.parse(hooks.at('/a')[0]!.body)).toMatchObject({ data: payload.data });
  const eventId = await system.publish({ payload });
  await system.table.write([{ remove: EventPayloadEntity.key({ tenant, eventId }) }]);
  await system.drain();
  expect(await stateOf(eventId, endpointId)).toEqual(['CANCELLED', 0]);
});
