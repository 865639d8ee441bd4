import type { Uses } from '../app/capability.ts';
import type { WorkerCall } from '../app/worker.ts';
import * as logMessages from '../observability/logMessages.ts';
import { isoTime } from '../shared/isoTime.ts';
import type { Stored } from '../table/entity.ts';
import type { Timing } from '../workers/rules/schedule.ts';
import type { QueueSender } from '../workers/sender.ts';
import type { DeliveryStore, StoredDelivery } from './deliveries.ts';
import { type DeliveryMessage, nextAttemptMessages } from './deliveryMessage.ts';
import { exhaustedEvent, isExhaustion, type LastAttempt } from './exhaustedEvent.ts';
import {
  type Delivery,
  endDelivery,
  isClaimed,
  isParked,
  isPending,
  nextAttemptNumber,
  type PendingDelivery,
  unparkDelivery,
} from './rules/delivery.ts';
import { isStoredWithDelivery, type LoggedAttempt } from './rules/loggedAttempt.ts';
import { type AttemptResult, recordOutcome } from './rules/outcome.ts';
import type { Target } from './targets.ts';

export type ClaimedDelivery = StoredDelivery<PendingDelivery> & { readonly claim: string };

export interface SentAttempt {
  readonly at: number;
  readonly endedAt: number;
  readonly result: AttemptResult;
  readonly target: Stored<Target>;
}

export interface RecordPorts {
  readonly deliveries: Pick<DeliveryStore, 'get' | 'replace' | 'logAttempt'>;
  readonly retryQueue: QueueSender;
  readonly timing: Timing;
  readonly random: () => number;
}

type RecordCall = Pick<WorkerCall<Uses>, 'clock' | 'log' | 'measures'>;

const RESULT_TRIES = 10;

export class AttemptRecorder {
  readonly #ports: RecordPorts;
  readonly #message: DeliveryMessage;
  readonly #call: RecordCall;

  constructor(ports: RecordPorts, message: DeliveryMessage, call: RecordCall) {
    this.#ports = ports;
    this.#message = message;
    this.#call = call;
  }

  /** Undefined if the result is discarded, because another worker has changed the delivery. */
  async record(claimed: ClaimedDelivery, { at, endedAt, result }: SentAttempt): Promise<StoredDelivery | undefined> {
    const { random, retryQueue, timing } = this.#ports;
    const entry = toLogEntry(claimed, at, result);
    if (result.outcome !== 'delivered') this.#logFailure(claimed, entry);
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

  async cancel(claimed: ClaimedDelivery): Promise<StoredDelivery | undefined> {
    return this.#storeResult(claimed, (current) => endDelivery(current, 'CANCELLED'));
  }

  #logFailure(claimed: ClaimedDelivery, { outcome, responseStatus, durationMs, error }: LoggedAttempt): void {
    // The response body is data of the customer, so it is not logged.
    this.#call.log.info(logMessages.webhookAttemptFailed, {
      tenant: this.#message.tenant,
      ...this.#logKeys(claimed),
      outcome,
      responseStatus,
      durationMs,
      reason: error,
    });
  }

  /**
   * Does not throw, because SQS would redeliver the message. A second request to the receiver is worse than a missing
   * log entry.
   */
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
      if (outcome !== 'lost') {
        if (isExhaustion(current, next)) this.#call.measures.count('DeliveriesExhausted');
        return outcome;
      }
      const stored = await deliveries.get(this.#message);
      // Another transaction caused the conflict, but did not store the delivery.
      if (isFirst(claimed) && !stored) continue;
      const isUnchanged = isFirst(claimed)
        ? isUnattempted(stored, this.#call.clock())
        : hasClaim(stored, claimed.claim);
      // A success ends a pending delivery, even if another worker has changed it meanwhile.
      const mayContinue = isUnchanged || (next.status === 'DELIVERED' && stored?.status === 'PENDING');
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
}

function toLogEntry(
  { claim, otherwise }: ClaimedDelivery,
  at: number,
  { outcome, responseStatus, responseBody, error, durationMs }: AttemptResult,
): LoggedAttempt {
  return {
    claim,
    at,
    outcome,
    responseStatus,
    responseBody: responseBody && new Uint8Array(responseBody),
    error,
    durationMs: Math.round(durationMs),
    byHand: otherwise !== undefined,
  };
}

export function isFirst({ _r }: { readonly _r: number }): boolean {
  return _r === 0;
}

/** During a first attempt, a resend or a copy of the message can store the delivery without an attempt. */
function isUnattempted(delivery: StoredDelivery | undefined, now: number): boolean {
  return delivery?.status === 'PENDING' && delivery.attempts === 0 && !isClaimed(delivery, now);
}

function hasClaim(delivery: StoredDelivery | undefined, claim: string): delivery is ClaimedDelivery {
  return delivery !== undefined && isPending(delivery) && delivery.claim === claim;
}
