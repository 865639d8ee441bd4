import { type Capability, combine, type Uses } from '../app/capability.ts';
import type { WorkerCall } from '../app/worker.ts';
import { endOutbox, type OutboxStore, type StoredEvent } from '../events/outbox.ts';
import { notifyOwnersOfFailures } from '../mail/mailFanOut.ts';
import type { CountedMetric } from '../observability/deliveryMetrics.ts';
import * as logMessages from '../observability/logMessages.ts';
import { definedFields } from '../shared/collections.ts';
import { isoTime } from '../shared/isoTime.ts';
import type { Stored } from '../table/entity.ts';
import * as sendTo from '../workers/sendTo.ts';
import type { QueueSender } from '../workers/sender.ts';
import { attemptDeliveries, type DeliveryStore, type StoredDelivery, toDelivery } from './deliveries.ts';
import { ALL_FIRST_ATTEMPTS, type DeliveryMessage, deliveryTiming, nextAttemptMessages } from './deliveryMessage.ts';
import { writeEndpointHealth } from './endpointHealth.ts';
import { disableEndpoints } from './disableEndpoints.ts';
import { exhaustedEvent, isExhaustion, type LastAttempt } from './exhaust.ts';
import { endFirstAttempts, type FirstAttemptStore } from './firstAttempts.ts';
import { type AttemptLoader, loadAttempts, type LoadedItems } from './loadAttempt.ts';
import { type AttemptContent, type PreparedRequest, prepareRequests, type WebhookRequests } from './prepareRequest.ts';
import { type RateSlots, reserveRateSlots } from './rateSlots.ts';
import { checkGate, takeProbe } from './rules/breaker.ts';
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
import { type AttemptOutcome, isStoredWithDelivery, type LoggedAttempt } from './rules/loggedAttempt.ts';
import { type AttemptResult, recordOutcome } from './rules/outcome.ts';
import { type Target, targetOf } from './targets.ts';
import { type WebhookClient, webhookClient, type WebhookRequest } from './transport/send.ts';
import { disableIfGivenUp, type HealthPorts, HealthUpdater } from './updateHealth.ts';

/** The stores, queues and clients that an attempt uses. */
export interface AttemptPorts extends HealthPorts {
  readonly loader: Pick<AttemptLoader, 'load'>;
  readonly deliveries: Pick<DeliveryStore, 'get' | 'replace' | 'logAttempt'>;
  readonly groups: Pick<FirstAttemptStore, 'delete'>;
  readonly outbox: Pick<OutboxStore, 'markFannedOut'>;
  readonly slots: Pick<RateSlots, 'reserve'>;
  readonly requests: Pick<WebhookRequests, 'prepare'>;
  readonly client: WebhookClient;
  /** The queue of retries, deferred messages, and deliveries to slow endpoints. */
  readonly retryQueue: QueueSender;
  /** Whether the message is of the queue of first attempts. Only for these, the time from commit to attempt is measured. */
  readonly isFirstQueue: boolean;
  readonly sleep: (milliseconds: number) => Promise<void>;
}

export type AttemptCall = Pick<WorkerCall<Uses>, 'clock' | 'newId' | 'log' | 'measures'>;

/** Returns the capability to attempt deliveries for messages of one queue. */
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
      isFirstQueue: queue === 'deliver',
      random: Math.random,
      sleep: (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds)),
    }),
  );
}

/**
 * Makes the attempts that a message names, if they are due: the next attempt of a delivery, or the first attempts of an event at several
 * endpoints. The table is the source of truth, and the message only a hint: it can arrive twice, late or early. Whatever a receiver causes is a
 * failed attempt. Throws only on internal errors, after all attempts of the message have ended; SQS then redelivers the message.
 */
export async function attemptDelivery(ports: AttemptPorts, message: DeliveryMessage, call: AttemptCall): Promise<void> {
  const { endpointId, more = [] } = message;
  const attempts = [endpointId, ...more].map(
    (one) => new DeliveryAttempt(ports, { ...message, endpointId: one }, call),
  );
  const runs = await Promise.allSettled(attempts.map((attempt) => attempt.run(message.slot)));
  const failure = runs.find((run) => run.status === 'rejected');
  if (failure) throw failure.reason;
  if (message.group === undefined) return;
  await Promise.all(attempts.map((attempt) => attempt.requireStored()));
  await endGroup(ports, message, attempts[0]?.event, call);
}

/**
 * Ends a group of first attempts: each of its endpoints has a delivery now. An event without stored groups leaves the outbox, because its first
 * attempts were its last work.
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

/** How many milliseconds before its time a message is accepted: clocks differ. */
const EARLY = 5_000;
/** How often a result is written again while other writers change the claimed delivery. */
const RESULT_TRIES = 10;

/** A delivery whose next attempt can be made now, with its target and the stored health of that target. */
interface LoadedDelivery extends LoadedItems {
  readonly delivery: StoredDelivery<PendingDelivery>;
  /** Whether it is stored as parked. */
  readonly wasParked: boolean;
  readonly target: Stored<Target>;
}

/** A delivery whose lease this run holds, or whose first attempt it makes. A first attempt has no stored lease. */
type ClaimedDelivery = StoredDelivery<PendingDelivery> & { readonly claim: string };

/** An attempt that was made; times are epoch ms. */
interface SentAttempt {
  readonly at: number;
  readonly endedAt: number;
  readonly result: AttemptResult;
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
  readonly #endpoint: HealthUpdater;
  /** How many reserved slots this run has used too late. */
  #expiredSlots = 0;
  /** The event, as it was read last. */
  event: StoredEvent | undefined;
  /** Whether the delivery is known to be stored. */
  #isStored = false;

  constructor(ports: AttemptPorts, message: DeliveryMessage, call: AttemptCall) {
    const { deliveries } = ports;
    this.#ports = {
      ...ports,
      deliveries: {
        get: (key) => deliveries.get(key),
        logAttempt: (key, attempt) => deliveries.logAttempt(key, attempt),
        replace: async (read, next, ops) => {
          const stored = await deliveries.replace(read, next, ops);
          this.#isStored ||= stored !== 'lost';
          return stored;
        },
      },
    };
    this.#message = message;
    this.#call = call;
    this.#endpoint = new HealthUpdater(ports, message, call);
  }

  /** Runs the pipeline. A step that returns `undefined` or `deferred` ends the run, and has stored or sent what happens next. */
  async run(reservedSlot: number | undefined): Promise<void> {
    const loaded = await this.#load();
    if (!loaded) return;
    const { delivery, target } = loaded;

    const gate = await this.#checkBreaker(loaded);
    if (!gate) return;

    if (this.#ports.isFirstQueue && isSlow(healthAt(loaded.health, target._r), this.#call.clock()))
      return this.#handOver(delivery);

    const slot = await this.#reserveSlot(delivery, target, reservedSlot);
    if (slot === 'deferred') return;

    const health = gate === 'probe' ? await this.#takeProbe(loaded) : loaded.health;
    // Another run took the probe. Load again, since the endpoint may have recovered; the slot stays reserved.
    if (health === 'lost') return this.run(slot);

    const claimed = await this.#claim(delivery);
    if (!claimed) return;

    const isCurrent = isFirst(delivery) && gate === 'closed' && slot === undefined;
    const sent = await this.#send(claimed, { ...loaded, isCurrent }, slot);
    if (!sent) return;

    const recorded = await this.#recordAttempt(claimed, sent);
    await this.#updateHealth(sent, { read: health, isProbe: gate === 'probe' }, recorded?.status === 'EXHAUSTED');
  }

  /** Throws if the delivery of a first attempt is not stored, for example after a conflict with another transaction. SQS then redelivers the message. */
  async requireStored(): Promise<void> {
    if (this.#isStored || !this.event || (await this.#ports.deliveries.get(this.#message))) return;
    throw new Error('A first attempt has ended without a stored delivery');
  }

  /** Reads all that decides about the attempt in one consistent call. Returns it if the attempt is due. */
  async #load(): Promise<LoadedDelivery | undefined> {
    const { deliveries, loader, retryQueue, timing } = this.#ports;
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
      // The worker that holds the lease continues. If it has crashed, SQS redelivers its message after the lease.
      if (!isStale) this.#call.measures.count('DuplicateMessages');
    } else if (isStale) {
      // A worker that crashed may not have sent the message of the next attempt. A duplicate does no harm.
      await retryQueue.send(nextAttemptMessages(delivery, now));
    } else if (!target) {
      await deliveries.replace(delivery, endDelivery(delivery, 'CANCELLED'));
    } else if (now > delivery.deadline) {
      await this.#exhaustAfterDeadline(delivery, target, loaded.health);
    } else {
      return { ...loaded, delivery, wasParked, target };
    }
    return undefined;
  }

  /** Returns the delivery of a first attempt, which is not stored yet. Undefined if the message is about a later attempt. */
  #firstDelivery(event: StoredEvent | undefined, now: number): StoredDelivery | undefined {
    const { endpointId, group } = this.#message;
    return event && group !== undefined ? toDelivery(event, endpointId, now, this.#ports.timing) : undefined;
  }

  /**
   * Returns whether the attempt is a normal one or the probe of an open breaker. Parks the delivery while the breaker blocks; that uses no attempt.
   * A resend is always attempted: somebody asks whether the endpoint works.
   */
  async #checkBreaker({
    delivery,
    wasParked,
    target,
    health,
  }: LoadedDelivery): Promise<'closed' | 'probe' | undefined> {
    const gate = checkGate(healthAt(health, target._r).breaker, this.#call.clock());
    if (typeof gate === 'string') return gate;
    if (delivery.otherwise) return 'closed';
    // The open breaker has a job that releases the delivery.
    if (!wasParked && (await this.#ports.deliveries.replace(delivery, parkDelivery(delivery))) !== 'lost')
      this.#call.measures.count('DeliveriesParked');
    return undefined;
  }

  /**
   * Returns the time at which the rate limit allows the attempt, epoch ms: the reserved slot, or a new one if that has expired. Returns
   * undefined for an endpoint without a limit. A slot that is too far away to wait for defers the message; that uses no attempt.
   */
  async #reserveSlot(
    delivery: StoredDelivery<PendingDelivery>,
    { rateLimit }: Target,
    reserved: number | undefined,
  ): Promise<number | undefined | 'deferred'> {
    const { clock } = this.#call;
    if (rateLimit === undefined) return undefined;
    for (let slot = reserved; ;) {
      const decision = slot === undefined ? 'expired' : checkSlot(slot, clock());
      if (decision === 'wait') return slot;
      if (slot !== undefined && decision !== 'expired') {
        await this.#defer(delivery, slot, decision.deferUntil);
        return 'deferred';
      }
      if (slot !== undefined) this.#expiredSlots++;
      const ahead = reserveAhead(this.#expiredSlots);
      slot = await this.#ports.slots.reserve(this.#message, rateLimit, () => clock() + ahead);
    }
  }

  /**
   * Sends the message again for the time of its slot. It goes to the queue of retries: the age of a message counts its delay, and the alarm of the
   * other queue is on that age.
   */
  async #defer(delivery: StoredDelivery<PendingDelivery>, slot: number, nextAt: number): Promise<void> {
    const { deliveries, retryQueue, timing } = this.#ports;
    this.#call.measures.count('RateLimitedDeliveries');
    const now = this.#call.clock();
    const messages = nextAttemptMessages(delivery, now, { at: nextAt, slot });
    // The delivery needs no write if it is not claimed, and the sweeper does not take the message for lost before the slot.
    const isCovered = !isFirst(delivery) && delivery.claim === undefined && delivery.dueAt > slot + timing.marginMs / 2;
    if (messages.length > 0 && isCovered) return retryQueue.send(messages);
    const stored = await deliveries.replace(delivery, postponeDelivery(delivery, nextAt, now, timing, slot));
    if (stored !== 'lost') await retryQueue.send(nextAttemptMessages(stored, now));
  }

  /** Sends the message of a first attempt at a slow endpoint to the queue of retries. */
  async #handOver(delivery: StoredDelivery<PendingDelivery>): Promise<void> {
    const { deliveries, retryQueue, timing } = this.#ports;
    const now = this.#call.clock();
    const stored =
      delivery._r > 0 ? delivery : await deliveries.replace(delivery, postponeDelivery(delivery, now, now, timing));
    if (stored !== 'lost') await retryQueue.send(nextAttemptMessages(stored, now));
  }

  /** Reserves the one probe of an open breaker by a conditional write. Returns the stored health; `lost` if another run was first. */
  async #takeProbe({ target, health }: LoadedDelivery): Promise<Stored<EndpointHealth> | 'lost'> {
    const now = this.#call.clock();
    const current = healthAt(health, target._r);
    const next = { ...current, breaker: takeProbe(current.breaker, now), writtenAt: now };
    const outcome = await this.#ports.health.write(this.#message, next, health);
    return outcome === 'lost' ? 'lost' : { ...next, _r: (health?._r ?? 0) + 1 };
  }

  /**
   * Takes the lease of the next attempt by a conditional write, so that duplicates of the message send nothing. A first attempt takes none: two
   * workers that get its message at the same time send the event twice with the same id, which at-least-once allows.
   */
  async #claim(delivery: StoredDelivery<PendingDelivery>): Promise<ClaimedDelivery | undefined> {
    const claim = this.#call.newId('clm');
    if (isFirst(delivery)) return { ...delivery, claim };
    const next = { ...claimDelivery(delivery, claim, this.#call.clock()), claim };
    const stored = await this.#ports.deliveries.replace(delivery, next);
    if (stored !== 'lost') return stored;
    // The SDK repeats a write whose response was lost. The repetition conflicts with the first write, which has succeeded.
    const current = await this.#ports.deliveries.get(this.#message);
    if (hasClaim(current, claim)) return current;
    this.#call.measures.count('DuplicateMessages');
    return undefined;
  }

  /**
   * Makes the request from what is stored shortly before the slot, and posts it once, in its slot. A slot that has expired by then is replaced by a
   * new one: sending late would exceed the rate limit. Cancels the delivery if it may not be delivered any more. A receiver that fails in any way is
   * a result.
   */
  async #send(
    claimed: ClaimedDelivery,
    { target: loaded, ...content }: AttemptContent & Pick<LoadedDelivery, 'target'>,
    reserved: number | undefined,
  ): Promise<SentAttempt | undefined> {
    const { isFirstQueue, requests, sleep } = this.#ports;
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
      await this.#storeResult(claimed, (current) => endDelivery(current, 'CANCELLED'));
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
    measures.count(attemptCounters[result.outcome]);
    return { at, endedAt: clock(), result, target };
  }

  /** Posts the request. If the answer takes long, other attempts at the endpoint learn it before this one ends. */
  async #post(request: WebhookRequest, target: Stored<Target>): Promise<AttemptResult> {
    let marking: Promise<void> | undefined;
    const timer = setTimeout(() => {
      marking = this.#endpoint.markSlow(target);
    }, SLOW_AFTER);
    try {
      return await this.#ports.client.post(request);
    } finally {
      clearTimeout(timer);
      await marking;
    }
  }

  /** Logs the attempt, stores the new state of the delivery, and sends the message of a retry that is near. Returns the stored state. */
  async #recordAttempt(claimed: ClaimedDelivery, sent: SentAttempt): Promise<StoredDelivery | undefined> {
    const { random, retryQueue, timing } = this.#ports;
    const { at, endedAt, result } = sent;
    const entry = this.#toLogEntry(claimed, sent);
    const isInDelivery = isFirst(claimed) && isStoredWithDelivery(entry);
    if (!isInDelivery) await this.#logAttempt(claimed, entry);
    const chance = random();
    const stored = await this.#storeResult(
      claimed,
      (current) => ({
        ...recordOutcome(current, result, endedAt, chance, timing),
        ...(isInDelivery && { first: entry }),
      }),
      { at: isoTime(at), outcome: result.outcome, responseStatus: result.responseStatus },
    );
    if (!stored && isInDelivery) await this.#logAttempt(claimed, entry);
    if (stored && isPending(stored)) await retryQueue.send(nextAttemptMessages(stored, endedAt));
    return stored;
  }

  /** Stores what the attempt says about its endpoint. Disables an endpoint that has failed for days when a delivery is exhausted. */
  async #updateHealth(
    { result, target }: SentAttempt,
    { read, isProbe }: { read: Stored<EndpointHealth> | undefined; isProbe: boolean },
    isExhausted: boolean,
  ): Promise<void> {
    const health = await this.#endpoint.record(target, read, { delivered: result.outcome === 'delivered', isProbe });
    if (isExhausted) await disableIfGivenUp(this.#ports, this.#message, this.#call, target, health);
  }

  #toLogEntry(claimed: ClaimedDelivery, { at, result }: SentAttempt): LoggedAttempt {
    const { outcome, responseStatus, responseBody, error, durationMs } = result;
    const entry: LoggedAttempt = {
      claim: claimed.claim,
      at,
      outcome,
      responseStatus,
      responseBody: responseBody && new Uint8Array(responseBody),
      error,
      durationMs: Math.round(durationMs),
      byHand: claimed.otherwise !== undefined,
    };
    // The response body is the customer's data and does not belong in our logs.
    if (outcome !== 'delivered')
      this.#call.log.info(logMessages.webhookAttemptFailed, {
        tenant: this.#message.tenant,
        ...this.#logKeys(claimed),
        outcome,
        responseStatus,
        durationMs: entry.durationMs,
        reason: error,
      });
    // A stored item is compared with its own repetition, so no field may be undefined.
    return definedFields(entry) as LoggedAttempt;
  }

  /** Writes an attempt to the log, best effort: a failed log write must not repeat a delivery. */
  async #logAttempt(claimed: ClaimedDelivery, entry: LoggedAttempt): Promise<void> {
    const attempt = nextAttemptNumber(claimed);
    try {
      await this.#ports.deliveries.logAttempt(this.#message, { ...entry, attempt });
    } catch (error) {
      const { eventId, endpointId } = this.#message;
      this.#call.log.error(logMessages.webhookAttemptNotRecorded, { eventId, endpointId, error });
    }
  }

  #logKeys(claimed: ClaimedDelivery) {
    const { eventId, endpointId } = this.#message;
    return { eventId, endpointId, attempt: nextAttemptNumber(claimed) };
  }

  /**
   * Writes the result over the claimed delivery, with the event that all attempts failed if it is exhausted. Repeats on conflicts while this
   * run holds the lease. Returns the stored delivery; undefined when the lease was lost, and the attempt counts in the log only.
   */
  async #storeResult(
    claimed: ClaimedDelivery,
    change: (current: ClaimedDelivery) => Delivery,
    lastAttempt?: LastAttempt,
  ): Promise<StoredDelivery | undefined> {
    const { deliveries, timing } = this.#ports;
    let current = claimed;
    for (let i = 0; i < RESULT_TRIES; i++) {
      const next = change(current);
      const ops = exhaustedEvent(this.#message.tenant, current, next, this.#call.clock(), { lastAttempt });
      const outcome = await deliveries.replace(current, next, ops);
      const stored = outcome === 'lost' ? await deliveries.get(this.#message) : outcome;
      if (outcome !== 'lost' || isOwnResult(current, stored)) {
        if (isExhaustion(current, next)) this.#call.measures.count('DeliveriesExhausted');
        return stored;
      }
      // Another transaction touched the item that this one inserts. Try again.
      if (isFirst(claimed) && !stored) continue;
      const mayContinue = isFirst(claimed)
        ? isUnattempted(stored, this.#call.clock())
        : hasClaim(stored, claimed.claim);
      if (!stored || !mayContinue) {
        this.#call.log.warn(logMessages.webhookAttemptResultDiscarded, this.#logKeys(claimed));
        return undefined;
      }
      const now = this.#call.clock();
      const pending = isParked(stored) ? unparkDelivery(stored, now, now, timing) : stored;
      current = { ...(pending as StoredDelivery<PendingDelivery>), claim: claimed.claim };
    }
    throw new Error('Other writers keep changing the delivery');
  }

  /** Ends a delivery whose deadline passed before all attempts were made, for example because its endpoint was paused. */
  async #exhaustAfterDeadline(
    delivery: StoredDelivery<PendingDelivery>,
    target: Stored<Target>,
    health: EndpointHealth | undefined,
  ): Promise<void> {
    const next = endDelivery(delivery, 'EXHAUSTED');
    const ops = exhaustedEvent(this.#message.tenant, delivery, next, this.#call.clock());
    const outcome = await this.#ports.deliveries.replace(delivery, next, ops);
    if (outcome === 'lost') return;
    if (isExhaustion(delivery, next)) this.#call.measures.count('DeliveriesExhausted');
    await disableIfGivenUp(this.#ports, this.#message, this.#call, target, healthAt(health, target._r));
  }
}

/** Whether a delivery is not stored, because its first attempt has not ended. */
function isFirst({ _r }: { readonly _r: number }): boolean {
  return _r === 0;
}

/** Whether a delivery that was stored during its first attempt, by a resend or a copy of the message, has no attempt yet. */
function isUnattempted(delivery: StoredDelivery | undefined, now: number): boolean {
  return delivery?.status === 'PENDING' && delivery.attempts === 0 && !isClaimed(delivery, now);
}

function hasClaim(delivery: StoredDelivery | undefined, claim: string): delivery is ClaimedDelivery {
  return delivery !== undefined && isPending(delivery) && delivery.claim === claim;
}

/**
 * Whether the stored delivery is the result that this run wrote: the SDK repeats a write whose response was lost, and the repetition
 * conflicts with it. Only the lease holder counts an attempt.
 */
function isOwnResult(claimed: ClaimedDelivery, stored: StoredDelivery | undefined): boolean {
  return !isFirst(claimed) && stored?._r === claimed._r + 1 && stored.attempts === claimed.attempts + 1;
}
