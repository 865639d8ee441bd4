import { environment } from '../../../lib/app/capability.ts';
import { secretBox } from '../../../lib/crypto/secretBox.ts';
import { DeliveryStore } from '../../../lib/webhooks/deliveries.ts';
import { EndpointHealthStore } from '../../../lib/webhooks/endpointHealth.ts';
import { SubscriptionReader } from '../../../lib/webhooks/subscriptions.ts';
import { emit, OutboxStore, type StoredEvent } from '../../../lib/events/outbox.ts';
import type { Table } from '../../../lib/table/table.ts';
import { attemptDelivery, type AttemptPorts } from '../../../lib/webhooks/attempt.ts';
import { RateSlots } from '../../../lib/webhooks/rateSlots.ts';
import { fanOut } from '../../../lib/events/fanOut.ts';
import type { DeliveryMessage } from '../../../lib/webhooks/deliveryMessage.ts';
import { WebhookRequests } from '../../../lib/webhooks/prepareRequest.ts';
import type { Timing } from '../../../lib/webhooks/rules/schedule.ts';
import { newId } from '../../../lib/shared/ids.ts';
import type { CountedMetric } from '../../../lib/observability/deliveryMetrics.ts';
import type { QueueSender } from '../../../lib/workers/sender.ts';
import { createWebhookClient } from '../../../lib/webhooks/transport/send.ts';
import { BenchQueue } from './queue.ts';

const SECOND = 1000;

/** The schedule of a deployment. */
export const realTiming: Timing = {
  schedule: [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 36_000].map((seconds) => seconds * SECOND),
  marginMs: 300 * SECOND,
};

export interface SenderOptions {
  readonly timing?: Timing;
  /** The timeout of a receiver. */
  readonly timeoutMs?: number;
  /** The concurrency of each queue. */
  readonly live?: number;
  readonly slow?: number;
  /** Replacements for the stores of the table. */
  readonly stores?: Pick<AttemptPorts, 'deliveries' | 'health' | 'slots'>;
}

/**
 * Runs the code of the workers between an event and its receivers, on a given table, with in-memory queues.
 * It needs the environment variables of the engine.
 */
export class Sender {
  readonly live: BenchQueue;
  readonly slow: BenchQueue;
  readonly counted = new Map<CountedMetric, number>();
  readonly errors: unknown[] = [];
  readonly #table: Table;
  readonly #timing: Timing;
  readonly #deliveries: DeliveryStore;
  readonly #ports: Omit<AttemptPorts, 'ownQueue' | 'isFirstQueue'>;

  constructor(
    table: Table,
    { timing = realTiming, timeoutMs = 15 * SECOND, live = 100, slow = 20, stores }: SenderOptions = {},
  ) {
    this.#table = table;
    this.#timing = timing;
    this.live = new BenchQueue(live, (message) => this.deliver(message, this.live));
    this.slow = new BenchQueue(slow, (message) => this.deliver(message, this.slow));
    this.#deliveries = new DeliveryStore(table);
    const client = createWebhookClient({ allowLoopback: true });
    this.#ports = {
      deliveries: this.#deliveries,
      health: new EndpointHealthStore(table),
      slots: new RateSlots(table),
      ...stores,
      requests: new WebhookRequests(table, secretBox.open(environment(process.env))),
      client: { post: (request) => client.post({ ...request, timeoutMs }) },
      endpoints: { disable: async () => 'lost' },
      retryQueue: this.slow,
      timing,
      notifyOwner: async () => undefined,
      random: Math.random,
      sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    };
  }

  readonly call = {
    clock: Date.now,
    newId: (prefix: string) => newId(prefix, Date.now()),
    log: {
      info: () => undefined,
      warn: () => undefined,
      error: (_message: string, keys?: Record<string, unknown>) => void this.errors.push(keys?.error),
    },
    measures: {
      count: (name: CountedMetric, times = 1) => void this.counted.set(name, (this.counted.get(name) ?? 0) + times),
      record: () => undefined,
    },
  };

  /** Attempts a delivery, as the function of the queue `own` does. */
  async deliver(message: DeliveryMessage, own: QueueSender): Promise<void> {
    const ports = { ...this.#ports, ownQueue: own, isFirstQueue: own === this.live };
    await attemptDelivery(ports, message, this.call);
  }

  /** Writes an event of about two kilobytes in a transaction, as a change does. */
  async emit(tenant: string, event = 'comment.add'): Promise<Pick<StoredEvent, 'tenant' | 'eventId'>> {
    const now = Date.now();
    const ops = emit(
      tenant,
      { event, cause: { type: 'Bench', id: newId('cause', now), revision: 1 }, payload: payload(tenant) },
      now,
    );
    await this.#table.write(ops);
    return { tenant, eventId: (ops[0] as { put: { eventId: string } }).put.eventId };
  }

  /** Creates the deliveries of events and sends their messages. Throws if this fails for an event. */
  async fanOut(events: readonly Pick<StoredEvent, 'tenant' | 'eventId'>[]): Promise<void> {
    const deps = {
      outbox: new OutboxStore(this.#table),
      subscriptions: new SubscriptionReader(this.#table),
      deliveries: this.#deliveries,
      firstQueue: this.live,
      timing: this.#timing,
      consumers: [],
    };
    if ((await fanOut(deps, events, this.call)).size > 0) throw new Error('An event was not fanned out');
  }

  /** Creates deliveries without sending messages. Returns the messages. */
  async make(event: StoredEvent, endpointIds: readonly string[]): Promise<DeliveryMessage[]> {
    const made = await this.#deliveries.create(event, endpointIds, Date.now(), this.#timing);
    return made.map(({ tenant, eventId, endpointId }) => ({ tenant, eventId, endpointId, attemptNo: 1 }));
  }
}

/** Returns the payload of an event: about two kilobytes as JSON. */
export function payload(tenant: string) {
  return {
    source: 'comment' as const,
    data: {
      actionUser: { userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' },
      metadata: {
        apiKey: tenant,
        organization: { organizationId: 'acme', organizationName: 'Acme' },
        document: { documentId: 'nda', documentName: 'NDA' },
      },
      commentAnnotation: {
        annotationId: 'talk',
        status: { id: 'OPEN', name: 'Open' },
        comments: [{ commentId: 1, commentText: 'A comment of some length. '.repeat(60), from: { userId: 'ada' } }],
      },
    },
  };
}
