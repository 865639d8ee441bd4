import { type Capability, combine, type Uses } from '../app/capability.ts';
import type { WorkerCall } from '../app/worker.ts';
import { mailFanOut } from '../mail/mailFanOut.ts';
import { inAppFanOut } from '../notifications/inAppFanOut.ts';
import * as logMessages from '../observability/logMessages.ts';
import { distinct } from '../shared/collections.ts';
import { inParallel } from '../shared/inParallel.ts';
import { createDeliveries, type DeliveryStore } from '../webhooks/deliveries.ts';
import { deliveryTiming, type DueDelivery, nextAttemptMessages } from '../webhooks/deliveryMessage.ts';
import { matchesEndpoint, matchingBasicTargets } from '../webhooks/rules/matching.ts';
import type { Timing } from '../webhooks/rules/schedule.ts';
import { readSubscriptions, type SubscriptionReader, type Subscriptions } from '../webhooks/subscriptions.ts';
import * as sendTo from '../workers/sendTo.ts';
import type { QueueSender } from '../workers/sender.ts';
import type { EventConsumer } from './audience.ts';
import { type EventToDeliver, type OutboxStore, processOutbox, type StoredEvent } from './outbox.ts';

export interface FanOutPorts {
  readonly outbox: Pick<OutboxStore, 'load' | 'markFannedOut'>;
  readonly subscriptions: Pick<SubscriptionReader, 'read'>;
  readonly deliveries: Pick<DeliveryStore, 'create'>;
  /** The queue of first attempts. */
  readonly firstQueue: QueueSender;
  readonly timing: Timing;
  /** Each is called once per batch, so that a consumer reads the configuration of a tenant once per batch. */
  readonly consumers: readonly (() => EventConsumer)[];
}

type FanOutCall = Pick<WorkerCall<Uses>, 'clock' | 'log' | 'measures'>;

/** Events in parallel. */
const PARALLEL = 10;

/**
 * Writes the deliveries of events, sends their messages, runs the other consumers, and removes the events from the outbox, in this order. An
 * event whose fan-out fails stays in the outbox. Every step can run twice. Returns the ids of the failed events; one failed event does not
 * affect the others.
 */
export async function fanOut(
  ports: FanOutPorts,
  events: readonly Pick<StoredEvent, 'tenant' | 'eventId'>[],
  call: FanOutCall,
): Promise<ReadonlySet<string>> {
  const [pending, subscriptionsOf] = await Promise.all([
    ports.outbox.load(events),
    readSubscriptionsOfAll(ports, distinct(events.map(({ tenant }) => tenant))),
  ]);
  const failed = new Set<string>();
  const run = async (some: readonly EventToDeliver[], work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      for (const { eventId } of some) {
        failed.add(eventId);
        call.log.error(logMessages.eventFanOutFailed, { eventId, error });
      }
    }
  };
  const forEachEvent = (work: (event: EventToDeliver) => Promise<void>) =>
    inParallel(
      pending.filter(({ eventId }) => !failed.has(eventId)),
      PARALLEL,
      (event) => run([event], () => work(event)),
    );

  const created = new Map<EventToDeliver, readonly DueDelivery[]>();
  await forEachEvent(async (event) => {
    const endpointIds = matchingTargets(event, await subscriptionsOf(event.tenant));
    const deliveries = await ports.deliveries.create(event, endpointIds, call.clock(), ports.timing);
    if (deliveries.length > 0) created.set(event, deliveries);
  });
  await run([...created.keys()], async () => {
    const now = call.clock();
    const due = [...created.values()].flat();
    await ports.firstQueue.send(due.flatMap((delivery) => nextAttemptMessages(delivery, now)));
  });
  const consumers = ports.consumers.map((open) => open());
  await forEachEvent((event) => runAll(consumers.map((consume) => consume(event))));
  await forEachEvent(async (event) => {
    const now = call.clock();
    await ports.outbox.markFannedOut(event, now);
    call.measures.record('FanOutLatency', now - event.createdAt);
  });
  return failed;
}

/** Reads the subscriptions of each tenant once. A failed read is thrown only for the events of that tenant. */
async function readSubscriptionsOfAll(
  { subscriptions }: FanOutPorts,
  tenants: readonly string[],
): Promise<(tenant: string) => Promise<Subscriptions>> {
  const reads = new Map(tenants.map((tenant) => [tenant, subscriptions.read(tenant)] as const));
  await Promise.allSettled(reads.values());
  return async (tenant) => (await reads.get(tenant)) ?? { endpoints: [], basic: undefined };
}

function matchingTargets(event: EventToDeliver, { endpoints, basic }: Subscriptions): string[] {
  const matching = endpoints.filter((endpoint) => matchesEndpoint(event, endpoint));
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
    deliveries: createDeliveries,
    firstQueue: sendTo.deliver,
    timing: deliveryTiming,
    inApp: inAppFanOut,
    mail: mailFanOut,
  },
  ({ inApp, mail, ...ports }) => ({ ...ports, consumers: [() => inApp, mail] }),
);
