import { beforeEach, describe, expect, test } from '@jest/globals';
import { worker as runJobs } from '../../../functions/workers/runJobs.ts';
import { environment, openAll } from '../../../lib/app/capability.ts';
import { JobEntity, type JobMessage, JobStore } from '../../../lib/jobs/jobStore.ts';
import { runJob, type RunJobDeps } from '../../../lib/jobs/runJob.ts';
import { upsert } from '../../../lib/table/table.ts';
import { DeliveryEntity, DeliveryStore } from '../../../lib/webhooks/deliveries.ts';
import type { DeliveryMessage } from '../../../lib/webhooks/deliveryMessage.ts';
import { EndpointHealthEntity } from '../../../lib/webhooks/endpointHealth.ts';
import { EndpointSlotsEntity } from '../../../lib/webhooks/rateSlots.ts';
import { recoverStep, startRecovery } from '../../../lib/webhooks/recover.ts';
import type { DeliveryStatus } from '../../../lib/webhooks/rules/delivery.ts';
import { forAllTests } from '../../support/acmeWorld.ts';
import { DeliverySystem, HOUR, MINUTE, SECOND } from '../../support/deliveries.ts';
import { workerHandler } from '../../support/functionHandlers.ts';
import { startQueues } from '../../support/queues.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { newWebhookCustomer, outcome, paths } from '../../support/webhooks.ts';
import { webhookWorld } from '../../support/webhookWorld.ts';
import { lambdaContext, messagesEvent, recordingMeasures, silentLog } from '../../support/workers.ts';

const ADVANCED = '/v2/workspace/advancedwebhook';
const [TEST, RECOVER, RESEND] = [
  `${ADVANCED}/endpoints/test`,
  `${ADVANCED}/endpoints/recover`,
  `${ADVANCED}/messages/resend`,
] as const;
const DAY = 24 * HOUR;

const { customer, hooks, system, createEndpoint, stateOf, useBasicWebhooks } = webhookWorld({
  table: 'memory',
});
const queues = forAllTests(startQueues);
let tenant: string;

beforeEach(() => {
  queues.clear();
  tenant = customer.apiKey;
});

const attempts = async (messageId: string): Promise<any[]> =>
  (await customer.ok(`${ADVANCED}/attempts/get`, { messageId })).attempts;
const disabled = [
  'FAILED_PRECONDITION',
  'The endpoint is disabled. Enable it with POST /v2/workspace/advancedwebhook/endpoints/update with { "disabled": false }.',
];
const unknown = ['NOT_FOUND', 'Advanced webhook provider request failed. No endpoint has this endpointId.'];

/** Processes the messages that endpoints sent to a queue. Returns them. */
async function workOn(queue: 'deliver' | 'deliverSlow'): Promise<DeliveryMessage[]> {
  const messages = queues.messagesOf(queue).map(({ body }) => body as DeliveryMessage);
  queues.clear();
  // Endpoints read the real clock. The workers' clock must not be behind it.
  system.now = Math.max(system.now, Date.now());
  for (const message of messages) await system.processMessage(message, { isFirstQueue: queue === 'deliver' });
  return messages;
}

describe('endpoints/test, endpoints/recover and messages/resend', () => {
  const calls = [
    [TEST, {}],
    [RECOVER, { since: Date.now() }],
    [RESEND, { messageId: 'm' }],
  ] as const;

  test.each(calls)('%s is rejected for an unknown endpoint or an endpoint of another tenant', async (path, data) => {
    const theirs = (await (await newWebhookCustomer()).ok(paths.create, { url: hooks.url('/a') })).id;
    for (const endpointId of ['ep_none', theirs, 'ep_basic_raw'])
      expect(await outcome(customer, path, { endpointId, ...data })).toEqual(unknown);
  });

  test('are rejected for a disabled endpoint, and while advanced webhooks are disabled', async () => {
    const endpointId = await createEndpoint('/a', { disabled: true });
    expect(await outcome(customer, TEST, { endpointId })).toEqual(disabled);
    await customer.ok(paths.update, { endpointId, disabled: false });
    await customer.ok(paths.updateConfig, { isEnabled: false });
    expect((await outcome(customer, TEST, { endpointId }))[0]).toBe('FAILED_PRECONDITION');
  });

  test.each([
    [RECOVER, { since: '2026-11-29T12:00:00' }, 'since must have a time zone, such as Z'],
    [RECOVER, { since: Date.now() - 14 * DAY - MINUTE }, 'since must be at most 14 days ago'],
  ] as const)('%s with %j is rejected with the name of the field', async (path, data, message) => {
    expect(await outcome(customer, path, { endpointId: 'ep_1', ...data })).toEqual(['INVALID_ARGUMENT', message]);
  });
});

describe('POST /v2/workspace/advancedwebhook/endpoints/test', () => {
  test('sends a sample to the endpoint only, for any filters, and lists the sample as a message', async () => {
    const endpointId = await createEndpoint('/a', { filterTypes: ['huddle.join'], channels: ['x'] });
    await createEndpoint('/b');
    const { messageId } = await customer.ok(TEST, { endpointId });
    expect(await workOn('deliver')).toEqual([
      { tenant, eventId: messageId, endpointId, group: expect.any(String), attemptNo: 1 },
    ]);
    // The first attempts of the event are stored already. So the fan-out worker skips the event when it comes from the
    // stream.
    await system.fanOut(messageId);
    expect(system.waiting).toEqual([]);
    expect(
      hooks.received.map(({ path, headers, body }) => [path, headers['webhook-id'], JSON.parse(body).event]),
    ).toEqual([['/a', messageId, 'comment.add']]);
    expect(await attempts(messageId)).toMatchObject([
      { endpointId, attempt: 1, outcome: 'delivered', responseStatus: 200 },
    ]);
    const { messages } = await customer.ok(`${ADVANCED}/messages/get`, {});
    expect(messages).toMatchObject([
      {
        id: messageId,
        event: 'comment.add',
        deliveries: [{ endpointId, status: 'delivered', attempts: 1, nextAttemptAt: null }],
      },
    ]);
  });

  test('sends a sample of the event of the request', async () => {
    await customer.ok(TEST, { endpointId: await createEndpoint('/a'), event: 'huddle.create' });
    await workOn('deliver');
    expect(hooks.received.map(({ body }) => JSON.parse(body).event)).toEqual(['huddle.create']);
  });

  test('sends the sample at once while the circuit breaker is open, and parks it if the attempt fails', async () => {
    const endpointId = await createEndpoint('/a', { filterTypes: ['huddle.join'] });
    hooks.answer('/a', { status: 500 });
    await system.publishMany(11, { event: 'huddle.join' });
    for (const { body } of system.firstQueue.messages) await system.processMessage(body);
    expect(hooks.received).toHaveLength(10);
    const { messageId: failing } = await customer.ok(TEST, { endpointId });
    await workOn('deliver');
    hooks.answer('/a', { status: 200 });
    const { messageId: working } = await customer.ok(TEST, { endpointId });
    await workOn('deliver');
    expect(hooks.received).toHaveLength(12);
    expect(await stateOf(failing, endpointId)).toEqual(['PENDING', 1]);
    expect(await stateOf(working, endpointId)).toEqual(['DELIVERED', 1]);
    system.now += 10 * SECOND;
    await system.processMessage({ tenant, eventId: failing, endpointId, attemptNo: 2 });
    expect(hooks.received).toHaveLength(12);
  });

  /** Writes the health of an endpoint: it is slow, and its circuit breaker is open for `duration`. */
  const pause = async (endpointId: string, duration = MINUTE) => {
    const until = Date.now() + duration;
    const breaker = { inARow: 10, open: { until, pauseMs: MINUTE } };
    await system.table.write([
      upsert(EndpointHealthEntity, { tenant, endpointId, about: 1, breaker, slowUntil: until, writtenAt: Date.now() }),
    ]);
  };

  test('sends the sample at once to an endpoint that is slow and paused', async () => {
    const endpointId = await createEndpoint('/a');
    await pause(endpointId);
    const { messageId } = await customer.ok(TEST, { endpointId });
    await workOn('deliver');
    expect(await stateOf(messageId, endpointId)).toEqual(['DELIVERED', 1]);
  });

  describe('to an endpoint that is paused and whose next slot in the rate limit is in 10 seconds', () => {
    const sendTest = async () => {
      system.now = Date.now();
      const endpointId = await createEndpoint('/a', { rateLimit: 1 });
      await pause(endpointId, HOUR);
      const slots = { at: system.now + 10 * SECOND, revision: 1, expiresAt: system.now + HOUR };
      await system.table.write([upsert(EndpointSlotsEntity, { tenant, endpointId, ...slots })]);
      const { messageId } = await customer.ok(TEST, { endpointId });
      await workOn('deliver');
      expect(await stateOf(messageId, endpointId)).toEqual(['PENDING', 0]);
      return async () => stateOf(messageId, endpointId);
    };

    test('sends the sample in its slot', () =>
      withStillClock(async () => {
        const state = await sendTest();
        await system.drain(system.now + 20 * SECOND);
        expect(await state()).toEqual(['DELIVERED', 1]);
      }));

    test('sends the sample by the sweep if its message is lost', () =>
      withStillClock(async () => {
        const state = await sendTest();
        system.retryQueue.messages.length = 0;
        system.now += 6 * MINUTE;
        await system.sweep();
        await system.drain(system.now + 20 * SECOND);
        expect(await state()).toEqual(['DELIVERED', 1]);
      }));
  });

  test('stores the message if SQS rejects it, and the sweep sends it later', async () => {
    const endpointId = await createEndpoint('/a');
    const { endpoint: declared } = await import(`../../../functions${TEST}.ts`);
    const { messageId } = (
      await declared.run({
        input: { endpointId },
        caller: { tenant, withheld: [] },
        now: system.now,
        repeatableId: () => 'test_1',
        log: { error: () => undefined },
        deps: {
          ...openAll(declared.uses, environment(process.env)),
          queue: {
            send: async () => {
              throw new Error('SQS is out of order');
            },
          },
        },
      })
    ).data;
    system.now += 6 * MINUTE;
    await system.sweep();
    await system.drain();
    expect(hooks.received.map(({ headers }) => headers['webhook-id'])).toEqual([messageId]);
  });
});

describe('POST /v2/workspace/advancedwebhook/messages/resend', () => {
  test('sends a delivered message again with the same webhook-id', async () => {
    const endpointId = await createEndpoint('/a');
    const messageId = await system.publish();
    await system.drain();
    expect(await customer.ok(RESEND, { messageId, endpointId })).toEqual({ messageId });
    expect(await stateOf(messageId, endpointId)).toEqual(['PENDING', 1]);
    expect(await workOn('deliverSlow')).toEqual([{ tenant, eventId: messageId, endpointId, attemptNo: 2 }]);
    expect(hooks.at('/a').map(({ headers }) => headers['webhook-id'])).toEqual([messageId, messageId]);
    expect(await stateOf(messageId, endpointId)).toEqual(['DELIVERED', 2]);
    expect((await system.attempts(messageId)).map(({ attempt, byHand }) => [attempt, byHand])).toEqual([
      [1, false],
      [2, true],
    ]);
  });

  test('makes one attempt for two calls on a pending delivery, and keeps the schedule of its attempts', () =>
    withStillClock(async () => {
      system.now = Date.now();
      hooks.answer('/a', { status: 500 });
      const endpointId = await createEndpoint('/a');
      const messageId = await system.publish();
      await system.processNextMessage();
      const { nextAt } = (await system.delivery(messageId, endpointId))!;
      await Promise.all([1, 2].map(() => customer.ok(RESEND, { messageId, endpointId })));
      expect(await workOn('deliverSlow')).toHaveLength(2);
      expect(hooks.received).toHaveLength(2);
      expect(await system.delivery(messageId, endpointId)).toMatchObject({
        status: 'PENDING',
        attempts: 2,
        uncounted: 1,
        nextAt,
      });
    }));

  test('keeps a failed message failed if the attempt fails, and marks it as delivered if it succeeds', async () => {
    system.timing = { schedule: [0], marginMs: 5 * MINUTE };
    hooks.answer('/a', (_hook, nth) => ({ status: nth < 3 ? 500 : 204 }));
    const endpointId = await createEndpoint('/a');
    const messageId = await system.publish();
    await system.drain();
    const states = [await stateOf(messageId, endpointId)];
    for (let i = 0; i < 2; i++) {
      await customer.ok(RESEND, { messageId, endpointId });
      await workOn('deliverSlow');
      states.push(await stateOf(messageId, endpointId));
    }
    expect(states).toEqual([
      ['EXHAUSTED', 1],
      ['EXHAUSTED', 2],
      ['DELIVERED', 3],
    ]);
    expect(system.measures.counted.get('DeliveriesExhausted')).toBe(1);
  });

  test('delivers a message to an endpoint that did not match the message', async () => {
    const endpointId = await createEndpoint('/a', { filterTypes: ['huddle.join'] });
    const messageId = await system.publish();
    await customer.ok(RESEND, { messageId, endpointId });
    await workOn('deliverSlow');
    expect(await stateOf(messageId, endpointId)).toEqual(['DELIVERED', 1]);
  });

  test('sends a message again to a URL of basic webhooks', async () => {
    await useBasicWebhooks({ rawNotificationUrl: hooks.url('/raw') });
    const messageId = await system.publish();
    await system.drain();
    await customer.ok(RESEND, { messageId, endpointId: 'ep_basic_raw' });
    await workOn('deliverSlow');
    expect(hooks.at('/raw')).toHaveLength(2);
  });

  test.each(['delivered', 'without an attempt'])(
    'makes one attempt of a message %s if the call is interrupted and repeated with its Idempotency-Key',
    async (state) => {
      const endpointId = await createEndpoint('/a');
      const messageId = state === 'delivered' ? await system.publish() : await system.emit();
      await system.drain();
      hooks.received.length = 0;
      const { endpoint: declared } = await import(`../../../functions${RESEND}.ts`);
      // Each call stops before its answer is stored.
      for (let i = 0; i < 2; i++) {
        await declared.run({
          input: { messageId, endpointId },
          caller: { tenant, withheld: [] },
          now: Date.now(),
          repeatableId: () => 'rsd_1',
          log: silentLog,
          deps: openAll(declared.uses, environment(process.env)),
        });
        await workOn('deliverSlow');
      }
      expect(hooks.received).toHaveLength(1);
    },
  );

  test('returns NOT_FOUND for a message that is unknown or of another tenant', async () => {
    const endpointId = await createEndpoint('/a');
    const theirs = await new DeliverySystem((await newWebhookCustomer()).apiKey).publish();
    for (const messageId of ['msg_none', theirs])
      expect((await outcome(customer, RESEND, { messageId, endpointId }))[0]).toBe('NOT_FOUND');
    expect(queues.messagesOf('deliverSlow')).toEqual([]);
  });
});

/**
 * Writes a delivery for each status. The first one is created at `from`, each other one a second after the one before.
 * Returns the ids of their events.
 */
async function deliveries(endpointId: string, from: number, statuses: readonly DeliveryStatus[]): Promise<string[]> {
  const ids: string[] = [];
  for (const [index, status] of statuses.entries()) {
    system.now = from + index * SECOND;
    const eventId = await system.emit();
    ids.push(eventId);
    const pending = status === 'PENDING' ? { nextAt: system.now + HOUR, dueAt: system.now + HOUR } : {};
    await system.table.write([
      upsert(DeliveryEntity, {
        tenant,
        eventId,
        endpointId,
        event: 'comment.add',
        status,
        attempts: 8,
        uncounted: 0,
        sweeps: 0,
        deadline: system.now + 30 * HOUR,
        createdAt: system.now,
        shard: index % 16,
        ...pending,
      }),
    ]);
  }
  system.now = Date.now();
  return ids;
}

describe('POST /v2/workspace/advancedwebhook/endpoints/recover', () => {
  let endpointId: string;
  let since: number;
  beforeEach(async () => {
    endpointId = await createEndpoint('/a');
    since = Date.now() - HOUR;
  });

  const store = () => new DeliveryStore(system.table);
  const queuedJobs = () => queues.messagesOf('jobs').map(({ body }) => body as JobMessage);
  const run = (message: JobMessage) => workerHandler(runJobs)(messagesEvent([message]), lambdaContext());
  const job = (message: JobMessage) => system.table.get(JobEntity, message);

  test('counts only failed and cancelled deliveries of the endpoint since the given time', async () => {
    await deliveries(endpointId, since - 10 * SECOND, ['EXHAUSTED', 'CANCELLED']);
    await deliveries(endpointId, since, ['EXHAUSTED', 'DELIVERED', 'CANCELLED', 'PENDING', 'EXHAUSTED']);
    await deliveries(await createEndpoint('/b'), since, ['EXHAUSTED']);
    expect(await customer.ok(RECOVER, { endpointId, since })).toEqual({ messages: 3 });
    expect(await customer.ok(RECOVER, { endpointId, since: new Date(since + 1).toISOString() })).toEqual({
      messages: 2,
    });
    expect(await customer.ok(RECOVER, { endpointId, since: Date.now() })).toEqual({ messages: 0 });
    expect(queuedJobs()).toHaveLength(2);
  });

  test('rejects too many messages with INVALID_ARGUMENT and starts no job', async () => {
    await deliveries(endpointId, since, Array(4).fill('EXHAUSTED'));
    const jobs = new JobStore(system.table);
    const begin = (maxMessages: number) =>
      startRecovery(
        { deliveries: store(), jobs, queue: { send: async () => undefined } },
        { tenant, endpointId, since },
        system.now,
        silentLog,
        maxMessages,
      );
    await expect(begin(3)).rejects.toMatchObject({
      status: 'INVALID_ARGUMENT',
      message: 'since: more than 3 messages failed since then; take a later time',
    });
    expect(await begin(4)).toBe(4);
  });

  test('starts one job for repeated calls and returns the same number for each', async () => {
    await deliveries(endpointId, since, ['EXHAUSTED', 'EXHAUSTED']);
    const answers = await Promise.all([1, 2, 3].map(() => customer.ok(RECOVER, { endpointId, since })));
    expect(answers).toEqual([1, 2, 3].map(() => ({ messages: 2 })));
    expect(new Set(queuedJobs().map(({ jobId }) => jobId)).size).toBe(1);
    const [message] = queuedJobs() as [JobMessage];
    await run(message);
    expect(await job(message)).toBeUndefined();
    // No delivery is left to recover.
    expect(await customer.ok(RECOVER, { endpointId, since })).toEqual({ messages: 0 });
  });

  test('starts the whole schedule of attempts again through the queue of retries', async () => {
    const ids = await deliveries(endpointId, since, ['EXHAUSTED', 'CANCELLED', 'DELIVERED']);
    await customer.ok(RECOVER, { endpointId, since });
    await run(queuedJobs()[0]!);
    const delivery = (await system.delivery(ids[0]!, endpointId))!;
    expect(delivery).toMatchObject({ status: 'PENDING', attempts: 8, uncounted: 8 });
    const outdated = { ...delivery, tenant, status: 'EXHAUSTED', _r: delivery._r - 1 } as const;
    expect(await store().recover(outdated, system.now, system.timing)).toBeUndefined();
    expect(delivery.deadline).toBeGreaterThan(Date.now() + 29 * HOUR);
    expect(queues.messagesOf('deliver')).toEqual([]);
    system.now = Date.now();
    await workOn('deliverSlow');
    expect(hooks.received.map(({ headers }) => headers['webhook-id']).sort()).toEqual(ids.slice(0, 2).sort());
    expect(await stateOf(ids[0]!, endpointId)).toEqual(['DELIVERED', 9]);
    const delivered = { ...(await system.delivery(ids[2]!, endpointId))!, tenant };
    expect(await store().recover(delivered, system.now, system.timing)).toBeUndefined();
  });

  test('continues after a crash from the last completed step, and sends each message once', async () => {
    const ids = await deliveries(endpointId, since, Array(250).fill('EXHAUSTED'));
    expect(await customer.ok(RECOVER, { endpointId, since })).toEqual({ messages: 250 });
    const [message] = queuedJobs() as [JobMessage];
    const deps = openAll(runJobs.uses, environment(process.env)).runsJobs;
    let steps = 0;
    const crashing: RunJobDeps = {
      ...deps,
      steps: {
        ...deps.steps,
        recoverDeliveries: async (...step) =>
          ++steps > 1 ? Promise.reject(new Error('killed')) : deps.steps.recoverDeliveries(...step),
      },
    };
    const call = {
      message,
      clock: () => system.now,
      deadline: Infinity,
      log: silentLog,
      measures: recordingMeasures(),
    };
    await expect(runJob(crashing, call)).rejects.toThrow('killed');
    const states = async () =>
      Promise.all(ids.map(async (eventId) => (await system.delivery(eventId, endpointId))?.status));
    expect((await states()).filter((status) => status === 'PENDING')).toHaveLength(100);

    // The crashed run still holds the lease, so this run does nothing.
    await runJob(deps, call);
    expect((await states()).filter((status) => status === 'PENDING')).toHaveLength(100);
    system.now += 2 * MINUTE;
    await system.sweep();
    // The sweep also finds the items of other tests.
    expect(system.jobs).toContainEqual(message);
    await runJob(deps, call);
    expect(new Set(await states())).toEqual(new Set(['PENDING']));
    expect(await job(message)).toBeUndefined();
    const sent = queues.messagesOf('deliverSlow');
    expect(sent.map(({ body }) => body.eventId).sort()).toEqual([...ids].sort());
  });

  test('sends at most 50 messages per second', async () => {
    await deliveries(endpointId, since, Array(160).fill('EXHAUSTED'));
    await customer.ok(RECOVER, { endpointId, since });
    await withStillClock(() => run(queuedJobs()[0]!));
    const delays = queues.messagesOf('deliverSlow').map(({ delaySeconds }) => delaySeconds);
    expect(Math.max(...delays)).toBeGreaterThanOrEqual(2);
    for (const delay of new Set(delays))
      expect(delays.filter((other) => other === delay).length).toBeLessThanOrEqual(100);
  });

  test('skips deliveries that cannot be recovered, and ends the job', async () => {
    await deliveries(endpointId, since, Array(120).fill('CANCELLED'));
    let recoverCalls = 0;
    const recovery = {
      deliveries: {
        listFailed: (...args: Parameters<DeliveryStore['listFailed']>) => store().listFailed(...args),
        recover: async () => void recoverCalls++,
      },
      retryQueue: { send: async () => undefined },
      timing: system.timing,
    };
    const data = JSON.stringify({ endpointId, since, until: system.now, messages: 120 });
    const reached = await recoverStep(recovery, { tenant, data }, () => system.now);
    expect(await recoverStep(recovery, { tenant, data, progress: JSON.stringify(reached) }, () => system.now)).toBe(
      'done',
    );
    expect(recoverCalls).toBe(120);
  });
});
