import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { QueueName } from '../../../lib/app/capability.ts';
import { EventEntity } from '../../../lib/events/outbox.ts';
import { JobEntity, startJob } from '../../../lib/jobs/jobStore.ts';
import { MailEntity } from '../../../lib/mail/mailStore.ts';
import type { MailLimits } from '../../../lib/mail/quotas/mailQuotas.ts';
import { WaitingEntryEntity } from '../../../lib/mail/waiting/entryStore.ts';
import { inParallel } from '../../../lib/shared/inParallel.ts';
import { tenantOf } from '../../../lib/table/keys.ts';
import { insert } from '../../../lib/table/table.ts';
import { DeliveryEntity, DeliveryStore } from '../../../lib/webhooks/deliveries.ts';
import {
  ALL_FIRST_ATTEMPTS,
  type DeliveryMessage,
  nextAttemptMessages,
} from '../../../lib/webhooks/deliveryMessage.ts';
import { WebhookEndpointStore } from '../../../lib/webhooks/endpoints.ts';
import { parkingJob } from '../../../lib/webhooks/parkingJob.ts';
import { EndpointSlotsEntity } from '../../../lib/webhooks/rateSlots.ts';
import type { WebhookEndpoint } from '../../../lib/webhooks/rules/endpoints.ts';
import { forAllTests } from '../../support/acmeWorld.ts';
import { Cloud } from '../../support/cloud.ts';
import { itemsOf, nda } from '../../support/content.ts';
import { allFailures, everyFault, type Fault, faultsOfEveryKind, Trial, trialsOf } from '../../support/crashes.ts';
import { type Customer, newCustomer } from '../../support/customer.ts';
import { startEngine } from '../../support/engine.ts';
import { clearTable, everyItem } from '../../support/items.ts';
import { type Receiver, startHttp } from '../../support/receivers.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { times } from '../../support/times.ts';
import { addWebhookTenant, writeHuddleEvent } from '../../support/webhookTenants.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const engine = forAllTests(() => startEngine({ table: 'memory' }));
let receiver: Receiver;
let cloud: Cloud;
/** How often the receiver got each event, by `<event id> <endpoint id>`. */
const arrivals = new Map<string, number>();
/** Whether the receivers that failed or hung answer correctly from now on. */
let haveRecovered: boolean;

beforeAll(async () => {
  process.env.ALLOW_LOOPBACK_DELIVERY = 'true';
  receiver = await startHttp((request, response) => {
    const [, mode, endpointId] = request.url!.split('/');
    const name = `${String(request.headers['webhook-id'])} ${endpointId}`;
    arrivals.set(name, (arrivals.get(name) ?? 0) + 1);
    request.resume();
    if (mode === 'good' || haveRecovered) response.end();
    else if (mode === 'bad') response.writeHead(500).end();
  });
});
afterAll(() => receiver.stop());
beforeEach(async () => {
  await clearTable(engine);
  arrivals.clear();
  haveRecovered = false;
  cloud = new Cloud(engine);
});

type Mode = 'good' | 'bad' | 'hang';
interface TestEndpoint {
  readonly mode: Mode;
  readonly fields?: Partial<WebhookEndpoint>;
}

let tenants = 0;

/** Creates a tenant with these advanced webhook endpoints. Their ids are `<tenant>_ep_0`, `<tenant>_ep_1` and so on. */
async function newTenant(endpoints: readonly TestEndpoint[]): Promise<string> {
  const tenant = `key${tenants++}`;
  await addWebhookTenant(
    cloud,
    tenant,
    endpoints.map(({ mode, fields }, index) => {
      const endpointId = `${tenant}_ep_${index}`;
      return { endpointId, url: `${receiver.url}/${mode}/${endpointId}`, ...fields };
    }),
  );
  return tenant;
}

const writeEvent = (tenant: string, trial?: Trial) => writeHuddleEvent(cloud, tenant, trial);

interface Subject {
  readonly trial: Trial;
  readonly tenant: string;
  readonly events: readonly string[];
}
type Begin = (trial: Trial) => Promise<Subject>;

const writeEventOf = async (trial: Trial, tenant: string): Promise<Subject> => ({
  trial,
  tenant,
  events: [await writeEvent(tenant, trial)],
});

/** Returns a function that begins a trial: it creates a tenant with these endpoints and writes one event. */
function eventTo(...endpoints: readonly TestEndpoint[]): Begin {
  return async (trial) => writeEventOf(trial, await newTenant(endpoints));
}

/** Begins the trials and runs the cloud until no work is due. */
async function runTrials(begin: Begin, trials: readonly Trial[]): Promise<Subject[]> {
  const subjects: Subject[] = [];
  await inParallel(trials, 10, async (trial) => void subjects.push(await begin(trial)));
  await cloud.run();
  return subjects;
}

/**
 * Runs a trial without faults, and then one trial for each of the faults that `faultsOf` returns for its calls. Expects
 * the first trial to make calls of exactly the kinds `kinds`, and every fault to occur.
 */
async function withEachFault(kinds: readonly string[], begin: Begin, faultsOf = everyFault): Promise<Subject[]> {
  const [undisturbed] = await runTrials(begin, [new Trial()]);
  const { calls } = undisturbed!.trial;
  expect([...new Set(calls)].sort()).toEqual([...kinds].sort());
  const subjects = await runTrials(begin, trialsOf(faultsOf(calls)));
  expect(subjects.filter(({ trial: { injected } }) => injected.length === 0).map(({ trial }) => trial.faults)).toEqual(
    [],
  );
  return [undisturbed!, ...subjects];
}

/** The kinds of AWS calls of a fan-out, of a successful first attempt, and of a failed attempt. */
const fanOutCalls = ['BatchGet', 'Query', 'SendMessageBatch deliver'];
const firstSuccess = ['BatchGet', 'Query', 'GetSecretValue', 'POST', 'Put Delivery', 'Put Event'];
const failure = [...firstSuccess, 'Put Attempt', 'Put EndpointHealth'];
/** The call that writes a delivery after its last attempt has failed. */
const exhaustion = 'TransactWrite Delivery Event';
const kindsOf = (...parts: readonly (readonly string[])[]) => [...new Set(parts.flat())];

interface Ends {
  /** The expected status and number of attempts of the delivery to an endpoint. The key is the endpoint's number. */
  readonly [endpoint: number]: readonly [status: string, attempts: number];
}

/** Lets the sweep repeat work very early, while a crashed worker still holds its lease. */
function impatientSweeper(): void {
  cloud.now += 10 * SECOND;
  cloud.webhookTiming = { schedule: [0, 5 * SECOND, 20 * MINUTE], marginMs: 30 * SECOND };
}

const itemsOfType = async (type: string) => (await everyItem(engine)).filter(({ _t }) => _t === type);
const exhaustedEvents = async () =>
  (await itemsOfType(EventEntity.type)).filter(({ event }) => event === 'message.attempt.exhausted');

/** Returns the expectation that the deliveries to the first `count` endpoints succeed at the first attempt. */
const allDelivered = (count: number): Ends =>
  Object.fromEntries(times(count, (index) => [index, ['DELIVERED', 1] as const]));

/**
 * Expects that no work is due and no attempt was late. Every delivery of `ends` must have its expected end. Without a
 * fault, no attempt may be repeated. A delivery can have been resent, which adds attempts.
 */
async function expectNothingLost(
  subjects: readonly Subject[],
  ends: Ends,
  resendsOf: (trial: Trial) => number = () => 0,
): Promise<void> {
  expect([await cloud.due(), cloud.deadLetters, cloud.lateAttempts]).toEqual([[], [], 0]);
  const items = await everyItem(engine);
  expect(items.filter(({ _t, fannedOutAt }) => _t === EventEntity.type && fannedOutAt === undefined)).toEqual([]);
  const rows = items.filter(({ _t }) => _t === DeliveryEntity.type);
  const deliveries = new Map(rows.map((row) => [`${row.eventId} ${row.endpointId}`, row]));
  for (const { trial, tenant, events } of subjects) {
    const { injected, copied } = trial;
    const resends = resendsOf(trial);
    for (const eventId of events) {
      for (const [number, [status, attempts]] of Object.entries(ends)) {
        const name = `${eventId} ${tenant}_ep_${number}`;
        const row = deliveries.get(name);
        const isExpected = row?.attempts >= attempts && row?.attempts <= attempts + resends;
        expect([injected, number, row?.status, isExpected || row?.attempts]).toEqual([injected, number, status, true]);
        const posts = times(row!.attempts, (index) => cloud.postCounts.get(`${name} ${index + 1}`) ?? 0);
        // First attempts take no lease, so each of their messages can repeat one. Two of them count as two attempts.
        const most = posts.map(
          (_count, index) => 1 + injected.length + (index === 0 ? Math.min(copied, 1) + resends : 0),
        );
        const isOnce = posts.every((count, index) => count <= most[index]! && (count >= 1 || resends > 0));
        expect([injected, posts, isOnce]).toEqual([injected, posts, true]);
        if (!cloud.stubs.receive) expect(arrivals.get(name) ?? 0).toBeGreaterThanOrEqual(row!.attempts);
      }
    }
  }
}

describe('deliveries with a fault at any AWS call', () => {
  test('are all sent if the receiver succeeds', async () => {
    impatientSweeper();
    const kinds = kindsOf(fanOutCalls, firstSuccess);
    const subjects = await withEachFault(kinds, eventTo({ mode: 'good' }, { mode: 'good' }));
    await expectNothingLost(subjects, allDelivered(2));
  });

  test('are all sent if the first attempts are stored in groups', async () => {
    impatientSweeper();
    const kinds = kindsOf(fanOutCalls, firstSuccess, ['Put FirstAttempts', 'Delete']);
    const begin = eventTo(...times(21, () => ({ mode: 'good' as const })));
    const subjects = await withEachFault(kinds, begin, faultsOfEveryKind);
    await expectNothingLost(subjects, allDelivered(21));
    expect(await itemsOfType('FirstAttempts')).toEqual([]);
  });

  test('are exhausted with one event each if the receiver always fails', async () => {
    const kinds = kindsOf(fanOutCalls, failure, ['SendMessageBatch deliverSlow', exhaustion]);
    const subjects = await withEachFault(kinds, eventTo({ mode: 'bad', fields: { filterTypes: ['huddle.create'] } }));
    await expectNothingLost(subjects, { 0: ['EXHAUSTED', 3] });
    expect((await exhaustedEvents()).map(({ PK }) => tenantOf({ PK })).sort()).toEqual(
      subjects.map(({ tenant }) => tenant).sort(),
    );
  });

  test('are all sent if a rate limit delays them', async () => {
    const kinds = kindsOf(fanOutCalls, firstSuccess, ['Put Attempt', 'SendMessageBatch deliverSlow', 'Update']);
    const subjects = await withEachFault(kinds, async (trial) => {
      const tenant = await newTenant([{ mode: 'good', fields: { rateLimit: 1 } }]);
      // The slots of the next ten seconds are taken. The worker defers the first message, and waits for the slot of
      // the second one.
      await cloud.table.write([
        insert(EndpointSlotsEntity, {
          tenant,
          endpointId: `${tenant}_ep_0`,
          at: cloud.now + 10 * SECOND,
          revision: 1,
          expiresAt: cloud.now,
        }),
      ]);
      return writeEventOf(trial, tenant);
    });
    await expectNothingLost(subjects, { 0: ['DELIVERED', 1] });
    expect(cloud.measures.counted.get('RateLimitedDeliveries')).toBeGreaterThan(subjects.length / 2);
  });

  test('are cancelled if the endpoint is deleted before they are sent', async () => {
    cloud.webhookTiming = { schedule: [0, 20 * MINUTE], marginMs: 5 * MINUTE };
    const kinds = kindsOf(fanOutCalls, failure);
    const subjects = await withEachFault(kinds, async (trial) => {
      const tenant = await newTenant([{ mode: 'bad' }]);
      const endpointId = `${tenant}_ep_0`;
      cloud.plan(cloud.now + 15 * MINUTE, async () => {
        await new WebhookEndpointStore(cloud.table).delete(tenant, endpointId);
        cloud.deletedEndpoints.add(endpointId);
      });
      return writeEventOf(trial, tenant);
    });
    await expectNothingLost(subjects, { 0: ['CANCELLED', 1] });
  });

  test('have their next attempt on time if the response to the write of a result is lost', async () => {
    const subjects = await runTrials(
      eventTo({ mode: 'bad' }),
      times(18, (index) => new Trial({ occurrence: index + 1, failure: 'repetition', when: 'after' })),
    );
    const firstPostAt = Math.min(...cloud.postedAt.values());
    for (const { trial, tenant, events } of subjects) {
      const second = cloud.postedAt.get(`${events[0]} ${tenant}_ep_0 2`)!;
      expect([trial.injected, second - firstPostAt]).toEqual([trial.injected, 5 * SECOND]);
    }
  });
});

describe('deliveries with faults that a schedule chooses', () => {
  const filterTypes = ['huddle.create'];
  /** The endpoints `good`, `late` and `dead`. The receiver accepts all attempts, all but the first one, and none. */
  const receivers = times(3, () => ({ mode: 'good' as const, fields: { filterTypes } }));
  const [GOOD, LATE, DEAD] = [0, 1, 2];
  const allEnds: Ends = { [GOOD]: ['DELIVERED', 1], [LATE]: ['DELIVERED', 2], [DEAD]: ['EXHAUSTED', 3] };
  const lateEnd: Ends = { 0: ['DELIVERED', 2] };
  const isDelivered = (endpoint: number, attempt: number) => endpoint === GOOD || (endpoint === LATE && attempt > 1);

  beforeEach(() => {
    cloud.batchSize = 1;
    cloud.stubs.receive = (endpointId, attempt) => ({
      outcome: isDelivered(Number(endpointId.at(-1)), attempt) ? 'delivered' : 'failed',
      durationMs: 1,
    });
  });

  /** An event to the endpoint `late` alone, whose id ends with 0 then. */
  const toLate: Begin = async (trial) => {
    cloud.stubs.receive = (_id, attempt) => ({ outcome: attempt > 1 ? 'delivered' : 'failed', durationMs: 1 });
    return eventTo(receivers[0]!)(trial);
  };
  const countCalls = async (begin: Begin) => (await runTrials(begin, [new Trial()]))[0]!.trial.calls.length;
  const crash = (occurrence: number): Fault => ({ occurrence, failure: 'crash', when: 'before' });

  /** Numbers that look random. The same seed gives the same numbers. */
  function numbersOf(seed: number): (below: number) => number {
    let state = seed + 1;
    return (below) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
  }

  /** Trials with up to four faults at any calls, and with messages that are lost or arrive twice. */
  const randomTrials = (
    count: number,
    calls: number,
    failures: readonly Omit<Fault, 'occurrence'>[] = [...allFailures, { failure: 'stall', when: 'before' }],
  ) =>
    times(count, (seed) => {
      const random = numbersOf(seed);
      const faults = times(seed % 5, () => ({
        occurrence: 1 + random(calls + 10),
        ...failures[random(failures.length)]!,
      }));
      const [lost, copied] = [random(2) * random(6), random(2) * random(6)];
      return Object.assign(new Trial(...faults), { tries: [undefined, 3, 1, 0][seed % 4], lost, copied });
    });

  test('are sent after two crashes at any two calls', async () => {
    const calls = await countCalls(toLate);
    const pairs = times(calls, (first) =>
      times(calls - first + 10, (more) => [crash(first + 1), crash(first + 2 + more)]),
    );
    const subjects = await runTrials(
      toLate,
      pairs.flat().map((faults) => new Trial(...faults)),
    );
    await expectNothingLost(subjects, lateEnd);
  });

  test('are sent after a crash at any call and a message that is lost or arrives twice', async () => {
    const calls = await countCalls(toLate);
    const trials = times(calls, (call) =>
      [1, 2, 3].flatMap((nth) =>
        (['lost', 'copied'] as const).map((what) => Object.assign(new Trial(crash(call + 1)), { [what]: nth })),
      ),
    );
    await expectNothingLost(await runTrials(toLate, trials.flat()), lateEnd);
  });

  test('have their next message sent after a crash by the redelivered message, before the sweep runs', async () => {
    const calls = await countCalls(toLate);
    const startedAt = cloud.now;
    const subjects = await runTrials(
      toLate,
      times(calls, (call) => new Trial(crash(call + 1))),
    );
    for (const { trial, tenant, events } of subjects) {
      const second = cloud.postedAt.get(`${events[0]} ${tenant}_ep_0 2`)! - startedAt;
      // SQS delivers the message again when its visibility timeout is over. The sweep would need five minutes.
      expect([trial.injected, second < 200 * SECOND]).toEqual([trial.injected, true]);
    }
  });

  test('end as without faults after random ones, with one event for each exhausted delivery', async () => {
    const begin = eventTo(...receivers);
    const subjects = await runTrials(begin, randomTrials(400, await countCalls(begin)));
    await expectNothingLost(subjects, allEnds);
    expect(await exhaustedEvents()).toHaveLength(subjects.length + 1);
  });

  test('end as without resends, which come at any time and in addition to the schedule', async () => {
    const calls = await countCalls(eventTo(...receivers));
    const trials = randomTrials(200, calls);
    const resends = new Map(trials.map((trial, seed) => [trial, 1 + (seed % 3)]));
    const store = new DeliveryStore(cloud.table);
    const subjects = await runTrials(async (trial) => {
      const tenant = await newTenant(receivers);
      const eventId = await writeEvent(tenant, trial);
      const random = numbersOf(Number(resends.get(trial)) + trials.indexOf(trial));
      const moments = new Set(times(resends.get(trial) ?? 0, () => 1 + random(calls)));
      resends.set(trial, moments.size);
      trial.onCall = async (nth) => {
        if (!moments.delete(nth)) return;
        const key = { tenant, eventId, endpointId: `${tenant}_ep_${random(3)}`, resendId: `rsd_${nth}` };
        const due = (await store.resend(key, cloud.now, cloud.webhookTiming)) ?? [];
        for (const { body } of due.flatMap((each) => nextAttemptMessages(each, cloud.now)))
          cloud.send('deliverSlow', body);
      };
      return { trial, tenant, events: [eventId] };
    }, trials);
    await expectNothingLost(subjects, allEnds, (trial) => resends.get(trial) ?? 0);
  });

  test('are not sent to an endpoint that was deleted at any time, and end', async () => {
    const calls = await countCalls(eventTo(...receivers));
    const subjects = await runTrials(
      async (trial) => {
        const subject = await eventTo(...receivers)(trial);
        const endpoints = new WebhookEndpointStore(cloud.table);
        const random = numbersOf(subject.events[0]!.length + trial.copied + trial.lost);
        const moments = new Map([GOOD, DEAD].map((number) => [number, 1 + random(calls)]));
        trial.onCall = async (nth, name) => {
          for (const [number, moment] of moments) {
            // The worker reads the settings by two calls at a time. A deletion between their ends would come too late.
            if (nth < moment || name === 'BatchGet') continue;
            moments.delete(number);
            const endpointId = `${subject.tenant}_ep_${number}`;
            await endpoints.delete(subject.tenant, endpointId);
            cloud.deletedEndpoints.add(endpointId);
          }
        };
        return subject;
      },
      randomTrials(200, calls, allFailures),
    );
    await expectNothingLost(subjects, { [LATE]: ['DELIVERED', 2] });
  });
});

/** Returns the position of a fault's call among all calls, counted from 1. Returns 0 if there is no such call. */
function positionOf(calls: readonly string[], { kind, occurrence }: Fault): number {
  const positions = calls.flatMap((name, index) => (name === kind ? [index + 1] : []));
  return positions[occurrence - 1] ?? 0;
}

/**
 * Creates a customer and comments that mention the user Grace. Each comment causes a mail to her. Returns the events
 * of the comments.
 */
async function newMailings(
  count: number,
  onEvent: (eventId: string) => void,
): Promise<{ tenant: string; events: string[] }> {
  const customer = await newCustomer();
  await customer.addDocuments(['nda']);
  const [ada, grace] = ['ada', 'grace'].map((userId) => ({ userId, name: userId, email: `${userId}@example.com` }));
  await customer.addUsers([ada!, grace!], nda);
  await customer.ok('/v2/workspace/emailconfig/update', { useEmailService: true });
  for (let i = 0; i < count; i += 50) {
    const commentAnnotations = times(Math.min(50, count - i), (index) => ({
      annotationId: `thread${i + index}`,
      commentData: [
        { commentText: 'hi', from: ada, taggedUserContacts: [{ userId: 'grace' }], triggerNotification: true },
      ],
    }));
    await customer.untyped('/v2/commentannotations/add', { ...nda, commentAnnotations });
  }
  const items = await itemsOf(engine, customer, EventEntity.type);
  for (const item of items) {
    onEvent(item.eventId);
    cloud.addStreamRecord(item);
  }
  return { tenant: customer.apiKey, events: items.map(({ eventId }) => eventId) };
}

describe('mails with a fault at any AWS call', () => {
  test.each([
    ['that the provider accepts', 0],
    ['that the provider rejects at first', 1],
  ])('are sent at most once for a mail %s, and lost only if their result is unknown', async (_which, refusals) => {
    const refused = new Map<string, number>();
    cloud.stubs.mail = async (mailId) => {
      const occurrences = (refused.get(mailId) ?? 0) + 1;
      refused.set(mailId, occurrences);
      return occurrences <= refusals
        ? Object.assign(new Error('try again'), { name: 'InternalFailure', $metadata: { httpStatusCode: 500 } })
        : undefined;
    };
    const undisturbed = new Trial();
    const { events } = await newMailings(1, (eventId) => cloud.watch(eventId, undisturbed));
    await cloud.run();
    expect(events).toHaveLength(1);
    expect([...cloud.mailCounts.values()]).toEqual([1]);
    expect(undisturbed.calls.filter((name) => name === 'SendEmail')).toHaveLength(1 + refusals);

    const trials = trialsOf(everyFault(undisturbed.calls));
    const remainingTrials = trials.values();
    const trialOfEvent = new Map<string, Trial>();
    const { tenant } = await newMailings(trials.length, (eventId) => {
      const trial = remainingTrials.next().value!;
      trialOfEvent.set(eventId, trial);
      cloud.watch(eventId, trial);
    });
    await cloud.run();

    expect(await cloud.due()).toEqual([]);
    expect(cloud.deadLetters).toEqual([]);
    const mails = (await itemsOfType(MailEntity.type)).filter(({ PK }) => tenantOf({ PK }) === tenant);
    expect(mails).toHaveLength(trials.length);
    expect(trials.filter(({ injected }) => injected.length === 0)).toEqual([]);
    for (const { mailId, about, status } of mails) {
      const {
        injected,
        faults: [fault],
      } = trialOfEvent.get(about.eventId)!;
      const occurrences = cloud.mailCounts.get(mailId) ?? 0;
      // The status UNKNOWN is only allowed if the fault hit the claim, the send or the write of the result.
      const position = positionOf(undisturbed.calls, fault!);
      const ambiguous =
        status === 'UNKNOWN' &&
        undisturbed.calls.some((name, index) => name === 'SendEmail' && position >= index && position <= index + 2);
      expect([
        injected,
        status,
        ambiguous || status === 'SENT',
        ambiguous ? occurrences <= 1 : occurrences === 1,
      ]).toEqual([injected, status, true, true]);
    }
  });
});

const isRead = (call: string) => /^(Get|BatchGet|Query)/.test(call);
const onConfig = (path: string, data: object) => (customer: Customer) =>
  customer.untyped(`/v2/workspace/${path}/update`, data);
const notifications = (notificationServiceConfig: object) =>
  onConfig('notificationconfig', { useNotificationService: true, notificationServiceConfig });
const noLimits: MailLimits = { recipient: 0, writer: 0 };
const delayAndWindow = {
  delayConfig: { isEnabled: true, delaySeconds: 60 },
  batchConfig: { user: { isEnabled: true, batchWindowSeconds: 300 } },
};
const delayAndFullWindow = {
  delayConfig: { isEnabled: false },
  batchConfig: { document: { isEnabled: true, batchWindowSeconds: 300, maxActivities: 2 } },
};

describe('mails that wait, with a fault at any AWS call', () => {
  test.each<[string, MailLimits, object, object | undefined]>([
    ['a delay and a window', noLimits, delayAndWindow, undefined],
    ['a window that is full at once', noLimits, delayAndFullWindow, undefined],
    ['limits', { recipient: 1, writer: 1 }, {}, undefined],
    [
      'a delay that is switched off after the fault',
      noLimits,
      delayAndWindow,
      { delayConfig: { isEnabled: false }, batchConfig: { user: { isEnabled: false } } },
    ],
    [
      'a delay that is longer after the fault',
      noLimits,
      delayAndWindow,
      { delayConfig: { isEnabled: true, delaySeconds: 86_400 } },
    ],
  ])('are sent once for %s', async (_what, limits, settings, later) => {
    cloud.mailLimits = limits;
    const undisturbed = new Trial();
    await waitingMails([undisturbed], settings);
    const reads = faultsOfEveryKind(undisturbed.calls.filter((name) => isRead(name)));
    const trials = trialsOf([...reads, ...everyFault(undisturbed.calls.filter((name) => !isRead(name)))]);
    const { tenant, eventsOf, changedAt } = await waitingMails(trials, settings, later);

    expect(await cloud.due()).toEqual([]);
    expect(cloud.deadLetters).toEqual([]);
    const items = (await everyItem(engine)).filter(({ PK }) => tenantOf({ PK }) === tenant);
    expect(items.filter(({ _t }) => _t === WaitingEntryEntity.type || _t === JobEntity.type)).toEqual([]);
    const mails = items.filter(({ _t }) => _t === MailEntity.type);
    expect(trials.filter(({ injected }) => injected.length === 0)).toEqual([]);
    for (const trial of trials) {
      const [fault] = trial.faults;
      for (const eventId of eventsOf.get(trial)!) {
        const about = mails.filter(({ about: { eventId: id, eventIds = [id] } }) => eventIds.includes(eventId));
        const sent = about.filter(({ status }) => status !== 'COLLECTED');
        const count = sent.reduce((sum, { mailId }) => sum + (cloud.mailCounts.get(mailId) ?? 0), 0);
        const isUnknown = sent[0]?.status === 'UNKNOWN' && isAround('SendEmail', undisturbed.calls, fault!);
        expect([trial.injected, sent.length, isUnknown || sent[0]?.status === 'SENT', count <= 1]).toEqual([
          trial.injected,
          1,
          true,
          true,
        ]);
        expect([trial.injected, isUnknown || count === 1]).toEqual([trial.injected, true]);
        // What waited before the settings changed is due within an hour. A process that counts a mail and crashes counts
        // it again, so the mail can wait for another hour.
        const since: number = about.find(({ status }) => status === 'COLLECTED')?.createdAt ?? Infinity;
        const isLate = since < changedAt && sent[0]!.createdAt > since + 150 * MINUTE;
        expect([trial.injected, isLate]).toEqual([trial.injected, false]);
      }
    }
  });
});

/** Whether a fault hits a call, the one before it, or the one after it. */
function isAround(kind: string, calls: readonly string[], fault: Fault): boolean {
  const position = positionOf(calls, fault);
  return calls.some((name, index) => name === kind && position >= index && position <= index + 2);
}

/**
 * Writes two comments for each trial, by a writer and to a recipient of its own, and runs the cloud. `later` are the
 * settings ten seconds after.
 */
async function waitingMails(trials: readonly Trial[], settings: object, later?: object) {
  const customer = await withStillClock(() => customerWithComments(trials, settings), cloud.now);
  const eventsOf = new Map(trials.map((trial) => [trial, [] as string[]]));
  for (const item of await itemsOf(engine, customer, EventEntity.type)) {
    const { audience } = JSON.parse(item.smallPayload) as { audience: { actorId: string } };
    const trial = trials[Number(audience.actorId.replace('writer', ''))]!;
    eventsOf.get(trial)!.push(item.eventId);
    cloud.watch(item.eventId, trial);
    cloud.addStreamRecord(item);
  }
  const changedAt = cloud.now + 10 * SECOND;
  if (later) cloud.plan(changedAt, async () => void (await notifications(later)(customer)));
  await cloud.run();
  return { tenant: customer.apiKey, eventsOf, changedAt };
}

async function customerWithComments(trials: readonly Trial[], settings: object): Promise<Customer> {
  const customer = await newCustomer();
  await customer.addDocuments(['nda']);
  const people = trials.map((_trial, index) => [`writer${index}`, `reader${index}`]);
  const users = people.flat().map((userId) => ({ userId, email: `${userId}@example.com` }));
  for (let i = 0; i < users.length; i += 50) await customer.addUsers(users.slice(i, i + 50), nda);
  await onConfig('emailconfig', { useEmailService: true })(customer);
  await notifications(settings)(customer);
  for (const [index, [writer, reader]] of people.entries())
    await customer.untyped('/v2/commentannotations/add', {
      ...nda,
      commentAnnotations: times(2, (thread) => ({
        annotationId: `trial${index}-${thread}`,
        commentData: [
          {
            commentText: 'hi',
            from: { userId: writer },
            taggedUserContacts: [{ userId: reader }],
            triggerNotification: true,
          },
        ],
      })),
    });
  return customer;
}

/**
 * The kinds of AWS calls of a sweep that finds every kind of work. Includes the calls of the timer, and of the worker
 * for its messages.
 */
const sweepCalls: readonly string[] = [
  'BatchGet',
  'GetQueueAttributes',
  'Put Delivery',
  'Put Event',
  'Put FirstAttempts',
  'Put Job',
  'Put Mail',
  'Query',
  'Query deliveries',
  'Query firstAttempts',
  'Query jobs',
  'Query mails',
  'Query events',
  'SendMessageBatch deliver',
  'SendMessageBatch deliverSlow',
  'SendMessageBatch jobs',
  'SendMessageBatch mail',
  'SendMessageBatch sweep',
  'Timer Query deliveries',
  'Timer Query firstAttempts',
  'Timer Query jobs',
  'Timer Query mails',
  'Timer Query events',
  'Timer Query gsi3',
];

describe('the sweep', () => {
  test('loses no event, delivery, mail or job if it fails at any call', async () => {
    cloud.webhookTiming = { schedule: [0, 20 * MINUTE], marginMs: MINUTE };
    cloud.mailTiming = { schedule: [0, MINUTE], marginMs: MINUTE };
    let losing = true;
    // Stream records are not delivered, and all messages except those of the sweep are lost.
    cloud.stubs.tries = () => (losing ? 0 : 3);
    const isLost = (queue: QueueName) => losing && queue !== 'sweep';
    cloud.stubs.lost = isLost;
    const stored: { readonly tenant: string; readonly eventId: string }[] = [];
    /**
     * Stores work of every kind that is due: an event in the outbox, a group of first attempts, a failed first
     * attempt, mails and a job.
     */
    const prepare = async () => {
      const [good, bad] = [await newTenant([{ mode: 'good' }]), await newTenant([{ mode: 'bad' }])];
      const grouped = await writeEvent(good);
      stored.push({ tenant: good, eventId: grouped });
      const retried = await writeEvent(bad);
      stored.push({ tenant: bad, eventId: retried });
      cloud.now += 4 * MINUTE;
      cloud.stubs.lost = (queue, { eventId }) => isLost(queue) && eventId !== retried;
      // The sweep stores the first attempts of both events in groups. The message of one group is lost. The attempt of
      // the other one fails.
      await cloud.sweep();
      await cloud.run(cloud.now);
      cloud.stubs.lost = isLost;
      cloud.now += 16 * MINUTE;
      stored.push({ tenant: good, eventId: await writeEvent(good) });
      // There are no parked deliveries, so this job ends at its first step.
      await cloud.table.write([startJob(good, parkingJob(`${good}_ep_0`, cloud.now), cloud.now)]);
      cloud.now += 4 * MINUTE;
    };
    /** Sends all due work without losses. The next sweep then finds only the work of its own fault. */
    const sendAll = async () => {
      [losing, haveRecovered] = [false, true];
      await cloud.run();
      [losing, haveRecovered] = [true, false];
    };
    await newMailings(1, () => undefined);
    await prepare();
    const clean = new Trial();
    expect(await cloud.sweep(clean)).toBe(true);
    await sendAll();
    const kinds = [...new Set(clean.calls)].sort();
    expect(kinds).toEqual(sweepCalls.toSorted());
    for (const fault of faultsOfEveryKind(clean.calls)) {
      // The sweep without faults has sent the mails of the first thread. The next sweep needs mails of a new thread.
      await newMailings(1, () => undefined);
      await prepare();
      const trial = new Trial(fault);
      await cloud.sweep(trial);
      expect([fault, trial.injected.length]).toEqual([fault, 1]);
      await cloud.run(cloud.now);
      await sendAll();
    }
    expect(await cloud.due()).toEqual([]);
    expect(cloud.deadLetters).toEqual([]);
    for (const { tenant, eventId } of stored)
      expect(arrivals.get(`${eventId} ${tenant}_ep_0`)).toBeGreaterThanOrEqual(1);
    expect([...cloud.mailCounts.values()].every((occurrences) => occurrences === 1)).toBe(true);
  });

  test('sends each message once if two sweeps run at the same time', async () => {
    const tenant = await newTenant([{ mode: 'good' }]);
    cloud.stubs.lost = (queue) => queue === 'deliver';
    const events = await Promise.all(times(30, () => writeEvent(tenant)));
    await cloud.run(cloud.now);
    cloud.now += 4 * MINUTE;
    // The sweep stores the first attempts in groups, and the messages of the groups are lost too.
    await Promise.all([cloud.sweep(), cloud.sweep()]);
    cloud.now += 6 * MINUTE;
    await Promise.all([cloud.sweep(), cloud.sweep()]);
    expect(
      cloud
        .messagesOf('deliverSlow')
        .map(({ body }) => JSON.parse(body).eventId)
        .sort(),
    ).toEqual(events.sort());
    await cloud.run();
    expect([...cloud.postCounts.values()]).toEqual(events.map(() => 1));
  });
});

describe('queue messages', () => {
  test('are repeated if SQS rejects some, and the event stays in the outbox until all are sent', async () => {
    const tenant = await newTenant(times(25, () => ({ mode: 'good' as const })));
    let calls = 0;
    const healsAt = cloud.now + 5 * MINUTE;
    // SQS refuses every third message. It refuses the message of the second group for longer than the stream retries.
    const isSecondGroup = ({ more = [] }: DeliveryMessage) => more.length < 10;
    cloud.stubs.refused = (queue, body) =>
      queue === 'deliver' && (calls++ % 3 === 0 || (isSecondGroup(body as DeliveryMessage) && cloud.now < healsAt));
    const eventId = await writeEvent(tenant);
    await cloud.run(cloud.now + 2 * MINUTE);
    expect((await cloud.due()).map(({ kind }) => kind).sort()).toEqual(['events', 'firstAttempts']);
    expect(arrivals.size).toBe(20);
    await cloud.run();
    await expectNothingLost([{ trial: new Trial(), tenant, events: [eventId] }], allDelivered(25));
  });

  test('of the same retry cause one attempt if two workers receive them', async () => {
    cloud.webhookTiming = { schedule: [0, 20 * MINUTE, MINUTE], marginMs: 5 * MINUTE };
    const tenant = await newTenant([{ mode: 'bad' }]);
    cloud.batchSize = 1;
    const events = await Promise.all(times(5, () => writeEvent(tenant)));
    await cloud.run(cloud.now + MINUTE);
    haveRecovered = true;
    cloud.now += 19 * MINUTE;
    for (const eventId of events)
      for (let copy = 0; copy < 2; copy++)
        cloud.send('deliverSlow', { tenant, eventId, endpointId: `${tenant}_ep_0`, attemptNo: 2 });
    await cloud.run();
    expect(events.map((eventId) => arrivals.get(`${eventId} ${tenant}_ep_0`))).toEqual(events.map(() => 2));
    await expectNothingLost([{ trial: new Trial(), tenant, events }], { 0: ['DELIVERED', 2] });
    expect(cloud.measures.counted.get('DuplicateMessages')).toBe(5);
  });
});

describe('the write of a delivery during conflicts with other transactions', () => {
  /** Returns the items that a command writes by a put. */
  function itemsPutBy(operation: string, input: any): Record<string, any>[] {
    if (operation === 'PutItem') return [input.Item];
    if (operation === 'TransactWriteItems') return input.TransactItems.map((write: any) => write.Put?.Item ?? {});
    return [];
  }

  /**
   * Makes the next `times` writes of a kind conflict. Returns a function that returns how many conflicts are still to
   * come.
   */
  function conflicts(
    kind: 'PutItem' | 'TransactWriteItems',
    occurrences: number,
    about: (item: Record<string, any>) => boolean = () => true,
  ): () => number {
    let remaining = occurrences;
    cloud.stubs.table = async ({ operation, input }) => {
      const isAffected = itemsPutBy(operation, input).some((item) => item._t === DeliveryEntity.type && about(item));
      if (operation !== kind || remaining === 0 || !isAffected) return undefined;
      remaining--;
      throw operation === 'PutItem'
        ? Object.assign(new Error('conflict'), { name: 'TransactionConflictException' })
        : Object.assign(new Error('conflict'), {
            name: 'TransactionCanceledException',
            CancellationReasons: [{ Code: 'TransactionConflict' }, { Code: 'None' }, { Code: 'None' }],
          });
    };
    return () => remaining;
  }

  test.each([
    ['without another HTTP request', 5, 1],
    ['with another attempt if the conflict lasts long', 10, 2],
  ])('is repeated for an exhausted delivery %s', async (_how, times, requests) => {
    const remainingConflicts = conflicts('TransactWriteItems', times);
    cloud.webhookTiming = { schedule: [0], marginMs: 5 * MINUTE };
    const tenant = await newTenant([{ mode: 'bad', fields: { filterTypes: ['huddle.create'] } }]);
    const eventId = await writeEvent(tenant);
    await cloud.run();
    const told = (await exhaustedEvents()).length;
    expect([remainingConflicts(), told, arrivals.get(`${eventId} ${tenant}_ep_0`)]).toEqual([0, 1, requests]);
    if (requests === 1)
      await expectNothingLost([{ trial: new Trial(), tenant, events: [eventId] }], { 0: ['EXHAUSTED', 1] });
  });

  test.each([
    ['a claim', (item: Record<string, any>) => item.claim !== undefined, 1, 'bad', 2],
    ['the result of a retry', (item: Record<string, any>) => item.attempts === 2, 3, 'bad', 2],
    ['the result of a first attempt', (item: Record<string, any>) => item.status === 'DELIVERED', 3, 'good', 1],
    ['a cancelled first attempt', (item: Record<string, any>) => item.status === 'CANCELLED', 1, 'disabled', 0],
  ] as const)('loses no delivery for %s', async (_what, about, occurrences, mode, attempts) => {
    const remainingConflicts = conflicts('PutItem', occurrences, about);
    const tenant = await newTenant([{ mode: mode === 'disabled' ? 'good' : mode }]);
    cloud.stubs.tries = () => (mode === 'disabled' ? 0 : 3);
    const eventId = await writeEvent(tenant);
    cloud.stubs.tries = () => 3;
    if (mode === 'bad') await cloud.run(cloud.now);
    haveRecovered = true;
    if (mode === 'disabled') {
      const endpointId = `${tenant}_ep_0`;
      await new WebhookEndpointStore(cloud.table).delete(tenant, endpointId);
      cloud.send('deliver', { tenant, eventId, endpointId, group: ALL_FIRST_ATTEMPTS, attemptNo: 1 });
    }
    await cloud.run();
    expect(remainingConflicts()).toBe(0);
    const status = mode === 'disabled' ? 'CANCELLED' : 'DELIVERED';
    await expectNothingLost([{ trial: new Trial(), tenant, events: [eventId] }], { 0: [status, attempts] });
    expect(arrivals.get(`${eventId} ${tenant}_ep_0`) ?? 0).toBe(attempts);
  });
});

test('40 events reach 43 healthy endpoints once each, and 7 failing or hanging endpoints by retries', async () => {
  cloud.webhookTiming = { schedule: [0, SECOND, 2 * SECOND, 5 * SECOND, MINUTE], marginMs: 5 * MINUTE };
  // Messages are processed one at a time in each batch. The one receiver of this test accepts only a few hundred
  // connections at a time.
  cloud.batchSize = 1;
  cloud.timeoutMs = ({ url }) => (!haveRecovered && url.includes('/hang/') ? 200 : 10 * MINUTE);
  const modes = [...Array<Mode>(43).fill('good'), ...Array<Mode>(5).fill('bad'), ...Array<Mode>(2).fill('hang')];
  const tenant = await newTenant(modes.map((mode) => ({ mode, fields: { filterTypes: ['huddle.create'] } })));
  cloud.plan(cloud.now + 20 * SECOND, async () => void (haveRecovered = true));
  const events: string[] = [];
  for (let i = 0; i < 40; i++) events.push(await writeEvent(tenant));
  await cloud.run();

  expect(await cloud.due()).toEqual([]);
  const deliveries = await itemsOfType(DeliveryEntity.type);
  expect(deliveries).toHaveLength(40 * 50);
  for (const { eventId, endpointId, status, attempts } of deliveries) {
    const mode = modes[Number(endpointId.split('_ep_')[1])];
    expect([status, attempts === 1]).toEqual(['DELIVERED', mode === 'good' || attempts === 1]);
    // An attempt with a timeout may not have reached the receiver.
    const occurrences = arrivals.get(`${eventId} ${endpointId}`)!;
    expect([occurrences >= 1, occurrences <= attempts, mode === 'hang' || occurrences === attempts]).toEqual([
      true,
      true,
      true,
    ]);
  }
  expect(Math.max(...cloud.postCounts.values())).toBe(1);
  // Ten failures in a row open a breaker. The failed attempts are retried later, and so are the deliveries that the
  // breaker paused.
  expect(cloud.measures.counted.get('CircuitBreakersOpened')).toBe(7);
  for (let index = 43; index < 50; index++)
    expect(
      deliveries.filter(({ endpointId, attempts }) => endpointId === `${tenant}_ep_${index}` && attempts > 1).length,
    ).toBeGreaterThanOrEqual(10);
});
