import { setTimeout as sleep } from 'node:timers/promises';
import { type Capability, combine, type Uses } from '../app/capability.ts';
import type { WorkerCall } from '../app/worker.ts';
import { endOutbox, type OutboxStore, type StoredEvent } from '../events/outbox.ts';
import { notifyOwnersOfFailures } from '../mail/mailFanOut.ts';
import type { CountedMetric } from '../observability/deliveryMetrics.ts';
import { yieldToEventLoop } from '../shared/yieldToEventLoop.ts';
import type { Stored } from '../table/entity.ts';
import type { WriteOp } from '../table/table.ts';
import * as sendTo from '../workers/sendTo.ts';
import { attemptDeliveries, type DeliveryRevision, type StoredDelivery, toDelivery } from './deliveries.ts';
import {
  ALL_FIRST_ATTEMPTS,
  type DeliveryMessage,
  deliveryTiming,
  nextAttemptMessages,
  TEST_ATTEMPT,
} from './deliveryMessage.ts';
import { disableEndpoints } from './disableEndpoints.ts';
import { writeEndpointHealth } from './endpointHealth.ts';
import { exhaustedEvent, isExhaustion } from './exhaustedEvent.ts';
import { endFirstAttempts, type FirstAttemptStore } from './firstAttempts.ts';
import { HealthyEndpoints } from './healthyEndpoints.ts';
import { type AttemptLoader, loadAttempts, type LoadedItems } from './loadAttempt.ts';
import { type AttemptContent, type PreparedRequest, prepareRequests, type WebhookRequests } from './prepareRequest.ts';
import { type RateSlots, reserveRateSlots } from './rateSlots.ts';
import { AttemptRecorder, type ClaimedDelivery, isFirst, type RecordPorts, type SentAttempt } from './recordAttempt.ts';
import { checkBreaker, takeProbe } from './rules/breaker.ts';
import {
  claimDelivery,
  type Delivery,
  endDelivery,
  isClaimed,
  isParked,
  isPending,
  nextAttemptNumber,
  parkDelivery,
  type PendingDelivery,
  postponeDelivery,
  unparkDelivery,
} from './rules/delivery.ts';
import { type EndpointHealth, healthAt, isSlow, SLOW_AFTER } from './rules/health.ts';
import { checkSlot, isSlotExpired, PREPARE_AHEAD, prepareAhead, reserveAhead } from './rules/limiter.ts';
import type { AttemptOutcome } from './rules/loggedAttempt.ts';
import type { AttemptResult } from './rules/outcome.ts';
import { type Target, targetOf } from './targets.ts';
import { type WebhookClient, webhookClient, type WebhookRequest } from './transport/send.ts';
import { requestsWritten } from './transport/sendRequest.ts';
import { disableIfFailedTooLong, type HealthPorts, HealthUpdater } from './updateHealth.ts';

export interface AttemptPorts extends RecordPorts, HealthPorts {
  readonly loader: Pick<AttemptLoader, 'load'>;
  readonly groups: Pick<FirstAttemptStore, 'delete'>;
  readonly outbox: Pick<OutboxStore, 'markFannedOut'>;
  readonly slots: Pick<RateSlots, 'reserve'>;
  readonly requests: Pick<WebhookRequests, 'prepare'>;
  readonly client: WebhookClient;
  readonly healthyEndpoints: HealthyEndpoints;
  readonly isFirstQueue: boolean;
  readonly requestsWritten: () => Promise<void>;
  readonly sleep: (milliseconds: number) => Promise<void>;
}

export type AttemptCall = Pick<WorkerCall<Uses>, 'clock' | 'newId' | 'log' | 'measures'>;

export function attemptsFrom(queue: 'deliver' | 'deliverSlow'): Capability<AttemptPorts> {
  return combine(
    {
      loader: loadAttempts,
      deliveries: attemptDeliveries,
      groups: endFirstAttempts,
      outbox: endOutbox,
      slots: reserveRateSlots,
      health: writeEndpointHealth,
      endpoints: disableEndpoints,
      notifyOwner: notifyOwnersOfFailures,
      requests: prepareRequests,
      client: webhookClient,
      retryQueue: sendTo.deliverSlow,
      jobQueue: sendTo.jobs,
      timing: deliveryTiming,
    },
    (parts) => ({
      ...parts,
      healthyEndpoints: new HealthyEndpoints(),
      isFirstQueue: queue === 'deliver',
      random: Math.random,
      yieldToEventLoop,
      requestsWritten,
      sleep,
    }),
  );
}

/**
 * The state in the table decides which attempts are due, so a message can arrive twice, late or early. An error of a
 * receiver is a failed attempt. Throws only on internal errors, after all attempts have ended. SQS then redelivers the
 * message.
 */
export async function attemptDelivery(ports: AttemptPorts, message: DeliveryMessage, call: AttemptCall): Promise<void> {
  const { endpointId, more = [] } = message;
  const messages = [endpointId, ...more].map((id) => ({ ...message, endpointId: id }));
  const isAnyHealthy = messages.some((each) => ports.healthyEndpoints.has(each));
  const attempts = messages.map(
    (each) => new DeliveryAttempt(ports, each, call, isAnyHealthy && !ports.healthyEndpoints.has(each)),
  );
  const runs = await Promise.allSettled(attempts.map((attempt) => attempt.run(message.slot)));
  const failure = runs.find((run) => run.status === 'rejected');
  if (failure) throw failure.reason;
  if (message.group === undefined) return;
  await Promise.all(attempts.map((attempt) => attempt.requireStored()));
  await endGroup(ports, message, attempts[0]?.event, call);
}

/**
 * Call this when each endpoint of the group has a delivery. For `ALL_FIRST_ATTEMPTS`, no group is stored: its event
 * leaves the outbox instead.
 */
async function endGroup(
  { groups, outbox }: AttemptPorts,
  { tenant, eventId, group }: DeliveryMessage,
  event: StoredEvent | undefined,
  { clock }: AttemptCall,
): Promise<void> {
  if (group === undefined) return;
  if (group !== ALL_FIRST_ATTEMPTS) await groups.delete({ tenant, eventId, group });
  else if (event && event.fannedOutAt === undefined) await outbox.markFannedOut(event, clock());
}

const EARLY = 5_000;

interface LoadedDelivery extends LoadedItems {
  readonly delivery: StoredDelivery<PendingDelivery>;
  readonly wasParked: boolean;
  readonly target: Stored<Target>;
}

const attemptCounters: Readonly<Record<AttemptOutcome, CountedMetric>> = {
  delivered: 'WebhookAttemptsDelivered',
  failed: 'WebhookAttemptsFailed',
  timeout: 'WebhookAttemptsTimedOut',
  refused: 'WebhookAttemptsRefused',
};

class DeliveryAttempt {
  readonly #ports: AttemptPorts;
  readonly #message: DeliveryMessage;
  readonly #call: AttemptCall;
  readonly #recorder: AttemptRecorder;
  readonly #healthUpdater: HealthUpdater;
  readonly #isAfterHealthy: boolean;
  #expiredSlots = 0;
  /** The revision of the endpoint for which the last slot was reserved, by this run or an earlier one. */
  #slotRevision: number | undefined;
  event: StoredEvent | undefined;
  #isStored = false;

  constructor(ports: AttemptPorts, message: DeliveryMessage, call: AttemptCall, isAfterHealthy: boolean) {
    this.#ports = ports;
    this.#message = message;
    this.#slotRevision = message.slotRevision;
    this.#call = call;
    this.#isAfterHealthy = isAfterHealthy;
    this.#recorder = new AttemptRecorder(ports, message, call);
    this.#healthUpdater = new HealthUpdater(ports, message, call);
  }

  async run(reservedSlot: number | undefined): Promise<void> {
    const loaded = await this.#load();
    if (!loaded) return;
    const { delivery, target } = loaded;

    const breaker = await this.#checkBreaker(loaded);
    if (!breaker) return;

    if (this.#ports.isFirstQueue && !this.#isTest && isSlow(healthAt(loaded.health, target._r), this.#call.clock()))
      return this.#handOver(delivery);

    const slot = await this.#reserveSlot(delivery, target, reservedSlot);
    if (slot === 'deferred') return;

    const health = breaker === 'probe' ? await this.#takeProbe(loaded) : loaded.health;
    if (health === 'lost') return this.run(slot);

    const claimed = await this.#claim(delivery);
    if (!claimed) return;

    if (this.#isAfterHealthy) await this.#ports.requestsWritten();

    // True if no other read, write or wait has followed the read of the settings.
    const isCurrent = isFirst(delivery) && breaker === 'closed' && slot === undefined && !this.#isAfterHealthy;
    const sent = await this.#send(claimed, { ...loaded, isCurrent }, slot);
    if (!sent) {
      if (breaker === 'probe' && health) await this.#healthUpdater.returnProbe(health);
      return;
    }

    const recorded = await this.#recorder.record(claimed, sent);
    this.#isStored ||= recorded !== undefined;
    await this.#updateHealth(sent, { read: health, isProbe: breaker === 'probe' }, recorded?.status === 'EXHAUSTED');
  }

  get #isTest(): boolean {
    return this.#message.group === TEST_ATTEMPT;
  }

  /** After a conflict of transactions, a first attempt can end without a stored delivery. */
  async requireStored(): Promise<void> {
    if (this.#isStored || !this.event || (await this.#ports.deliveries.get(this.#message))) return;
    throw new Error('A first attempt has ended without a stored delivery');
  }

  async #load(): Promise<LoadedDelivery | undefined> {
    const { loader, retryQueue, timing } = this.#ports;
    const loaded = await loader.load(this.#message);
    this.event = loaded.event;
    this.#isStored = loaded.delivery !== undefined;
    const now = this.#call.clock();
    const stored = loaded.delivery ?? this.#firstDelivery(loaded.event, now);
    const wasParked = stored !== undefined && isParked(stored);
    const delivery = wasParked ? unparkDelivery(stored, now, now, timing) : stored;
    if (!delivery || !isPending(delivery)) return undefined;
    const target = targetOf(loaded.subscriptions, delivery.endpointId);
    const isStale = this.#message.attemptNo !== nextAttemptNumber(delivery) || delivery.nextAt > now + EARLY;
    if (isClaimed(delivery, now)) {
      // The worker with the lease continues. If it has crashed, SQS redelivers its message after the lease.
      if (!isStale) this.#call.measures.count('DuplicateMessages');
    } else if (isStale) {
      // A worker may have crashed before it sent the message of the next attempt. A copy does no harm.
      await retryQueue.send(nextAttemptMessages(delivery, now));
    } else if (!target) {
      await this.#replace(delivery, endDelivery(delivery, 'CANCELLED'));
    } else if (now > delivery.deadline) {
      await this.#exhaustAfterDeadline(delivery, target, loaded.health);
    } else {
      return { ...loaded, delivery, wasParked, target };
    }
    return undefined;
  }

  #firstDelivery(event: StoredEvent | undefined, now: number): StoredDelivery | undefined {
    const { endpointId, group } = this.#message;
    return event && group !== undefined ? toDelivery(event, endpointId, now, this.#ports.timing) : undefined;
  }

  /**
   * A resend and the first attempt of a test always pass, because the customer wants to know whether the endpoint
   * works. Parks other deliveries that the breaker blocks.
   */
  async #checkBreaker({
    delivery,
    wasParked,
    target,
    health,
  }: LoadedDelivery): Promise<'closed' | 'probe' | undefined> {
    const state = checkBreaker(healthAt(health, target._r).breaker, this.#call.clock());
    if (typeof state === 'string') return state;
    if (delivery.otherwise || this.#isTest) return 'closed';
    await this.#ports.yieldToEventLoop();
    if (!wasParked && (await this.#replace(delivery, parkDelivery(delivery))) !== 'lost')
      this.#call.measures.count('DeliveriesParked');
    return undefined;
  }

  /**
   * Undefined without a rate limit. Replaces a slot (epoch ms) that has expired or is from before the last change of
   * the endpoint. A slot more than 2 s away defers the message.
   */
  async #reserveSlot(
    delivery: StoredDelivery<PendingDelivery>,
    { rateLimit, _r: revision }: Stored<Target>,
    reserved: number | undefined,
  ): Promise<number | undefined | 'deferred'> {
    const { clock } = this.#call;
    if (rateLimit === undefined) return undefined;
    const isCurrent = (this.#slotRevision ?? revision) >= revision;
    for (let slot = isCurrent ? reserved : undefined; ;) {
      const decision = slot === undefined ? 'expired' : checkSlot(slot, clock());
      if (decision === 'wait') return slot;
      if (slot !== undefined && decision !== 'expired') {
        await this.#defer(delivery, slot, decision.deferUntil);
        return 'deferred';
      }
      if (slot !== undefined) this.#expiredSlots++;
      const ahead = reserveAhead(this.#expiredSlots);
      slot = await this.#ports.slots.reserve(this.#message, { rateLimit, revision }, () => clock() + ahead);
      this.#slotRevision = revision;
    }
  }

  /** In the queue of first attempts, the delay would raise the alarm on the age of messages. */
  async #defer(delivery: StoredDelivery<PendingDelivery>, slot: number, nextAt: number): Promise<void> {
    const { retryQueue, timing } = this.#ports;
    this.#call.measures.count('RateLimitedDeliveries');
    const now = this.#call.clock();
    const { tenant } = delivery;
    const reserved = { slot, slotRevision: this.#slotRevision };
    const tested = this.#isTest ? { ...delivery, isTest: true as const } : delivery;
    const deferred = { ...postponeDelivery(tested, nextAt, now, timing, reserved), tenant };
    const messages = nextAttemptMessages(deferred, now);
    // The sweep of lost messages checks such a delivery only after the slot.
    const isCovered = !isFirst(delivery) && delivery.claim === undefined && delivery.dueAt > slot + timing.marginMs / 2;
    if (messages.length > 0 && isCovered) return retryQueue.send(messages);
    if ((await this.#replace(delivery, deferred)) !== 'lost') await retryQueue.send(messages);
  }

  async #handOver(delivery: StoredDelivery<PendingDelivery>): Promise<void> {
    const { yieldToEventLoop, retryQueue, timing } = this.#ports;
    await yieldToEventLoop();
    const now = this.#call.clock();
    const stored = isFirst(delivery)
      ? await this.#replace(delivery, postponeDelivery(delivery, now, now, timing))
      : delivery;
    if (stored !== 'lost') await retryQueue.send(nextAttemptMessages(stored, now));
  }

  async #takeProbe({ target, health }: LoadedDelivery): Promise<Stored<EndpointHealth> | 'lost'> {
    const now = this.#call.clock();
    const current = healthAt(health, target._r);
    const next = { ...current, breaker: takeProbe(current.breaker, now), writtenAt: now };
    const outcome = await this.#ports.health.write(this.#message, next, health);
    return outcome === 'lost' ? 'lost' : { ...next, _r: (health?._r ?? 0) + 1 };
  }

  /**
   * A first attempt takes no lease: two workers can send the event twice with the same id, which at-least-once delivery
   * allows.
   */
  async #claim(delivery: StoredDelivery<PendingDelivery>): Promise<ClaimedDelivery | undefined> {
    const claim = this.#call.newId('clm');
    if (isFirst(delivery)) return { ...delivery, claim };
    const next = { ...claimDelivery(delivery, claim, this.#call.clock()), claim };
    const stored = await this.#replace(delivery, next);
    if (stored !== 'lost') return stored;
    this.#call.measures.count('DuplicateMessages');
    return undefined;
  }

  /**
   * Posts once, in the slot. A slot that expires during the preparation is replaced, because late requests would exceed
   * the rate limit. Undefined if the attempt was deferred, or the delivery was cancelled.
   */
  async #send(
    claimed: ClaimedDelivery,
    { target: loaded, ...content }: AttemptContent & Pick<LoadedDelivery, 'target'>,
    reserved: number | undefined,
  ): Promise<SentAttempt | undefined> {
    const { healthyEndpoints, isFirstQueue, yieldToEventLoop, requests, sleep } = this.#ports;
    const { clock, measures } = this.#call;
    let slot = reserved;
    let ahead = PREPARE_AHEAD;
    let prepared: PreparedRequest | 'cancelled';
    for (;;) {
      if (slot !== undefined) await sleep(Math.max(0, slot - ahead - clock()));
      const startedAt = clock();
      prepared = await requests.prepare(this.#message, content);
      ahead = prepareAhead(clock() - startedAt);
      if (slot === undefined || prepared === 'cancelled') break;
      await sleep(Math.max(0, slot - clock()));
      if (!isSlotExpired(slot, clock())) break;
      const next = await this.#reserveSlot(claimed, loaded, slot);
      if (next === 'deferred') return undefined;
      slot = next;
    }
    if (prepared === 'cancelled') {
      const cancelled = await this.#recorder.cancel(claimed);
      this.#isStored ||= cancelled !== undefined;
      return undefined;
    }
    const { request, target } = prepared;
    const at = clock();
    if (isFirstQueue && claimed.attempts === 0 && this.#message.slot === undefined)
      measures.record('FirstAttemptLatency', at - claimed.createdAt);
    const result: AttemptResult =
      'error' in request
        ? { outcome: 'failed', error: request.error, durationMs: 0 }
        : await this.#post(request, target);
    const endedAt = clock();
    if (result.outcome !== 'delivered') await yieldToEventLoop();
    measures.count(attemptCounters[result.outcome]);
    healthyEndpoints.record(this.#message, result.outcome);
    return { at, endedAt, result, target };
  }

  async #post(request: WebhookRequest, target: Stored<Target>): Promise<AttemptResult> {
    let marking: Promise<void> | undefined;
    const timer = setTimeout(() => {
      marking = this.#healthUpdater.markSlow(target);
    }, SLOW_AFTER);
    try {
      return await this.#ports.client.post(request);
    } finally {
      clearTimeout(timer);
      await marking;
    }
  }

  async #updateHealth(
    { result, target }: SentAttempt,
    { read, isProbe }: { read: Stored<EndpointHealth> | undefined; isProbe: boolean },
    isExhausted: boolean,
  ): Promise<void> {
    const health = await this.#healthUpdater.record(target, read, {
      delivered: result.outcome === 'delivered',
      isProbe,
    });
    if (isExhausted) await disableIfFailedTooLong(this.#ports, this.#message, this.#call, target, health);
  }

  async #exhaustAfterDeadline(
    delivery: StoredDelivery<PendingDelivery>,
    target: Stored<Target>,
    health: EndpointHealth | undefined,
  ): Promise<void> {
    const next = endDelivery(delivery, 'EXHAUSTED');
    const ops = exhaustedEvent(this.#message.tenant, delivery, next, this.#call.clock());
    const outcome = await this.#replace(delivery, next, ops);
    if (outcome === 'lost') return;
    if (isExhaustion(delivery, next)) this.#call.measures.count('DeliveriesExhausted');
    await disableIfFailedTooLong(this.#ports, this.#message, this.#call, target, health);
  }

  async #replace<D extends Delivery>(
    read: DeliveryRevision,
    next: D,
    more?: readonly WriteOp[],
  ): Promise<StoredDelivery<D> | 'lost'> {
    const stored = await this.#ports.deliveries.replace(read, next, more);
    this.#isStored ||= stored !== 'lost';
    return stored;
  }
}
