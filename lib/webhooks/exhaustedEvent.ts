import { recordEvent } from '../events/outbox.ts';
import { isOperational } from '../events/rules/catalogue.ts';
import type { WriteOp } from '../table/table.ts';
import type { Delivery } from './rules/delivery.ts';
import type { AttemptOutcome } from './rules/loggedAttempt.ts';

/** The last attempt of an exhausted delivery, as the event `message.attempt.exhausted` contains it. `at` is an ISO time. */
export interface LastAttempt {
  readonly at: string;
  readonly outcome: AttemptOutcome;
  readonly responseStatus: number | undefined;
}

/**
 * Returns whether a change exhausts a delivery, so that no attempt remains. A failed resend exhausts nothing, because the delivery
 * gets its earlier state back.
 */
export function isExhaustion(current: Delivery, next: Delivery): boolean {
  return next.status === 'EXHAUSTED' && current.otherwise === undefined;
}

interface ExhaustedEventOptions {
  readonly lastAttempt?: LastAttempt | undefined;
  /** Whether an endpoint subscribes to the event. If not, the event is written without an entry in the outbox. */
  readonly isReceived?: boolean;
}

/**
 * Returns the operations that write the event `message.attempt.exhausted`, for the transaction of a change that exhausts a
 * delivery. Returns none for other changes. Returns none if the delivered event is itself about deliveries or endpoints. Otherwise
 * each event about a failing endpoint would cause another one.
 */
export function exhaustedEvent(
  tenant: string,
  current: Delivery,
  next: Delivery,
  now: number,
  { lastAttempt, isReceived = true }: ExhaustedEventOptions = {},
): WriteOp[] {
  const { eventId, endpointId, event, attempts, deadline } = next;
  if (!isExhaustion(current, next) || isOperational(event)) return [];
  const data = {
    metadata: { apiKey: tenant },
    messageId: eventId,
    event,
    endpointId,
    attempts,
    ...(lastAttempt && { lastAttempt }),
  };
  return recordEvent(
    tenant,
    {
      event: 'message.attempt.exhausted',
      // A recovery sets a new deadline. The number of attempts can stay the same, because a parked delivery makes none.
      cause: { type: 'Delivery', id: JSON.stringify([eventId, endpointId]), revision: deadline },
      payload: { source: 'operational', data },
    },
    now,
    { fannedOut: !isReceived },
  ).ops;
}
