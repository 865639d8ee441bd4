import { recordEvent } from '../events/outbox.ts';
import { isOperational } from '../events/rules/catalogue.ts';
import type { WriteOp } from '../table/table.ts';
import type { Delivery } from './rules/delivery.ts';
import type { AttemptOutcome } from './rules/loggedAttempt.ts';

export interface LastAttempt {
  readonly at: string;
  readonly outcome: AttemptOutcome;
  readonly responseStatus: number | undefined;
}

/** A failed resend is not reported, because the delivery normally gets its earlier state back. */
export function isExhaustion(current: Delivery, next: Delivery): boolean {
  return next.status === 'EXHAUSTED' && current.otherwise === undefined;
}

interface ExhaustedEventOptions {
  readonly lastAttempt?: LastAttempt | undefined;
  /** Without receivers, the event has no entry in the outbox. */
  readonly isReceived?: boolean;
}

/** None if the delivered event is itself about deliveries or endpoints: each such event would cause another one. */
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
      // A recovery sets a new deadline, but can keep the number of attempts.
      cause: { type: 'Delivery', id: JSON.stringify([eventId, endpointId]), revision: deadline },
      payload: { source: 'operational', data },
    },
    now,
    { fannedOut: !isReceived },
  ).ops;
}
