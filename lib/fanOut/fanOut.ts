import { type Capability, combine, type Uses } from '../app/capability.ts';
import type { WorkerCall } from '../app/worker.ts';
import { chatFanOut } from '../chat/chatFanOut.ts';
import { type OutboxStore, processOutbox, type StoredEvent } from '../events/outbox.ts';
import { mailFanOut } from '../mail/mailFanOut.ts';
import type { EventConsumer } from '../notifications/audience.ts';
import { inAppFanOut } from '../notifications/inAppFanOut.ts';
import type { Log } from '../observability/log.ts';
import * as logMessages from '../observability/logMessages.ts';
import { slicesOf } from '../shared/collections.ts';
import { inParallel } from '../shared/inParallel.ts';
import { readOnce } from '../shared/readOnce.ts';
import { ALL_FIRST_ATTEMPTS, deliveryTiming, firstAttemptMessage } from '../webhooks/deliveryMessage.ts';
import { createFirstAttempts, type FirstAttemptStore, toFirstAttempts } from '../webhooks/firstAttempts.ts';
import { MAX_ATTEMPTS_PER_GROUP } from '../webhooks/rules/firstAttempts.ts';
import { matchesEndpoint, matchingBasicTargets } from '../webhooks/rules/matching.ts';
import { readSubscriptions, type SubscriptionReader, type Subscriptions } from '../webhooks/subscriptions.ts';
import type { Timing } from '../workers/rules/schedule.ts';
import type { QueueMessage, QueueSender } from '../workers/sender.ts';
import * as sendTo from '../workers/sendTo.ts';

export interface FanOutPorts {
  readonly outbox: Pick<OutboxStore, 'withPayloads' | 'keep' | 'markFannedOut'>;
  readonly subscriptions: Pick<SubscriptionReader, 'read'>;
  readonly groups: Pick<FirstAttemptStore, 'create'>;
  readonly firstQueue: QueueSender;
  readonly timing: Timing;
  /** One call opens the consumer of one batch, which reads the configuration of each tenant once. */
  readonly consumers: readonly ((log: Log) => EventConsumer)[];
}

type FanOutCall = Pick<WorkerCall<Uses>, 'clock' | 'log' | 'measures'>;

interface FanOutOptions {
  /** The queue of first attempts is long, so no messages are sent now. */
  readonly isBacklogged?: boolean;
  /**
   * The sweep found the events. Their first attempts are stored in groups, because a group counts its sweeps and the
   * pauses between its messages grow.
   */
  readonly isSwept?: boolean;
}

interface PlannedEvent {
  readonly event: StoredEvent;
  readonly endpointIds: readonly string[];
  readonly consumers: readonly EventConsumer[];
  /**
   * Whether the first attempts are stored in groups. Such an event leaves the outbox at the end of the fan-out, any
   * other after its first attempts.
   */
  readonly isGrouped: boolean;
}

const PARALLEL = 10;

/** Returns the ids of the events whose fan-out failed. A failed event stays in the outbox. Every step can run twice. */
export async function fanOut(
  ports: FanOutPorts,
  events: readonly StoredEvent[],
  call: FanOutCall,
  { isBacklogged = false, isSwept = false }: FanOutOptions = {},
): Promise<ReadonlySet<string>> {
  const batch = new FanOutBatch(ports, call, isSwept);
  await batch.findReceivers(events);
  const messages = await batch.storeFirstAttempts();
  if (!isBacklogged) await batch.send(messages);
  await batch.runConsumers();
  await batch.markFannedOut();
  return batch.failed;
}

/** A step skips the events whose earlier steps failed. */
class FanOutBatch {
  readonly failed = new Set<string>();
  readonly #ports: FanOutPorts;
  readonly #call: FanOutCall;
  readonly #isSwept: boolean;
  readonly #planned: PlannedEvent[] = [];
  /** Events that live longer than others, because mails wait for them. */
  readonly #kept = new Map<string, StoredEvent>();

  constructor(ports: FanOutPorts, call: FanOutCall, isSwept: boolean) {
    this.#ports = ports;
    this.#call = call;
    this.#isSwept = isSwept;
  }

  async findReceivers(events: readonly StoredEvent[]): Promise<void> {
    const consumers = this.#ports.consumers.map((open) => open(this.#call.log));
    const subscriptionsOf = readOnce((tenant) => this.#ports.subscriptions.read(tenant));
    // At the same time, so that the reads of all events share table calls.
    await Promise.all(
      events.map((event) =>
        this.#run([event], async () => {
          const [subscriptions, concerned] = await Promise.all([
            subscriptionsOf(event.tenant),
            concernedBy(event, consumers),
          ]);
          const endpointIds = matchingTargets(event, subscriptions);
          const fitsInOne = endpointIds.length > 0 && endpointIds.length <= MAX_ATTEMPTS_PER_GROUP;
          const isGrouped = this.#isSwept || concerned.length > 0 || !fitsInOne;
          this.#planned.push({ event, endpointIds, consumers: concerned, isGrouped });
        }),
      ),
    );
  }

  async storeFirstAttempts(): Promise<ReadonlyMap<StoredEvent, readonly QueueMessage[]>> {
    const { groups, timing } = this.#ports;
    const messages = new Map<StoredEvent, readonly QueueMessage[]>();
    const delay = timing.schedule[0] ?? 0;
    await this.#forEachPlanned(async ({ event, endpointIds, isGrouped }) => {
      const now = this.#call.clock();
      const allGroups = slicesOf(endpointIds, MAX_ATTEMPTS_PER_GROUP).map((ids) =>
        toFirstAttempts(event, ids, now, timing),
      );
      const newGroups = isGrouped ? await groups.create(allGroups) : [];
      // The message of an existing group was sent before, or the sweep of groups sends it.
      const storedGroups = this.#isSwept ? newGroups : allGroups;
      const groupsToSend = isGrouped
        ? storedGroups
        : allGroups.map((group) => ({ ...group, group: ALL_FIRST_ATTEMPTS }));
      if (groupsToSend.length === 0) return;
      messages.set(
        event,
        groupsToSend.map((group) => firstAttemptMessage(group, delay)),
      );
    });
    return messages;
  }

  async send(messages: ReadonlyMap<StoredEvent, readonly QueueMessage[]>): Promise<void> {
    await this.#run([...messages.keys()], () => this.#ports.firstQueue.send([...messages.values()].flat()));
  }

  async runConsumers(): Promise<void> {
    const concerned = new Map(
      this.#remaining().flatMap((plan) => (plan.consumers.length > 0 ? [[plan.event.eventId, plan] as const] : [])),
    );
    const events = [...concerned.values()].map(({ event }) => event);
    await this.#run(events, async () => {
      await inParallel(await this.#ports.outbox.withPayloads(events), PARALLEL, (event) =>
        this.#run([event], async () => {
          const consumers = concerned.get(event.eventId)?.consumers ?? [];
          const neededUntil = await runAll(consumers.map((consumer) => consumer.consume(event)));
          const keptUntil = Math.max(0, ...neededUntil.map((time) => time ?? 0));
          this.#kept.set(event.eventId, await this.#ports.outbox.keep(event, keptUntil));
        }),
      );
    });
  }

  async markFannedOut(): Promise<void> {
    await this.#forEachPlanned(async ({ event, isGrouped }) => {
      const now = this.#call.clock();
      if (isGrouped) await this.#ports.outbox.markFannedOut(this.#kept.get(event.eventId) ?? event, now);
      this.#call.measures.record('FanOutLatency', now - event.createdAt);
    });
  }

  #remaining(): readonly PlannedEvent[] {
    return this.#planned.filter(({ event }) => !this.failed.has(event.eventId));
  }

  #forEachPlanned(work: (plan: PlannedEvent) => Promise<void>): Promise<unknown> {
    return inParallel(this.#remaining(), PARALLEL, (plan) => this.#run([plan.event], () => work(plan)));
  }

  async #run(affected: readonly StoredEvent[], step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      for (const { eventId } of affected) {
        this.failed.add(eventId);
        this.#call.log.error(logMessages.eventFanOutFailed, { eventId, error });
      }
    }
  }
}

async function concernedBy(event: StoredEvent, consumers: readonly EventConsumer[]): Promise<EventConsumer[]> {
  if (!event.hasAudience) return [];
  const answers = await Promise.all(consumers.map((consumer) => consumer.concerns(event)));
  return consumers.filter((_consumer, index) => answers[index]);
}

function matchingTargets(event: StoredEvent, { endpoints, basic }: Subscriptions): string[] {
  const matching = [...endpoints.values()].filter((endpoint) => matchesEndpoint(event, endpoint));
  return [...matching.map(({ endpointId }) => endpointId), ...matchingBasicTargets(event, basic)];
}

async function runAll<T>(work: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(work);
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

export const fanOutCapability: Capability<FanOutPorts> = /* @__PURE__ */ combine(
  {
    outbox: processOutbox,
    subscriptions: readSubscriptions,
    groups: createFirstAttempts,
    firstQueue: sendTo.deliver,
    timing: deliveryTiming,
    inApp: inAppFanOut,
    mail: mailFanOut,
    chat: chatFanOut,
  },
  ({ inApp, mail, chat, ...ports }) => ({ ...ports, consumers: [inApp, mail, chat] }),
);
