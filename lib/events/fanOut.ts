import { building, type Capability } from '../app/capability.ts';
import { type DeliveryStore, type DueDelivery, makeDeliveries } from '../webhooks/deliveries.ts';
import { readSubscriptions, type SubscriptionReader, type Subscriptions } from '../webhooks/subscriptions.ts';
import { emptyOutbox, type EventStore, type EventToDeliver, type StoredEvent } from './outbox.ts';
import { type Matched, matches, matchingBasicTargets } from '../webhooks/rules/matching.ts';
import type { Timing } from '../webhooks/rules/schedule.ts';
import { distinct } from '../shared/collections.ts';
import { inParallel } from '../shared/inParallel.ts';
import { sendTo } from '../workers/queues.ts';
import type { QueueSender } from '../workers/sender.ts';
import type { WorkerCall } from '../app/worker.ts';
import type { Consumer } from './audience.ts';
import { inAppFanOut } from '../notifications/inAppFanOut.ts';
import { mailFanOut } from '../mail/mailFanOut.ts';
import { messageAbout } from '../webhooks/deliveryMessage.ts';
import { deliveryTiming } from '../webhooks/deliveryTiming.ts';
import * as logMessages from '../observability/logMessages.ts';

export interface FanOutDeps {
  readonly outbox: Pick<EventStore, 'toDeliver' | 'fannedOut'>;
  readonly subscriptions: Pick<SubscriptionReader, 'of'>;
  readonly deliveries: Pick<DeliveryStore, 'make'>;
  /** The queue of first attempts. */
  readonly live: QueueSender;
  readonly timing: Timing;
  /** Each made anew for a batch: what it reads of configurations it reads once per batch and tenant. */
  readonly consumers: readonly (() => Consumer)[];
}

type Call = Pick<WorkerCall<Record<never, never>>, 'clock' | 'log' | 'measures'>;

/** Events that are worked on at a time. */
const PARALLEL = 10;

/**
 * Makes the deliveries of events, sends their messages, and takes the events out of the outbox, in this order: what ends half-way is found
 * there again (deliveries 2.2, 2.4). All of it can be done twice. Gives the ids of the events that failed; no other suffers for one.
 */
export async function fanOut(
  deps: FanOutDeps,
  events: readonly Pick<StoredEvent, 'tenant' | 'eventId'>[],
  call: Call,
): Promise<ReadonlySet<string>> {
  const tenants = distinct(events.map(({ tenant }) => tenant));
  const [pending, subscriptions] = await Promise.all([deps.outbox.toDeliver(events), subscriptionsOf(deps, tenants)]);
  const batch = new Batch(pending, call);

  const due = new Map<EventToDeliver, DueDelivery[]>();
  await batch.each(async (event) => {
    const endpointIds = targetsOf(event, await subscriptions.get(event.tenant)!());
    due.set(event, await deps.deliveries.make(event, endpointIds, call.clock(), deps.timing));
  });
  await batch.together(
    [...due.keys()].filter((event) => due.get(event)!.length > 0),
    async (some) => {
      const now = call.clock();
      await deps.live.send(some.flatMap((event) => due.get(event)!.flatMap((delivery) => messageAbout(delivery, now))));
    },
  );
  const consumers = deps.consumers.map((consumer) => consumer());
  await batch.each((event) => allOf(consumers.map((consume) => consume(event))));
  await batch.each(async (event) => {
    const now = call.clock();
    await deps.outbox.fannedOut(event, now);
    call.measures.record('FanOutLatency', now - event.createdAt);
  });
  return batch.failed;
}

/** The events of a batch, less those that failed so far. */
class Batch {
  readonly failed = new Set<string>();
  readonly #events: readonly EventToDeliver[];
  readonly #call: Call;

  constructor(events: readonly EventToDeliver[], call: Call) {
    this.#events = events;
    this.#call = call;
  }

  /** Does some work for each event; the one that it throws for has failed. */
  async each(work: (event: EventToDeliver) => Promise<void>): Promise<void> {
    await inParallel(this.#left(this.#events), PARALLEL, (event) => this.together([event], () => work(event)));
  }

  /** Does some work for several events at once; when it throws, all of them have failed. */
  async together(
    events: readonly EventToDeliver[],
    work: (events: readonly EventToDeliver[]) => Promise<void>,
  ): Promise<void> {
    try {
      await work(this.#left(events));
    } catch (error) {
      for (const { eventId } of events) {
        this.failed.add(eventId);
        this.#call.log.error(logMessages.eventFanOutFailed, { eventId, error });
      }
    }
  }

  #left(events: readonly EventToDeliver[]): readonly EventToDeliver[] {
    return events.filter(({ eventId }) => !this.failed.has(eventId));
  }
}

/** The subscriptions of each tenant, read once; what went wrong with one is thrown to those alone who ask for it. */
async function subscriptionsOf(
  { subscriptions }: FanOutDeps,
  tenants: readonly string[],
): Promise<ReadonlyMap<string, () => Promise<Subscriptions>>> {
  const read = await Promise.allSettled(tenants.map((tenant) => subscriptions.of(tenant)));
  return new Map(
    tenants.map((tenant, index) => {
      const result = read[index]!;
      return [
        tenant,
        () => (result.status === 'fulfilled' ? Promise.resolve(result.value) : Promise.reject(result.reason as Error)),
      ];
    }),
  );
}

function targetsOf(event: Matched, { endpoints, basic }: Subscriptions): string[] {
  return [
    ...endpoints.filter((endpoint) => matches(event, endpoint)).map(({ endpointId }) => endpointId),
    ...matchingBasicTargets(event, basic),
  ];
}

/** Waits for all, also when one fails; then throws what the first one threw. */
async function allOf(work: readonly Promise<void>[]): Promise<void> {
  const failure = (await Promise.allSettled(work)).find((result) => result.status === 'rejected');
  if (failure) throw failure.reason;
}

/** Make the deliveries of events: webhooks, and what the other consumers make. */
export const fansOut: Capability<FanOutDeps> = /* @__PURE__ */ building(
  [emptyOutbox, readSubscriptions, makeDeliveries, sendTo.deliver, deliveryTiming, inAppFanOut, mailFanOut],
  {
    grants: [],
    env: [],
    open: (env) => {
      const inApp = inAppFanOut.open(env);
      return {
        outbox: emptyOutbox.open(env),
        subscriptions: readSubscriptions.open(env),
        deliveries: makeDeliveries.open(env),
        live: sendTo.deliver.open(env),
        timing: deliveryTiming.open(env),
        consumers: [() => inApp, mailFanOut.open(env)],
      };
    },
  },
);
