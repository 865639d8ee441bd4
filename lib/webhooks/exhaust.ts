import { recordEvent } from '../events/outbox.ts';
import { isOperational } from '../events/rules/catalogue.ts';
import type { WriteOp } from '../table/table.ts';
import type { Delivery } from './rules/delivery.ts';
import type { AttemptOutcome } from './rules/loggedAttempt.ts';

/** The last attempt of an exhausted delivery, as its event shows it. */
export interface LastAttempt {
  readonly at: string;
  readonly outcome: AttemptOutcome;
  readonly responseStatus: number | undefined;
}

/** Whether a delivery becomes exhausted. A failed resend only returns to the state before it. */
export function isExhaustion(current: Delivery, next: Delivery): boolean {
  return next.status === 'EXHAUSTED' && current.otherwise === undefined;
}

interface ExhaustedEventOptions {
  readonly lastAttempt?: LastAttempt | undefined;
  /** Whether somebody receives the event. If not, it is written as fanned out, which saves its entry in the outbox. */
  readonly isReceived?: boolean;
}

/**
 * Returns the operations that write the event `message.attempt.exhausted` if a delivery becomes exhausted, for the transaction of that change.
 * There is none for deliveries of operational events: an endpoint that fails would get an endless chain of them.
 */
export function exhaustedEvent(
  tenant: string,
  current: Delivery,
  next: Delivery,
  now: number,
  { lastAttempt, isReceived = true }: ExhaustedEventOptions = {},
): WriteOp[] {
  const { eventId, endpointId, event, attempts } = next;
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
      cause: { type: 'Delivery', id: JSON.stringify([eventId, endpointId]), revision: attempts },
      payload: { source: 'operational', data },
    },
    now,
    { fannedOut: !isReceived },
  ).ops;
}
