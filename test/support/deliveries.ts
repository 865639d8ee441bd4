import type { QueueName } from '../../lib/app/capability.ts';
import { emit, EventEntity, type NewEvent, type StoredEvent, toInsertedEvent } from '../../lib/events/outbox.ts';
import { fanOutCapability, type FanOutPorts } from '../../lib/fanOut/fanOut.ts';
import type { JobMessage, StoredJob } from '../../lib/jobs/jobStore.ts';
import { type EndpointFailure, type NotifyOwnerOfFailure, notifyOwnersOfFailures } from '../../lib/mail/mailFanOut.ts';
import { newId } from '../../lib/shared/ids.ts';
import { lazy } from '../../lib/shared/lazy.ts';
import type { AttemptPorts } from '../../lib/webhooks/attempt.ts';
import { DeliveryEntity, DeliveryStore } from '../../lib/webhooks/deliveries.ts';
import { type DeliveryMessage, deliveryTiming } from '../../lib/webhooks/deliveryMessage.ts';
import type { Delivery } from '../../lib/webhooks/rules/delivery.ts';
import type { Attempt } from '../../lib/webhooks/rules/loggedAttempt.ts';
import type { Timing } from '../../lib/workers/rules/schedule.ts';
import type { ServiceCall } from './simulation.ts';
import { type Deps, openWith, type SentMessage, type StandIn, type WorkerName, WorkerWorld } from './workerWorld.ts';

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

class TestQueue<M = DeliveryMessage> {
  readonly messages: Queued<M>[] = [];

  add(body: M, visibleAt: number): void {
    this.messages.push({ body, visibleAt, receives: 0 });
  }

  remove(message: Queued<M>): void {
    this.messages.splice(this.messages.indexOf(message), 1);
  }
}

/** The delivery of one tenant's webhooks on the real table. Tests control its queues and its clock. */
export class DeliverySystem extends WorkerWorld {
  /** The workers that sleep while `drainInParallel` runs. If undefined, a sleep advances the clock instead. */
  #sleepers: { readonly at: number; readonly wake: () => void }[] | undefined;
  #changed: () => void = () => undefined;
  readonly #tenant: string;
  readonly firstQueue = new TestQueue();
  readonly retryQueue = new TestQueue();
  readonly jobQueue = new TestQueue<JobMessage>();
  /** The messages of jobs that the sweep has sent. */
  readonly jobs: object[] = [];
  /** The messages of mails about events. */
  readonly mails: object[] = [];
  readonly ownerNotifications: (EndpointFailure & { tenant: string })[] = [];
  readonly errors: { message: string; keys: Record<string, unknown> | undefined }[] = [];
  timing: Timing = {
    schedule: [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 36_000].map((seconds) => seconds * SECOND),
    marginMs: 5 * MINUTE,
  };
  /** Functions with which a test replaces some of the ports. */
  replacedPorts: { attempt?: Partial<AttemptPorts>; fanOut?: Partial<FanOutPorts> } = {};
  /** Fails AWS calls of workers. */
  failing: (call: ServiceCall) => boolean = () => false;

  readonly log = {
    info: () => undefined,
    warn: () => undefined,
    error: (message: string, keys?: Record<string, unknown>) => void this.errors.push({ message, keys }),
  };

  constructor(tenant: string) {
    super();
    this.#tenant = tenant;
  }

  protected override get variables() {
    return { ALLOW_LOOPBACK_DELIVERY: 'true' };
  }

  /** Messages of other tenants are dropped, because the sweep also finds items of other tests. */
  protected override accept(name: QueueName, { body, delaySeconds }: SentMessage, sender: WorkerName): void {
    if (body.tenant !== this.#tenant) return;
    const queues: Partial<Record<QueueName, TestQueue<any>>> = {
      deliver: this.firstQueue,
      deliverSlow: this.retryQueue,
      jobs: this.jobQueue,
    };
    queues[name]?.add(body, this.now + delaySeconds * SECOND);
    if (name === 'mail') this.mails.push(body);
    if (name === 'jobs' && sender === 'sweepShard') this.jobs.push(body);
  }

  protected override async answer(
    worker: WorkerName,
    call: ServiceCall,
    send: () => Promise<unknown>,
  ): Promise<unknown> {
    if (this.failing(call)) throw new Error('throttled');
    return super.answer(worker, call, send);
  }

  get #ownStandIns(): StandIn[] {
    const notifyOwner: NotifyOwnerOfFailure = async (tenant, failure) =>
      void this.ownerNotifications.push({ tenant, ...failure });
    return [
      [deliveryTiming, this.timing],
      [notifyOwnersOfFailures, notifyOwner],
    ];
  }

  protected override get standIns(): StandIn[] {
    return [...this.#ownStandIns, [fanOutCapability, this.fanOutPorts]];
  }

  get fanOutPorts(): FanOutPorts {
    const { ports } = openWith({ ports: fanOutCapability }, this.#ownStandIns, process.env);
    return { ...ports, ...this.replacedPorts.fanOut };
  }

  // These ports are opened once per process, as in a Lambda function.
  readonly #attempts = lazy(() => super.open('deliverWebhook').attempts);

  get attemptPorts(): AttemptPorts {
    return {
      ...this.#attempts(),
      timing: this.timing,
      random: () => this.random(),
      sleep: (milliseconds) => this.#pause(milliseconds),
      ...this.replacedPorts.attempt,
    };
  }

  override open<N extends WorkerName>(name: N): Deps<N> {
    if (name !== 'deliverWebhook' && name !== 'deliverWebhookSlow') return super.open(name);
    const attempts = { ...this.attemptPorts, isFirstQueue: name === 'deliverWebhook' };
    return { attempts } satisfies Deps<'deliverWebhook'> as unknown as Deps<N>;
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
    const records = events.map((event) => ({ id: event.eventId, item: EventEntity.toItem(event, event._r) }));
    return [...((await this.run('fanOutEvents', { records })) as readonly string[])];
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
    await this.run(isFirstQueue ? 'deliverWebhook' : 'deliverWebhookSlow', { message });
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
    await this.run('runJobs', { message: next.body, deadline: Infinity });
    return true;
  }

  /** Runs the next step of a job for parked deliveries. */
  releaseParked(job: StoredJob): Promise<unknown> {
    const { releaseParked } = this.open('runJobs').runsJobs.steps;
    return this.runAs('runJobs', () => releaseParked(job, this.call.clock, this.call));
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
