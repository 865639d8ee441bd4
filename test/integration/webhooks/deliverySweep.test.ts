import { beforeEach, describe, expect, test } from '@jest/globals';
import { EventEntity } from '../../../lib/events/outbox.ts';
import { dueJobIndex, endJob, JobEntity, startJob } from '../../../lib/jobs/jobStore.ts';
import { indexPartition } from '../../../lib/table/entity.ts';
import { replace, upsert } from '../../../lib/table/table.ts';
import { DeliveryStore, toDelivery } from '../../../lib/webhooks/deliveries.ts';
import { EndpointDisabler } from '../../../lib/webhooks/disableEndpoints.ts';
import { EndpointHealthEntity } from '../../../lib/webhooks/endpointHealth.ts';
import { WebhookEndpointEntity } from '../../../lib/webhooks/endpoints.ts';
import { sweepDeliveries } from '../../../lib/webhooks/sweepDeliveries.ts';
import { targetItem } from '../../../lib/webhooks/targets.ts';
import { runSweeps } from '../../../lib/workers/sweep.ts';
import { HOUR, MINUTE, SECOND } from '../../support/deliveries.ts';
import { times } from '../../support/times.ts';
import { paths } from '../../support/webhooks.ts';
import { webhookWorld } from '../../support/webhookWorld.ts';

const DAY = 24 * HOUR;

const { customer, hooks, system, createEndpoint, useBasicWebhooks } = webhookWorld({ table: 'both', isCleared: true });
let tenant: string;
let endpointId: string;

beforeEach(async () => {
  tenant = customer.apiKey;
  endpointId = await createEndpoint('/a');
});

const gauge = (name: Parameters<typeof system.measures.recorded.get>[0]) => system.measures.recorded.get(name)?.at(-1);
const delivery = (eventId: string) => system.delivery(eventId, endpointId);
/** Publishes an event whose first attempts are stored in a group. Returns its id. */
const publishInGroup = async () => {
  system.replacedPorts.fanOut = { consumers: [() => ({ concerns: async () => true, consume: async () => undefined })] };
  const audience = { addressed: ['grace'], following: [] };
  return system.publish({ payload: { source: 'huddle', data: {}, audience } });
};

describe('the sweep of deliveries', () => {
  test('repeats a lost message after 5 minutes, then 10, 20 and 40 minutes later', async () => {
    const eventId = await publishInGroup();
    const from = system.now;
    const sent: number[] = [];
    for (const minute of [4, 5, 10, 14, 15, 20, 34, 35, 50, 74, 75]) {
      system.now = from + minute * MINUTE + minute;
      await system.sweep();
      const messages = system.retryQueue.messages.splice(0);
      if (messages.length > 0) sent.push(minute);
      expect(messages).toMatchObject(messages.map(() => ({ body: { tenant, eventId, endpointId, attemptNo: 1 } })));
    }
    expect(sent).toEqual([5, 15, 35, 75]);
  });

  test('repeats no first attempts while the queue has a backlog, but sends retries', async () => {
    const [first, retried] = [await publishInGroup(), await system.publish()];
    hooks.answer('/a', { status: 500 });
    await system.processMessage(system.firstQueue.messages.find(({ body }) => body.eventId === retried)!.body);
    system.retryQueue.messages.length = 0;
    system.backlog = 5_000;
    system.now += 6 * MINUTE;
    await system.sweep();
    expect(system.retryQueue.messages.map(({ body }) => [body.eventId, body.attemptNo])).toEqual([[retried, 2]]);
    // The sweep checks each first attempt again after some minutes. The queue is short now, so the sweep sends the
    // lost message.
    system.backlog = 0;
    system.now += 11 * MINUTE;
    await system.sweep();
    expect(system.retryQueue.messages.map(({ body }) => body.eventId)).toContain(first);
  });

  test('repeats first attempts if the length of the queue cannot be read', async () => {
    await publishInGroup();
    system.firstQueue.messages.length = 0;
    system.now += 6 * MINUTE;
    system.backlog = undefined;
    await system.sweep();
    expect(system.retryQueue.messages).toHaveLength(1);
  });

  test('sends the message of a distant retry shortly before its time, with a delay', async () => {
    const eventId = await system.publish();
    hooks.answer('/a', { status: 500 });
    await system.processMessages(3);
    const { nextAt } = (await delivery(eventId))!;
    expect(nextAt! - system.now).toBe(30 * MINUTE);
    expect(system.waiting).toEqual([]);
    system.now = nextAt! - 89 * SECOND;
    await system.sweep();
    expect(system.retryQueue.messages).toMatchObject([{ visibleAt: nextAt }]);
    expect(await delivery(eventId)).toMatchObject({ sweeps: 0, dueAt: nextAt! + 5 * MINUTE });
  });

  test('measures due and overdue deliveries and the oldest delay', async () => {
    await publishInGroup();
    await system.sweep();
    const { counted, recorded } = system.measures;
    expect([counted.size, recorded.get('OldestOverdueDeliveryAge')]).toEqual([0, undefined]);
    await publishInGroup();
    system.now += 12 * MINUTE;
    await system.sweep();
    expect([counted.get('DeliveriesDue'), counted.get('DeliveriesOverdue')]).toEqual([2, 2]);
    expect(recorded.get('OldestOverdueDeliveryAge')?.at(-1)).toBe(720);
  });

  test('reads all pages of due deliveries', async () => {
    const events = await Promise.all(times(230, () => system.emit()));
    const store = new DeliveryStore(system.table);
    for (const event of await system.insertedEvents(events)) {
      // All deliveries get the same shard, so that the shard has several pages.
      const first = { ...toDelivery(event, endpointId, system.now, system.timing), shard: 0 };
      await store.replace(first, first);
      await system.table.write([replace(EventEntity, { ...event, fannedOutAt: system.now }, event._r)]);
    }
    system.now += 6 * MINUTE;
    await system.sweep();
    expect(system.retryQueue.messages).toHaveLength(230);
  });

  test('reads no second page if little time remains', async () => {
    const due: number[] = [];
    const sweep = sweepDeliveries({
      deliveries: {
        replace: async () => 'lost',
        listDue: async (shard) => {
          due.push(shard);
          return { values: [], next: 'more' };
        },
      },
      retryQueue: { send: async () => undefined },
      isBacklogged: async () => false,
      timing: system.timing,
    });
    await sweep(7, { ...system.call, deadline: system.now + SECOND });
    expect(due).toEqual([7]);
  });
});

describe('the sweep of the outbox', () => {
  test('fans out an event after three minutes, and sends its messages when the queue has no backlog any more', async () => {
    const eventId = await system.emit();
    system.backlog = 5_000;
    system.now += 3 * MINUTE - SECOND;
    await system.sweep();
    expect(await system.isFannedOut(eventId)).toBe(false);
    system.now += 2 * SECOND;
    await system.sweep();
    expect(await system.isFannedOut(eventId)).toBe(true);
    expect(system.waiting).toEqual([]);
    system.backlog = 0;
    system.now += 6 * MINUTE;
    await system.sweep();
    await system.drain();
    expect(hooks.at('/a')).toHaveLength(1);
    expect(await delivery(eventId)).toMatchObject({ status: 'DELIVERED' });
  });
  test('fans out other events if one always fails, and then throws', async () => {
    const events = await Promise.all(times(20, () => system.emit()));
    const { groups } = system.fanOutPorts;
    const [bad] = events;
    system.replacedPorts.fanOut = {
      groups: {
        create: async (attempts) =>
          attempts[0]?.eventId === bad ? Promise.reject(new Error('no')) : groups.create(attempts),
      },
    };
    system.now += 4 * MINUTE;
    await expect(system.sweep()).rejects.toThrow('1 events were not fanned out');
    await system.drain();
    expect(hooks.at('/a')).toHaveLength(19);
  });
});

describe('the other sweeps', () => {
  test('start due jobs again and skip completed jobs', async () => {
    const job = (jobId: string, dueAt: number) =>
      startJob(tenant, { jobId, kind: 'recoverDeliveries', data: {}, dueAt }, system.now);
    await system.table.write([
      job('job_1', system.now + MINUTE),
      job('job_2', system.now + HOUR),
      job('job_3', system.now + MINUTE),
    ]);
    await system.table.write([endJob(tenant, 'job_3')]);
    system.now += 2 * MINUTE;
    await Promise.all([system.sweep(), system.sweep()]);
    expect(system.jobs).toEqual([{ tenant, jobId: 'job_1' }]);
    expect(await system.table.get(JobEntity, { tenant, jobId: 'job_1' })).toMatchObject({
      dueAt: system.now + 5 * MINUTE,
    });
  });

  describe('the count of unhealthy endpoints', () => {
    /**
     * Stores the health of an endpoint. `until` is the end of the breaker's pause, `warned` the day of the last
     * warning.
     */
    const storeHealth = async (id: string, until: number | undefined, warned: number) => {
      const { _r: about } = (await system.table.batchGet(targetItem({ tenant, endpointId: id })))[0]!;
      await system.table.write([
        upsert(EndpointHealthEntity, {
          tenant,
          endpointId: id,
          about,
          writtenAt: system.now,
          breaker: { inARow: 10, ...(until !== undefined && { open: { until, pauseMs: 30_000 } }) },
          failing: { since: system.now - 2 * DAY, last: system.now, days: 2, warned },
        }),
      ]);
    };
    const sweepAndCount = async () => {
      await system.sweep();
      return [gauge('CircuitBreakersOpen'), gauge('EndpointsNearDisabling')];
    };

    test('includes open breakers and endpoints near automatic disabling', async () => {
      for (const [until, warned] of [
        [system.now + MINUTE, 0],
        [system.now - MINUTE, 0],
        [undefined, 1],
        [system.now + MINUTE, 3],
        [undefined, 0],
      ] as const)
        await storeHealth(await createEndpoint('/a'), until, warned);
      expect(await sweepAndCount()).toEqual([2, 2]);
    });

    const byFailures = async () => {
      const stored = (await system.table.get(WebhookEndpointEntity, { tenant, endpointId }))!;
      expect(
        await new EndpointDisabler(system.table).disable(
          { tenant, endpointId },
          stored._r,
          system.now - 5 * DAY,
          system.now,
        ),
      ).toBe('done');
    };
    test.each<[string, () => Promise<unknown>, left?: number]>([
      ['disabled by failures', byFailures],
      ['disabled together with all advanced webhooks', () => customer.ok(paths.updateConfig, { isEnabled: false }), 0],
      ['disabled by a request', () => customer.ok(paths.update, { endpointId, disabled: true })],
      ['deleted', () => customer.ok(paths.delete, { endpointId })],
      ['changed', () => customer.ok(paths.update, { endpointId, url: hooks.url('/b') })],
      [
        'disabled and enabled again',
        async () => {
          await byFailures();
          await customer.ok(paths.update, { endpointId, disabled: false });
        },
      ],
    ])('excludes an endpoint that was %s after the warning to its owner', async (_what, change, left = 1) => {
      for (const id of [endpointId, await createEndpoint('/a')]) await storeHealth(id, system.now + MINUTE, 3);
      expect(await sweepAndCount()).toEqual([2, 2]);
      await change();
      expect(await sweepAndCount()).toEqual([left, left]);
    });

    test('includes the URL of basic webhooks while basic webhooks are on', async () => {
      await customer.ok(paths.updateConfig, { isEnabled: false });
      await useBasicWebhooks({ rawNotificationUrl: hooks.url('/raw') });
      await storeHealth('ep_basic_raw', system.now + MINUTE, 0);
      expect(await sweepAndCount()).toEqual([1, 0]);
      await customer.ok(paths.updateBasic, { useWebhookService: false });
      expect(await sweepAndCount()).toEqual([0, 0]);
    });
  });

  test('run even if one of them fails', async () => {
    const seen: string[] = [];
    const sweeps = [async () => Promise.reject(new Error('no gauge')), async () => void seen.push('presences')];
    await expect(runSweeps(sweeps, { ...system.call, deadline: system.now + MINUTE })).rejects.toThrow('no gauge');
    expect(seen).toEqual(['presences']);
  });
});

describe('the timer of the sweep', () => {
  const storeJob = async (jobId: string, dueAt: number) => {
    const { put } = startJob(tenant, { jobId, kind: 'recoverDeliveries', data: {}, dueAt }, system.now) as {
      put: { shard: number };
    };
    await system.table.write([{ put }]);
    return { work: 'jobs', shard: put.shard };
  };

  test('sends one message per shard with due work, the most overdue shard first', async () => {
    expect(await system.tick()).toEqual({ messages: [] });
    const [event] = await system.insertedEvents([await system.emit()]);
    const jobs = [await storeJob('job_b', system.now + 2 * MINUTE), await storeJob('job_a', system.now + MINUTE)];
    await storeJob('job_b2', system.now + HOUR);
    system.now += 3 * MINUTE + 1;
    const [later, sooner] = jobs;
    expect((await system.tick()).messages).toEqual([{ work: 'events', shard: event!.shard }, sooner, later]);
    // The timer writes nothing, so its next run sends the same messages.
    expect((await system.tick()).messages).toHaveLength(3);
  });

  test('sends the messages of other shards if the query of a shard fails, and then throws', async () => {
    const due = [await storeJob('job_a', system.now), await storeJob('job_b', system.now)];
    system.now += SECOND;
    const partition = indexPartition(dueJobIndex.partition(due[0]!.shard));
    system.failing = ({ input }) => input.ExpressionAttributeValues?.[':pk'] === partition;
    expect(await system.tick()).toEqual({ messages: [due[1]], failure: new Error('throttled') });
  });

  test('makes a worker sweep only the shard of its message and skip messages older than a minute', async () => {
    const [other, due] = [await storeJob('job_a', system.now), await storeJob('job_b', system.now)];
    expect(other.shard).not.toBe(due.shard);
    const sentAt = system.now;
    const sweep = (message: object) => system.run('sweepShard', { message, sentAt });
    system.now += MINUTE + 1;
    await sweep(due);
    expect(system.jobs).toEqual([]);
    system.now = sentAt + MINUTE;
    await sweep(due);
    expect(system.jobs).toEqual([{ tenant, jobId: 'job_b' }]);
  });
});
