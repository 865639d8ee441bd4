import type { StoredEvent } from '../../lib/events/outbox.ts';
import { fanOut, type FanOutPorts } from '../../lib/fanOut/fanOut.ts';
import { sweepOutbox } from '../../lib/fanOut/sweepOutbox.ts';
import type { Stored } from '../../lib/table/entity.ts';
import { attemptDelivery, type AttemptPorts } from '../../lib/webhooks/attempt.ts';
import type { DeliveryRevision, StoredDelivery } from '../../lib/webhooks/deliveries.ts';
import type { DeliveryMessage } from '../../lib/webhooks/deliveryMessage.ts';
import type { FirstAttemptGroup } from '../../lib/webhooks/firstAttempts.ts';
import { HealthyEndpoints } from '../../lib/webhooks/healthyEndpoints.ts';
import {
  type Delivery,
  nextAttemptNumber,
  type PendingDelivery,
  resendDelivery,
} from '../../lib/webhooks/rules/delivery.ts';
import type { WebhookEndpoint } from '../../lib/webhooks/rules/endpoints.ts';
import { afterGroupSweep } from '../../lib/webhooks/rules/firstAttempts.ts';
import type { EndpointHealth } from '../../lib/webhooks/rules/health.ts';
import type { Attempt, AttemptOutcome } from '../../lib/webhooks/rules/loggedAttempt.ts';
import type { Subscriptions } from '../../lib/webhooks/subscriptions.ts';
import { type DeliverySweepPorts, sweepDeliveries, sweepFirstAttempts } from '../../lib/webhooks/sweepDeliveries.ts';
import { targetOf } from '../../lib/webhooks/targets.ts';
import type { Timing } from '../../lib/workers/rules/schedule.ts';
import type { QueueMessage, QueueSender } from '../../lib/workers/sender.ts';
import { runSweeps, type Sweep } from '../../lib/workers/sweep.ts';
import { recordingMeasures } from './workers.ts';

const START = Date.UTC(2026, 10, 20);
const MINUTE = 60_000;
const VISIBILITY = 180_000;
const MAX_RECEIVES = 5;
const TENANT = 'key_1';
const EVENT_ID = 'msg_1';

export const worldTiming: Timing = { schedule: [0, 5_000, 20 * MINUTE], marginMs: 5 * MINUTE };

/** The maximum number of faults of each kind in a run. */
export interface Faults {
  /** The number of processes that crash at a step or outlive their lease. */
  crashes: number;
  /** The number of messages that arrive twice. */
  duplicates: number;
  /** The number of messages and stream records that are lost. */
  losses: number;
  /** The number of resends. A delivery in any state can be resent. */
  resends?: number;
}

/**
 * Chooses what happens next. Returns an index below `possibilities`. Index 0 is never a fault. `kinds` names the
 * possibilities.
 */
export type Choose = (possibilities: number, kinds: readonly string[]) => number;

interface Actor {
  /** Calling one of these functions lets the actor continue. There are several if the actor works in parallel. */
  readonly waiting: (() => void)[];
  ended: boolean;
  readonly onEnd: (failed: boolean) => void;
}

interface Message {
  readonly body: DeliveryMessage;
  visibleAt: number;
  receives: number;
}

/**
 * Simulates the processing of one event. Clock, table and queues are fakes, but fan-out, worker and sweep are real.
 * Each access to the table, a queue or a receiver is a step. Before each step, `choose` decides what happens next.
 */
export class DeliveryWorld {
  now = START;
  crashes = 0;
  /**
   * The number of messages that arrived twice, plus the number of resends. Each can repeat a first attempt, because
   * first attempts take no lease.
   */
  repeatedMessages = 0;
  steps = 0;
  /** The number of requests, by endpoint and attempt (such as `a/1`). */
  readonly sends = new Map<string, number>();
  readonly log: Pick<Attempt, 'endpointId' | 'attempt' | 'outcome'>[] = [];
  readonly rows = new Map<string, Delivery & { _r: number }>();
  readonly errors: unknown[] = [];
  /** The number of requests that were sent after their endpoint was deleted. */
  lateSends = 0;
  exhaustedEvents = 0;
  fannedOut = false;
  /** Stored groups of first attempts, by name. */
  readonly groups = new Map<string, FirstAttemptGroup & { _r: number }>();

  readonly #choose: Choose;
  readonly #remainingFaults: Faults;
  readonly #outcome: (endpointId: string, attempt: number) => AttemptOutcome;
  readonly #endpoints: Map<string, WebhookEndpoint>;
  readonly #health = new Map<string, Stored<EndpointHealth>>();
  readonly #actors = new Set<Actor>();
  #messages: Message[] = [];
  #streamRecord = true;
  #deletes: string[];
  readonly #event: StoredEvent;
  #ids = 0;

  constructor(options: {
    endpoints: readonly string[];
    outcome: (endpointId: string, attempt: number) => AttemptOutcome;
    choose: Choose;
    faults: Faults;
    deletes?: readonly string[];
    /** Whether mails are sent about the event too. Its first attempts are then stored in a group. */
    hasAudience?: boolean;
  }) {
    const { hasAudience = false } = options;
    const event = { tenant: TENANT, eventId: EVENT_ID, event: 'comment.add', createdAt: START, shard: 0, _r: 1 };
    this.#event = { ...event, ...(hasAudience && { hasAudience }) };
    this.#choose = options.choose;
    this.#remainingFaults = { ...options.faults };
    this.#outcome = options.outcome;
    this.#deletes = [...(options.deletes ?? [])];
    this.#endpoints = new Map(
      options.endpoints.map((endpointId) => [
        endpointId,
        {
          endpointId,
          url: `https://${endpointId}.test`,
          disabled: false,
          secrets: [],
          createdAt: START,
          updatedAt: START,
        },
      ]),
    );
  }

  /** Runs until there is no step, message or sweep left. */
  async run(): Promise<void> {
    for (;;) {
      // In this turn of the event loop, all actors reach their next step.
      await new Promise((resolve) => setImmediate(resolve));
      const possible = this.#possible();
      if (possible.length === 0) return;
      if (++this.steps > 5_000) throw new Error('The run does not end');
      possible[
        this.#choose(
          possible.length,
          possible.map(([kind]) => kind),
        )
      ]![1]();
    }
  }

  #possible(): [kind: string, happen: () => void][] {
    const possible: [string, () => void][] = [];
    const waiting = [...this.#actors].filter((actor) => actor.waiting.length > 0);
    for (const actor of waiting) possible.push(['step', () => actor.waiting.shift()!()]);
    const ready = this.#messages.filter(({ visibleAt }) => visibleAt <= this.now);
    if (waiting.length < 3) {
      if (this.#streamRecord) possible.push(['stream', () => this.#runFanOut()]);
      for (const message of ready) possible.push(['receive', () => this.#receive(message)]);
    }
    if (possible.length === 0) {
      const next = this.#nextTime();
      if (next !== undefined) {
        possible.push([
          'time',
          () => {
            this.now = Math.max(this.now, next);
            if (this.#sweepIsDue()) this.#runSweep();
          },
        ]);
      }
    }
    for (const endpointId of this.#deletes) possible.push(['delete', () => this.#delete(endpointId)]);
    if (this.#remainingFaults.crashes > 0) {
      for (const actor of waiting) possible.push(['crash', () => this.#crash(actor)]);
      if (waiting.length > 0) possible.push(['stall', () => this.#expireLeases()]);
    }
    if (this.#remainingFaults.duplicates > 0) {
      for (const message of ready) {
        possible.push([
          'duplicate',
          () => {
            this.#remainingFaults.duplicates--;
            this.repeatedMessages++;
            this.#messages.push({ ...message });
          },
        ]);
      }
    }
    if ((this.#remainingFaults.resends ?? 0) > 0) {
      for (const row of this.rows.values()) possible.push(['resend', () => this.#resend(row)]);
    }
    if (this.#remainingFaults.losses > 0) {
      for (const message of ready) possible.push(['lose', () => this.#lose(() => this.#drop(message))]);
      if (this.#streamRecord) possible.push(['lose', () => this.#lose(() => void (this.#streamRecord = false))]);
    }
    return possible;
  }

  #crash(actor: Actor): void {
    this.#remainingFaults.crashes--;
    this.crashes++;
    this.#end(actor, true);
  }

  /** Moves the clock past the leases of all running workers. */
  #expireLeases(): void {
    this.#remainingFaults.crashes--;
    this.crashes++;
    this.now += MINUTE + 1;
  }

  #lose(lose: () => void): void {
    this.#remainingFaults.losses--;
    lose();
  }

  #resend(row: Delivery & { _r: number }): void {
    this.#remainingFaults.resends!--;
    this.repeatedMessages++;
    const again = { ...resendDelivery(row, this.now, worldTiming), _r: row._r + 1 };
    this.rows.set(row.endpointId, again);
    this.#messages.push({
      body: { tenant: TENANT, eventId: EVENT_ID, endpointId: row.endpointId, attemptNo: nextAttemptNumber(again) },
      visibleAt: this.now,
      receives: 0,
    });
  }

  #delete(endpointId: string): void {
    this.#deletes = this.#deletes.filter((id) => id !== endpointId);
    this.#endpoints.delete(endpointId);
  }

  #drop(message: Message): void {
    this.#messages = this.#messages.filter((each) => each !== message);
  }

  /** Returns the next time at which a message becomes visible or the sweep has work. */
  #nextTime(): number | undefined {
    const due = [...this.rows.values(), ...this.groups.values()].flatMap(({ dueAt }) =>
      dueAt === undefined ? [] : [dueAt],
    );
    const sweeps = [...due, ...(this.fannedOut ? [] : [START + 3 * MINUTE + 1])].map(
      (at) => Math.ceil(Math.max(at, this.now) / MINUTE) * MINUTE,
    );
    const times = [...this.#messages.map(({ visibleAt }) => visibleAt), ...sweeps];
    return times.length > 0 ? Math.min(...times) : undefined;
  }

  #sweepIsDue(): boolean {
    return (
      (!this.fannedOut && this.now > START + 3 * MINUTE) ||
      [...this.rows.values(), ...this.groups.values()].some(({ dueAt = Infinity }) => dueAt <= this.now)
    );
  }

  #start(work: (actor: Actor) => Promise<unknown>, onEnd: (failed: boolean) => void): void {
    const actor: Actor = { waiting: [], ended: false, onEnd };
    this.#actors.add(actor);
    work(actor).then(
      () => this.#end(actor, false),
      (error: unknown) => {
        this.errors.push(error);
        this.#end(actor, true);
      },
    );
  }

  #end(actor: Actor, failed: boolean): void {
    if (actor.ended) return;
    actor.ended = true;
    this.#actors.delete(actor);
    actor.onEnd(failed);
  }

  #step(actor: Actor): Promise<void> {
    // After a crash nothing calls `resolve`, so this promise never resolves.
    return new Promise((resolve) => void actor.waiting.push(resolve));
  }

  #receive(message: Message): void {
    message.visibleAt = this.now + VISIBILITY;
    message.receives++;
    this.#start(
      (actor) => attemptDelivery(this.#attemptPorts(actor, message.body.attemptNo), message.body, this.#call()),
      (failed) => {
        if (!failed || message.receives >= MAX_RECEIVES) this.#drop(message);
      },
    );
  }

  #runFanOut(): void {
    this.#streamRecord = false;
    this.#start(
      (actor) => this.#fanOut(actor),
      (failed) => {
        this.#streamRecord ||= failed;
      },
    );
  }

  async #fanOut(actor: Actor): Promise<void> {
    const failed = await fanOut(this.#fanOutPorts(actor), [this.#event], this.#call());
    if (failed.size > 0) throw new Error('fan-out failed');
  }

  #runSweep(): void {
    this.#start(
      (actor) => runSweeps(this.#sweeps(actor), { ...this.#call(), deadline: Infinity }),
      () => undefined,
    );
  }

  #call() {
    return {
      clock: () => this.now,
      newId: (prefix: string) => `${prefix}_${this.#ids++}`,
      log: {
        info: () => undefined,
        warn: () => undefined,
        error: (_message: string, keys?: Record<string, unknown>) => void this.errors.push(keys?.error),
      },
      measures: recordingMeasures(),
    };
  }

  #sender(actor: Actor): QueueSender {
    return {
      send: async (messages: readonly QueueMessage[]) => {
        if (messages.length === 0) return;
        await this.#step(actor);
        this.#messages.push(
          ...messages.map(({ body, delaySeconds = 0 }) => ({
            body: body as DeliveryMessage,
            visibleAt: this.now + delaySeconds * 1000,
            receives: 0,
          })),
        );
      },
    };
  }

  #stored(endpointId: string): StoredDelivery | undefined {
    const row = this.rows.get(endpointId);
    return row && { ...row, tenant: TENANT };
  }

  async #replace<D extends Delivery>(
    actor: Actor,
    { tenant, _r }: DeliveryRevision,
    next: D,
    more: readonly unknown[] = [],
  ): Promise<(D & DeliveryRevision) | 'lost'> {
    await this.#step(actor);
    if ((this.rows.get(next.endpointId)?._r ?? 0) !== _r) return 'lost';
    const stored = { ...next, tenant, _r: _r + 1 };
    this.rows.set(next.endpointId, stored);
    if (more.length > 0) this.exhaustedEvents++;
    return stored;
  }

  #subscriptions(): Subscriptions {
    const endpoints = [...this.#endpoints].map(
      ([endpointId, endpoint]) => [endpointId, { ...endpoint, _r: 1 }] as const,
    );
    return { endpoints: new Map(endpoints), advanced: undefined, basic: undefined };
  }

  #storedEvent(): StoredEvent {
    return this.fannedOut ? { ...this.#event, fannedOutAt: START } : this.#event;
  }

  async #markFannedOut(actor: Actor): Promise<void> {
    await this.#step(actor);
    this.fannedOut = true;
  }

  #attemptPorts(actor: Actor, attemptNo: number): AttemptPorts {
    const queue = this.#sender(actor);
    return {
      retryQueue: queue,
      jobQueue: queue,
      isFirstQueue: false,
      timing: worldTiming,
      random: () => 0.5,
      yieldToEventLoop: async () => undefined,
      requestsWritten: async () => undefined,
      healthyEndpoints: new HealthyEndpoints(),
      sleep: async () => undefined,
      notifyOwner: async () => undefined,
      endpoints: { disable: async () => 'lost' },
      loader: {
        load: async ({ endpointId }) => {
          await this.#step(actor);
          return {
            event: this.#storedEvent(),
            payload: { source: 'comment', data: {} },
            delivery: this.#stored(endpointId),
            subscriptions: this.#subscriptions(),
            health: this.#health.get(endpointId),
          };
        },
      },
      groups: {
        delete: async ({ group }) => {
          await this.#step(actor);
          this.groups.delete(group);
        },
      },
      outbox: { markFannedOut: () => this.#markFannedOut(actor) },
      deliveries: {
        get: async ({ endpointId }) => {
          await this.#step(actor);
          return this.#stored(endpointId);
        },
        replace: (read, next, more) => this.#replace(actor, read, next, more),
        logAttempt: async ({ endpointId }, { attempt, outcome }) => {
          await this.#step(actor);
          this.log.push({ endpointId, attempt, outcome });
        },
      },
      slots: { reserve: async () => this.now },
      health: {
        get: async ({ endpointId }) => this.#health.get(endpointId),
        write: async ({ endpointId }, health, read) => {
          await this.#step(actor);
          if (this.#health.get(endpointId)?._r !== read?._r) return 'lost';
          this.#health.set(endpointId, { ...health, _r: (read?._r ?? 0) + 1 });
          return 'done';
        },
      },
      requests: {
        prepare: async ({ endpointId }, { isCurrent, subscriptions }) => {
          if (!isCurrent) await this.#step(actor);
          const target = targetOf(isCurrent ? subscriptions : this.#subscriptions(), endpointId);
          return target ? { request: { url: target.url, headers: {}, body: '{}' }, target } : 'cancelled';
        },
      },
      client: {
        post: async ({ url }) => {
          const [endpointId = ''] = new URL(url).hostname.split('.');
          const name = `${endpointId}/${attemptNo}`;
          this.sends.set(name, (this.sends.get(name) ?? 0) + 1);
          if (!this.#endpoints.has(endpointId)) this.lateSends++;
          const outcome = this.#outcome(endpointId, attemptNo);
          await this.#step(actor);
          return { outcome, durationMs: 1 };
        },
      },
    };
  }

  #fanOutPorts(actor: Actor): FanOutPorts {
    return {
      firstQueue: this.#sender(actor),
      timing: worldTiming,
      consumers: [() => ({ concerns: async () => true, consume: () => this.#step(actor).then(() => undefined) })],
      subscriptions: {
        read: async () => {
          await this.#step(actor);
          return this.#subscriptions();
        },
      },
      outbox: {
        withPayloads: async (events) => {
          await this.#step(actor);
          return events.map((event) => ({ ...event, payload: { source: 'comment', data: {} } }));
        },
        keep: async (event) => event,
        markFannedOut: () => this.#markFannedOut(actor),
      },
      groups: {
        create: async (groups) => {
          const created = [];
          for (const group of groups) {
            await this.#step(actor);
            if (this.groups.has(group.group)) continue;
            this.groups.set(group.group, { ...group, _r: 1 });
            created.push(group);
          }
          return created;
        },
      },
    };
  }

  #sweeps(actor: Actor): Sweep[] {
    const deliveries = {
      listDue: async (shard: number, at: number) => ({
        values: [...this.rows.values()]
          .filter(
            (row): row is PendingDelivery & { _r: number } =>
              row.shard === shard && row.dueAt !== undefined && row.dueAt <= at,
          )
          .map((row) => ({ ...row, tenant: TENANT })),
        next: undefined,
      }),
      replace: <D extends Delivery>(read: DeliveryRevision, next: D, more?: readonly unknown[]) =>
        this.#replace(actor, read, next, more),
    };
    const outbox = {
      listPending: async (shard: number) => ({
        values: shard === 0 && !this.fannedOut ? [this.#event] : [],
        next: undefined,
      }),
    };
    const groups = {
      listDue: async (shard: number, at: number) => ({
        values: [...this.groups.values()].filter(({ dueAt }) => shard === 0 && dueAt <= at),
        next: undefined,
      }),
      postpone: async ({ group, _r }: Stored<FirstAttemptGroup>, now: number) => {
        await this.#step(actor);
        const stored = this.groups.get(group);
        if (stored?._r !== _r) return 'lost';
        this.groups.set(group, { ...afterGroupSweep(stored, now, worldTiming), _r: _r + 1 });
        return 'done';
      },
    } satisfies DeliverySweepPorts['groups'];
    const retryQueue = this.#sender(actor);
    const isBacklogged = async () => false;
    const sweeps = [
      sweepDeliveries({ deliveries, retryQueue, isBacklogged, timing: worldTiming }),
      sweepFirstAttempts({ groups, retryQueue, isBacklogged, timing: worldTiming }),
      sweepOutbox({ outbox, fanOut: this.#fanOutPorts(actor), isBacklogged, reconcileAfterMs: 3 * MINUTE }),
    ];
    const shards = new Set([0, ...[...this.rows.values()].map(({ shard }) => shard)]);
    return sweeps.flatMap((sweep) =>
      [...shards].map(
        (shard): Sweep =>
          (call) =>
            sweep(shard, call),
      ),
    );
  }
}
