import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { EventEntity } from '../../../lib/events/outbox.ts';
import { inParallel } from '../../../lib/shared/inParallel.ts';
import { tenantOf } from '../../../lib/table/keys.ts';
import { DeliveryEntity } from '../../../lib/webhooks/deliveries.ts';
import { EndpointHealthStore } from '../../../lib/webhooks/endpointHealth.ts';
import { parkingJob } from '../../../lib/webhooks/parkingJob.ts';
import { deliveryLifetime } from '../../../lib/workers/rules/schedule.ts';
import { forAllTests } from '../../support/acmeWorld.ts';
import { Cloud } from '../../support/cloud.ts';
import { everyFault, Trial } from '../../support/crashes.ts';
import { startEngine } from '../../support/engine.ts';
import { clearTable, everyItem } from '../../support/items.ts';
import { type Receiver, startHttp } from '../../support/receivers.ts';
import { addWebhookTenant, writeHuddleEvent } from '../../support/webhookTenants.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const EVENTS = 3;

const engine = forAllTests(() => startEngine({ table: 'memory' }));
let receiver: Receiver;
let cloud: Cloud;
/** Whether the receiver answers with 200. */
let healthy: boolean;

beforeAll(async () => {
  process.env.ALLOW_LOOPBACK_DELIVERY = 'true';
  receiver = await startHttp((request, response) => {
    request.resume();
    response.writeHead(healthy ? 200 : 500).end();
  });
});
afterAll(() => receiver.stop());
beforeEach(async () => {
  await clearTable(engine);
  healthy = false;
  cloud = new Cloud(engine);
  cloud.webhookTiming = { schedule: [0, 5 * SECOND, 20 * MINUTE], marginMs: 5 * MINUTE };
});

interface Subject {
  readonly trial: Trial;
  readonly tenant: string;
  readonly endpointId: string;
  readonly events: string[];
}

interface TrialTimes {
  /** How long the endpoint's breaker pauses, in milliseconds. */
  readonly pauseMs: number;
  /** The age of the events at the start of the trial, in milliseconds. */
  readonly eventAge: number;
}
const inTime: TrialTimes = { pauseMs: MINUTE, eventAge: 0 };

let tenants = 0;

/**
 * Creates a tenant with one endpoint and publishes events. The endpoint's breaker is open for `pauseMs`. The trial
 * records all AWS calls.
 */
async function startTrial(trial: Trial, { pauseMs, eventAge }: TrialTimes): Promise<Subject> {
  const tenant = `parking${tenants++}`;
  const endpointId = `${tenant}_ep`;
  const now = cloud.now;
  // Without this filter, the endpoint would get the events about exhausted deliveries. They would be retried for thirty
  // hours.
  const filterTypes = ['huddle.create'];
  await addWebhookTenant(cloud, tenant, [{ endpointId, url: receiver.url, filterTypes }]);
  const breaker = { inARow: 10, open: { until: now + pauseMs, pauseMs } };
  const health = { about: 1, breaker, writtenAt: now };
  await new EndpointHealthStore(cloud.table).write({ tenant, endpointId }, health, undefined);
  cloud.watch(parkingJob(endpointId, 0).jobId, trial);
  const events: string[] = [];
  for (let i = 0; i < EVENTS; i++) events.push(await writeHuddleEvent(cloud, tenant, trial, now - eventAge));
  return { trial, tenant, endpointId, events };
}

/** Starts trials. Calls `recover` when all their deliveries are parked. Runs until no work is left. */
async function runTrials(trials: readonly Trial[], recover: () => void, times = inTime): Promise<Subject[]> {
  const subjects: Subject[] = [];
  healthy = false;
  await inParallel(trials, 10, async (trial) => void subjects.push(await startTrial(trial, times)));
  await cloud.run(cloud.now + 30 * SECOND);
  recover();
  await cloud.run();
  return subjects;
}

/** Runs a trial without faults, and then one trial for each fault of each of its calls. */
async function withEachFault(recover: () => void, times?: TrialTimes): Promise<Subject[]> {
  const [undisturbed] = await runTrials([new Trial()], recover, times);
  const { calls } = undisturbed!.trial;
  const trials = everyFault(calls).map((fault) => new Trial(fault));
  const subjects = await runTrials(trials, recover, times);
  // The order of the calls varies, so a few trials end before the call that has the fault.
  expect(subjects.filter(({ trial }) => trial.injected.length > 0).length).toBeGreaterThan(0.9 * subjects.length);
  return [undisturbed!, ...subjects];
}

/**
 * Expects that every delivery has this status and that no job is left. An attempt may be repeated once for each fault
 * of its trial.
 */
async function expectNothingLost(subjects: readonly Subject[], status: string): Promise<void> {
  expect(await cloud.due()).toEqual([]);
  expect(cloud.deadLetters).toEqual([]);
  const rows = (await everyItem(engine)).filter(({ _t }) => _t === DeliveryEntity.type);
  const states = new Map(rows.map(({ eventId, endpointId, status }) => [`${eventId} ${endpointId}`, status]));
  const posts = Map.groupBy(cloud.postCounts, ([attempt]) => attempt.slice(0, attempt.indexOf(' ')));
  for (const { trial, endpointId, events } of subjects) {
    for (const eventId of events) {
      expect([trial.injected, states.get(`${eventId} ${endpointId}`)]).toEqual([trial.injected, status]);
      for (const [, times] of posts.get(eventId) ?? [])
        expect([trial.injected, times <= 1 + trial.injected.length]).toEqual([trial.injected, true]);
    }
  }
}

describe('parked deliveries with a fault at any call of the table or queues', () => {
  test('are all released after a successful probe', async () => {
    const subjects = await withEachFault(() => void (healthy = true));
    await expectNothingLost(subjects, 'DELIVERED');
    expect(cloud.measures.counted.get('DeliveriesParked')).toBeGreaterThan(subjects.length);
    expect(cloud.measures.counted.get('DeliveriesReleased')).toBeGreaterThan(subjects.length);
  });

  test('are exhausted after their deadline, each with one event', async () => {
    // The breaker pauses for longer than the deliveries live, so none is attempted. Even a delivery of an old event
    // lives for at least an hour.
    const eventAge = deliveryLifetime(cloud.webhookTiming.schedule);
    const subjects = await withEachFault(() => undefined, { pauseMs: 62 * MINUTE, eventAge });
    await expectNothingLost(subjects, 'EXHAUSTED');
    const exhausted = (await everyItem(engine)).filter(
      ({ _t, event }) => _t === EventEntity.type && event === 'message.attempt.exhausted',
    );
    const ofTenants = Map.groupBy(exhausted, ({ PK }) => tenantOf({ PK }));
    expect(subjects.map(({ tenant }) => ofTenants.get(tenant)?.length)).toEqual(subjects.map(() => EVENTS));
  });
});
