import { type Capability, combine, type Uses } from '../app/capability.ts';
import type { WorkerCall } from '../app/worker.ts';
import { mailFanOut } from '../mail/mailFanOut.ts';
import { inAppFanOut } from '../notifications/inAppFanOut.ts';
import * as logMessages from '../observability/logMessages.ts';
import { inParallel } from '../shared/inParallel.ts';
import { ALL_FIRST_ATTEMPTS, deliveryTiming, firstAttemptMessage } from '../webhooks/deliveryMessage.ts';
import { createFirstAttempts, type FirstAttemptStore, toFirstAttempts } from '../webhooks/firstAttempts.ts';
import { groupEndpointIds, MOST_PER_GROUP } from '../webhooks/rules/firstAttempts.ts';
import { matchesEndpoint, matchingBasicTargets } from '../webhooks/rules/matching.ts';
import type { Timing } from '../webhooks/rules/schedule.ts';
import { readSubscriptions, type SubscriptionReader, type Subscriptions } from '../webhooks/subscriptions.ts';
import * as sendTo from '../workers/sendTo.ts';
import type { QueueMessage, QueueSender } from '../workers/sender.ts';
import type { EventConsumer } from './audience.ts';
import { type OutboxStore, processOutbox, type StoredEvent } from './outbox.ts';

export interface FanOutPorts {
  readonly outbox: Pick<OutboxStore, 'withPayloads' | 'markFannedOut'>;
  readonly subscriptions: Pick<SubscriptionReader, 'read'>;
  readonly groups: Pick<FirstAttemptStore, 'create'>;
  /** The queue of first attempts. */
  readonly firstQueue: QueueSender;
  readonly timing: Timing;
  /** Each is called once per batch, so that a consumer reads the configuration of a tenant once per batch. */
  readonly consumers: readonly (() => EventConsumer)[];
}

type FanOutCall = Pick<WorkerCall<Uses>, 'clock' | 'log' | 'measures'>;

interface FanOutOptions {
  /** Whether the messages are not sent now. The sweeper sends them when the queue of first attempts is shorter. */
  readonly isBacklogged?: boolean;
  /** Whether the event was found by the sweeper. Its groups are stored, so that the next sweeps wait longer and longer for its messages. */
  readonly isSwept?: boolean;
}

/** An event with the work that its fan-out found. */
interface PlannedEvent {
  readonly event: StoredEvent;
  readonly endpointIds: readonly string[];
  /** The consumers that the event may concern. */
  readonly consumers: readonly EventConsumer[];
  /** Whether the first attempts are stored in groups. The event then leaves the outbox now, else after its first attempts. */
  readonly isGrouped: boolean;
}

/** Events in parallel. */
const PARALLEL = 10;

/**
 * Finds the receivers of events, sends the messages of their first attempts, and runs the other consumers. Events leave the outbox last: here, or
 * after their first attempts if these fit in one message and nobody else consumes the event. An event whose fan-out fails stays in the outbox.
 * Every step can run twice. Returns the ids of the failed events; one failed event does not affect the others.
 */
export async function fanOut(
  ports: FanOutPorts,
  events: readonly StoredEvent[],
  call: FanOutCall,
  { isBacklogged = false, isSwept = false }: FanOutOptions = {},
): Promise<ReadonlySet<string>> {
  const { groups, outbox, timing } = ports;
  const failed = new Set<string>();
  const run = async (some: readonly StoredEvent[], work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      for (const { eventId } of some) {
        failed.add(eventId);
        call.log.error(logMessages.eventFanOutFailed, { eventId, error });
      }
    }
  };
  const consumers = ports.consumers.map((open) => open());
  const subscriptionsOf = readOnce((tenant) => ports.subscriptions.read(tenant));
  const planned: PlannedEvent[] = [];
  // All events at once: their reads share calls.
  await Promise.all(
    events.map((event) =>
      run([event], async () => {
        const [subscriptions, concerned] = await Promise.all([
          subscriptionsOf(event.tenant),
          concernedBy(event, consumers),
        ]);
        const endpointIds = matchingTargets(event, subscriptions);
        const fitsInOne = endpointIds.length > 0 && endpointIds.length <= MOST_PER_GROUP;
        const isGrouped = isSwept || concerned.length > 0 || !fitsInOne;
        planned.push({ event, endpointIds, consumers: concerned, isGrouped });
      }),
    ),
  );
  const forEachPlanned = (work: (plan: PlannedEvent) => Promise<void>) =>
    inParallel(
      planned.filter(({ event }) => !failed.has(event.eventId)),
      PARALLEL,
      (plan) => run([plan.event], () => work(plan)),
    );

  const messages = new Map<StoredEvent, readonly QueueMessage[]>();
  const delay = timing.schedule[0] ?? 0;
  await forEachPlanned(async ({ event, endpointIds, isGrouped }) => {
    const now = call.clock();
    const parts = groupEndpointIds(endpointIds).map((part) => toFirstAttempts(event, part, now, timing));
    const created = isGrouped ? await groups.create(parts) : [];
    // The message of a group that exists was sent before, or the sweep of the groups sends it.
    const grouped = isSwept ? created : parts;
    const named = isGrouped ? grouped : parts.map((part) => ({ ...part, group: ALL_FIRST_ATTEMPTS }));
    if (named.length > 0)
      messages.set(
        event,
        named.map((part) => firstAttemptMessage(part, delay)),
      );
  });
  if (!isBacklogged) await run([...messages.keys()], () => ports.firstQueue.send([...messages.values()].flat()));
  const concerned = new Map(
    planned.flatMap(({ event, consumers: some }) =>
      some.length > 0 && !failed.has(event.eventId) ? [[event.eventId, { event, some }] as const] : [],
    ),
  );
  const concernedEvents = [...concerned.values()].map(({ event }) => event);
  await run(concernedEvents, async () => {
    await inParallel(await outbox.withPayloads(concernedEvents), PARALLEL, (event) =>
      run([event], () => runAll((concerned.get(event.eventId)?.some ?? []).map((one) => one.consume(event)))),
    );
  });
  await forEachPlanned(async ({ event, isGrouped }) => {
    const now = call.clock();
    if (isGrouped) await outbox.markFannedOut(event, now);
    call.measures.record('FanOutLatency', now - event.createdAt);
  });
  return failed;
}

/** Returns the consumers that an event may concern. Only an event with an audience has recipients. */
async function concernedBy(event: StoredEvent, consumers: readonly EventConsumer[]): Promise<EventConsumer[]> {
  if (!event.hasAudience) return [];
  const answers = await Promise.all(consumers.map((consumer) => consumer.concerns(event)));
  return consumers.filter((_consumer, index) => answers[index]);
}

/** Returns a function that reads the value of each tenant once. A failed read is thrown only for the events of that tenant. */
function readOnce<T>(read: (tenant: string) => Promise<T>): (tenant: string) => Promise<T> {
  const reads = new Map<string, Promise<T>>();
  return (tenant) => {
    const running = reads.get(tenant) ?? read(tenant);
    reads.set(tenant, running);
    return running;
  };
}

function matchingTargets(event: StoredEvent, { endpoints, basic }: Subscriptions): string[] {
  const matching = [...endpoints.values()].filter((endpoint) => matchesEndpoint(event, endpoint));
  return [...matching.map(({ endpointId }) => endpointId), ...matchingBasicTargets(event, basic)];
}

/** Waits for all, even if one fails. Then throws the first failure. */
async function runAll(work: readonly Promise<void>[]): Promise<void> {
  const failure = (await Promise.allSettled(work)).find((result) => result.status === 'rejected');
  if (failure) throw failure.reason;
}

/** Fan events out to webhooks, mails and in-app notifications. */
export const fanOutCapability: Capability<FanOutPorts> = /* @__PURE__ */ combine(
  {
    outbox: processOutbox,
    subscriptions: readSubscriptions,
    groups: createFirstAttempts,
    firstQueue: sendTo.deliver,
    timing: deliveryTiming,
    inApp: inAppFanOut,
    mail: mailFanOut,
  },
  ({ inApp, mail, ...ports }) => ({ ...ports, consumers: [inApp, mail] }),
);
