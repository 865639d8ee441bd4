import { environment } from '../../lib/app/capability.ts';
import { emit, EventEntity, type NewEvent, type StoredEvent, toInsertedEvent } from '../../lib/events/outbox.ts';
import { fanOut, fanOutCapability, type FanOutPorts } from '../../lib/fanOut/fanOut.ts';
import { type JobMessage, updateJobs } from '../../lib/jobs/jobStore.ts';
import { runJob, type RunJobDeps, type Step } from '../../lib/jobs/runJob.ts';
import type { EndpointFailure } from '../../lib/mail/mailFanOut.ts';
import { newId } from '../../lib/shared/ids.ts';
import { openTable, type Table } from '../../lib/table/table.ts';
import { attemptDelivery, type AttemptPorts, attemptsFrom } from '../../lib/webhooks/attempt.ts';
import { DeliveryEntity, DeliveryStore } from '../../lib/webhooks/deliveries.ts';
import type { DeliveryMessage } from '../../lib/webhooks/deliveryMessage.ts';
import { type IsBacklogged, readBacklog } from '../../lib/webhooks/firstAttemptBacklog.ts';
import { FirstAttemptStore } from '../../lib/webhooks/firstAttempts.ts';
import { releaseParked, releaseParkedStep, type ReleasePorts } from '../../lib/webhooks/releaseParked.ts';
import type { Delivery } from '../../lib/webhooks/rules/delivery.ts';
import type { Attempt } from '../../lib/webhooks/rules/loggedAttempt.ts';
import type { DeliverySweepPorts } from '../../lib/webhooks/sweepDeliveries.ts';
import { createWebhookClient } from '../../lib/webhooks/transport/send.ts';
import type { Timing } from '../../lib/workers/rules/schedule.ts';
import type { QueueMessage, QueueSender } from '../../lib/workers/sender.ts';
import type { ShardSweep, SweptWork } from '../../lib/workers/sweep.ts';
import { deliveryRoles } from './deliveryRoles.ts';
import { runShardSweeps, runTimer, shardSweepsOf } from './sweeps.ts';
import { recordingMeasures } from './workers.ts';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

const VISIBILITY = 3 * MINUTE;
const MAX_RECEIVES = 5;

interface Queued<M = DeliveryMessage> {
  readonly body: M;
  visibleAt: number;
  receives: number;
}

/** A queue in memory that follows the clock of the test. */
class TestQueue<M extends { readonly tenant: string } = DeliveryMessage> implements QueueSender {
  readonly messages: Queued<M>[] = [];
  readonly #clock: () => number;
  readonly #tenant: string;

  constructor(tenant: string, clock: () => number) {
    this.#tenant = tenant;
    this.#clock = clock;
  }

  async send(messages: readonly QueueMessage[]): Promise<void> {
    // Messages of other tenants are dropped, because the sweep also finds items of other tests.
    const ownMessages = messages.filter(({ body }) => (body as M).tenant === this.#tenant);
    this.messages.push(
      ...ownMessages.map(({ body, delaySeconds = 0 }) => ({
        body: body as M,
        visibleAt: this.#clock() + delaySeconds * SECOND,
        receives: 0,
      })),
    );
  }

  remove(message: Queued<M>): void {
    this.messages.splice(this.messages.indexOf(message), 1);
  }
}

/** The delivery of one tenant's webhooks on the real table. Tests control its queues and its clock. */
export class DeliverySystem {
  /** The simulated time in epoch milliseconds. It advances only while all workers wait. */
  now = Date.now();
  /** The workers that sleep while `drainInParallel` runs. If undefined, a sleep advances the clock instead. */
  #sleepers: { readonly at: number; readonly wake: () => void }[] | undefined;
  #changed: () => void = () => undefined;
  readonly table: Table = openTable(environment(process.env));
  readonly #tenant: string;
  readonly firstQueue: TestQueue;
  readonly retryQueue: TestQueue;
  readonly jobQueue: TestQueue<JobMessage>;
  /** The messages of jobs that the sweep has sent. */
  readonly jobs: object[] = [];
  readonly measures = recordingMeasures();
  readonly ownerNotifications: (EndpointFailure & { tenant: string })[] = [];
  readonly errors: { message: string; keys: Record<string, unknown> | undefined }[] = [];
  timing: Timing = {
    schedule: [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 36_000].map((seconds) => seconds * SECOND),
    marginMs: 5 * MINUTE,
  };
  random = () => 0.5;
  backlog = 0;
  /** Functions with which a test replaces some of the ports. */
  replacedPorts: {
    attempt?: Partial<AttemptPorts>;
    fanOut?: Partial<FanOutPorts>;
    sweep?: Partial<DeliverySweepPorts>;
  } = {};

  // These ports are opened once per process, as in a Lambda function.
  readonly #attempts: AttemptPorts = {
    ...attemptsFrom('deliver').open(environment(process.env)),
    client: createWebhookClient({ allowLoopback: true }),
  };

  readonly #log = {
    info: () => undefined,
    warn: () => undefined,
    error: (message: string, keys?: Record<string, unknown>) => void this.errors.push({ message, keys }),
  };

  constructor(tenant: string) {
    this.#tenant = tenant;
    this.firstQueue = new TestQueue(tenant, () => this.now);
    this.retryQueue = new TestQueue(tenant, () => this.now);
    this.jobQueue = new TestQueue(tenant, () => this.now);
  }

  readonly call = {
    clock: () => this.now,
    log: this.#log,
    measures: this.measures,
    newId: (prefix: string) => newId(prefix, this.now),
  };

  get attemptPorts(): AttemptPorts {
    return {
      ...this.#attempts,
      retryQueue: this.retryQueue,
      jobQueue: this.jobQueue,
      timing: this.timing,
      random: () => this.random(),
      sleep: (milliseconds) => this.#pause(milliseconds),
      notifyOwner: async (tenant, notification) => void this.ownerNotifications.push({ tenant, ...notification }),
      ...this.replacedPorts.attempt,
    };
  }

  get fanOutPorts(): FanOutPorts {
    return {
      ...fanOutCapability.open(environment(process.env)),
      firstQueue: this.firstQueue,
      timing: this.timing,
      consumers: [],
      ...this.replacedPorts.fanOut,
    };
  }

  readonly isBacklogged: IsBacklogged = readBacklog(async () => this.backlog);

  get sweepPorts(): DeliverySweepPorts {
    return {
      deliveries: new DeliveryStore(this.table),
      retryQueue: this.retryQueue,
      groups: new FirstAttemptStore(this.table),
      isBacklogged: this.isBacklogged,
      timing: this.timing,
      ...this.replacedPorts.sweep,
    };
  }

  /** The sweep of each kind of work. The sweep of mails does nothing here. */
  get shardSweeps(): Readonly<Record<SweptWork, ShardSweep>> {
    const queues = {
      jobs: {
        send: async (messages: readonly QueueMessage[]) => {
          this.jobs.push(...messages.map(({ body }) => body));
          await this.jobQueue.send(messages);
        },
      },
      embed: { send: async () => undefined },
    };
    const { table, fanOutPorts: fanOut, sweepPorts } = this;
    return shardSweepsOf({ ...sweepPorts, table, fanOut, mails: async () => undefined, queues });
  }

  /** Writes an event in a transaction, as a changing endpoint does. Returns its id. */
  async emit(event: Partial<NewEvent> & { id?: string } = {}): Promise<string> {
    const { id = newId('cause', this.now), ...fields } = event;
    const ops = emit(
      this.#tenant,
      {
        event: 'comment.add',
        cause: { type: 'Test', id, revision: 1 },
        payload: {
          source: 'huddle',
          data: { actionUser: { userId: 'ada', name: 'Ada' }, metadata: { apiKey: this.#tenant } },
        },
        ...fields,
      },
      this.now,
    );
    await this.table.write(ops);
    return (ops[0] as { put: { eventId: string } }).put.eventId;
  }

  /** Fans events out. Returns the ids of the failed events. */
  async fanOut(...eventIds: string[]): Promise<string[]> {
    return this.fanOutEvents(await this.insertedEvents(eventIds));
  }

  async fanOutEvents(events: readonly StoredEvent[]): Promise<string[]> {
    return [...(await deliveryRoles.fanOutEvents(() => fanOut(this.fanOutPorts, events, this.call)))];
  }

  /** Returns those of the events that the stream gives to the fan-out. */
  async insertedEvents(eventIds: readonly string[]): Promise<StoredEvent[]> {
    const tenant = this.#tenant;
    const events = await this.table.getMany(
      EventEntity,
      eventIds.map((eventId) => ({ tenant, eventId })),
    );
    return events.flatMap(
      (event) => (event && toInsertedEvent(EventEntity.toItem({ ...event, tenant }, event._r), this.now)) ?? [],
    );
  }

  /** Writes an event and fans it out. Returns its id. */
  async publish(event: Parameters<DeliverySystem['emit']>[0] = {}): Promise<string> {
    const eventId = await this.emit(event);
    await this.fanOut(eventId);
    return eventId;
  }

  /** Writes events and fans them out, one after another. Returns their ids. */
  async publishMany(count: number, event?: Parameters<DeliverySystem['emit']>[0]): Promise<string[]> {
    const eventIds: string[] = [];
    while (eventIds.length < count) eventIds.push(await this.publish(event));
    return eventIds;
  }

  /** Processes one message. `isFirstQueue` says whether it comes from the queue of first attempts. */
  async processMessage(message: DeliveryMessage, { isFirstQueue = false } = {}): Promise<void> {
    await deliveryRoles.deliverWebhook(() =>
      attemptDelivery({ ...this.attemptPorts, isFirstQueue }, message, this.call),
    );
  }

  /** Processes the messages in the queue of first attempts, one after another. */
  async processFirstQueue(): Promise<void> {
    for (const { body } of this.firstQueue.messages.splice(0)) await this.processMessage(body, { isFirstQueue: true });
  }

  /** Runs the next job for parked deliveries. Returns false if none is due before `until`. */
  async runNextJob(until = Infinity): Promise<boolean> {
    const [next] = this.jobQueue.messages.sort((a, b) => a.visibleAt - b.visibleAt);
    if (!next || next.visibleAt > until) return false;
    this.now = Math.max(this.now, next.visibleAt);
    this.jobQueue.remove(next);
    const step: Step = (job, clock, call) => releaseParkedStep(this.releasePorts, job, clock, call);
    const deps = {
      jobs: updateJobs.open(environment(process.env)),
      steps: { releaseParked: step } as RunJobDeps['steps'],
      queue: this.jobQueue,
    };
    const call = { ...this.call, message: next.body, deadline: Infinity };
    await deliveryRoles.runJobs(() => runJob(deps, call));
    return true;
  }

  get releasePorts(): ReleasePorts {
    return {
      ...releaseParked.open(environment(process.env)),
      notifyOwner: this.attemptPorts.notifyOwner,
      retryQueue: this.retryQueue,
      timing: this.timing,
    };
  }

  async #pause(milliseconds: number): Promise<void> {
    if (!this.#sleepers) return void (this.now += milliseconds);
    await new Promise<void>((wake) => {
      this.#sleepers?.push({ at: this.now + milliseconds, wake });
      this.#changed();
    });
  }

  /** Returns the waiting messages of both queues, in the order of their times. */
  get waiting(): Queued[] {
    return [...this.firstQueue.messages, ...this.retryQueue.messages].sort((a, b) => a.visibleAt - b.visibleAt);
  }

  /** Advances the clock to the next message and processes it. Returns the message, or undefined if none is due before `until`. */
  async processNextMessage(until = Infinity): Promise<DeliveryMessage | undefined> {
    const [next] = this.waiting;
    if (!next || next.visibleAt > until) return undefined;
    this.now = Math.max(this.now, next.visibleAt);
    const queue = this.firstQueue.messages.includes(next) ? this.firstQueue : this.retryQueue;
    next.visibleAt = this.now + VISIBILITY;
    next.receives++;
    try {
      await this.processMessage(next.body, { isFirstQueue: queue === this.firstQueue });
      queue.remove(next);
    } catch (error) {
      this.errors.push({ message: 'worker', keys: { error } });
      if (next.receives === MAX_RECEIVES) queue.remove(next);
    }
    return next.body;
  }

  async processMessages(count: number): Promise<void> {
    for (let i = 0; i < count; i++) await this.processNextMessage();
  }

  /**
   * Processes the messages of deliveries and of jobs for parked deliveries. Ends when no message waits, or at the
   * simulated time `until`.
   */
  async drain(until = Infinity): Promise<void> {
    for (;;) {
      const job = Math.min(...this.jobQueue.messages.map(({ visibleAt }) => visibleAt));
      if (await this.processNextMessage(Math.min(job, until))) continue;
      if (!(await this.runNextJob(until))) break;
    }
    if (until !== Infinity) this.now = Math.max(this.now, until);
  }

  /** Processes all messages in parallel, each when it becomes visible. The clock advances while all workers wait. */
  async drainInParallel(): Promise<void> {
    this.#sleepers = [];
    let working = 0;
    for (;;) {
      for (const queue of [this.firstQueue, this.retryQueue]) {
        for (const message of queue.messages.filter(({ visibleAt }) => visibleAt <= this.now)) {
          queue.remove(message);
          working++;
          void this.processMessage(message.body, { isFirstQueue: queue === this.firstQueue })
            .catch((error: unknown) => this.errors.push({ message: 'worker', keys: { error } }))
            .finally(() => {
              working--;
              this.#changed();
            });
        }
      }
      while (working > this.#sleepers.length) await new Promise<void>((resolve) => (this.#changed = resolve));
      const times = [...this.#sleepers.map(({ at }) => at), ...this.waiting.map(({ visibleAt }) => visibleAt)];
      if (times.length === 0) break;
      this.now = Math.max(this.now, Math.min(...times));
      const due = this.#sleepers.filter(({ at }) => at <= this.now);
      this.#sleepers = this.#sleepers.filter(({ at }) => at > this.now);
      for (const { wake } of due) wake();
    }
    this.#sleepers = undefined;
  }

  /** Runs the timer of the sweep, and then the worker for each of its messages. */
  async sweep(): Promise<void> {
    const call = { ...this.call, deadline: this.now + 50 * SECOND };
    const sent: object[] = [];
    const queue = {
      send: async (messages: readonly QueueMessage[]) => void sent.push(...messages.map(({ body }) => body)),
    };
    await runTimer(this.table, queue, call);
    await runShardSweeps(this.shardSweeps, sent, call);
  }

  /**
   * Advances the clock until all deliveries of the event have ended. Runs a sweep in each minute that has due items.
   */
  async runUntilEnded(eventId: string, endpointIds: readonly string[]): Promise<void> {
    for (;;) {
      await this.drain();
      const pending = (await Promise.all(endpointIds.map((endpointId) => this.delivery(eventId, endpointId)))).flatMap(
        (delivery) => delivery?.dueAt ?? [],
      );
      if (pending.length === 0) return;
      // The sweep finds what was due before its time, so an item that is due at a full minute waits for the next one.
      this.now = Math.max(this.now, (Math.floor(Math.min(...pending) / MINUTE) + 1) * MINUTE);
      await this.sweep();
    }
  }

  async delivery(eventId: string, endpointId: string): Promise<(Delivery & { _r: number }) | undefined> {
    return this.table.get(DeliveryEntity, { tenant: this.#tenant, eventId, endpointId });
  }

  async attempts(eventId: string): Promise<Attempt[]> {
    return (await new DeliveryStore(this.table).listAttempts(this.#tenant, eventId, { limit: 1_000 })).attempts;
  }

  async isFannedOut(eventId: string): Promise<boolean> {
    return (await this.table.get(EventEntity, { tenant: this.#tenant, eventId }))?.fannedOutAt !== undefined;
  }
}
