import type { Revision } from '../deliveries.ts';
import type { Target } from '../targets.ts';
import type { Stored } from '../../table/entity.ts';
import { emit } from '../../events/outbox.ts';
import type { WriteOp } from '../../table/table.ts';
import { isGivenUp } from '../rules/autoDisable.ts';
import { type Delivery, ended, type Pending } from '../rules/delivery.ts';
import { type EndpointHealth, healthAt } from '../rules/health.ts';
import type { AttemptOutcome } from '../rules/outcome.ts';
import { isOperational } from '../../events/rules/catalogue.ts';
import { type Delivering, tellOwner } from './attemptContext.ts';
import * as logMessages from '../../observability/logMessages.ts';

/** The attempt after which there is none. */
export interface LastAttempt {
  readonly at: number;
  readonly outcome: AttemptOutcome;
  readonly responseStatus: number | undefined;
}

/**
 * The operations that tell of a delivery that ran out of attempts, by an event (facts B6); none when what it delivered tells of such things
 * itself: that would go on for ever.
 */
export function exhaustion(
  delivery: Delivery & { readonly tenant: string },
  last: LastAttempt | undefined,
  now: number,
): WriteOp[] {
  const { tenant, eventId, endpointId, event, attempts } = delivery;
  if (isOperational(event)) return [];
  const data = {
    metadata: { apiKey: tenant },
    messageId: eventId,
    event,
    endpointId,
    attempts,
    ...(last && { lastAttempt: { ...last, at: new Date(last.at).toISOString() } }),
  };
  return emit(
    tenant,
    {
      event: 'message.attempt.exhausted',
      cause: { type: 'Delivery', id: JSON.stringify([eventId, endpointId]), revision: attempts },
      payload: { source: 'operational', data },
    },
    now,
  );
}

/** Ends a delivery whose time is over before all attempts were made. */
export async function giveUp(
  delivering: Delivering,
  delivery: Pending & Revision,
  target: Stored<Target>,
  stored: EndpointHealth | undefined,
): Promise<void> {
  const { deps, measures, clock } = delivering;
  const next = ended(delivery, 'EXHAUSTED');
  const isEnd = delivery.otherwise === undefined;
  if (
    (await deps.deliveries.replace(
      delivery,
      next,
      isEnd ? exhaustion({ ...next, tenant: delivery.tenant }, undefined, clock()) : [],
    )) === 'lost'
  )
    return;
  if (isEnd) measures.count('DeliveriesExhausted');
  await seeToDisabling(delivering, target, healthAt(stored, target._r));
}

/**
 * Disables an advanced endpoint at which every attempt has failed for five days, now that one of its deliveries is exhausted
 * (deliveries 2.9), and tells its owner. The URLs of basic webhooks are never disabled: they have no such state that a customer could see.
 */
export async function seeToDisabling(
  delivering: Delivering,
  target: Stored<Target>,
  known: EndpointHealth | undefined,
): Promise<void> {
  const { deps, message, clock, measures, log } = delivering;
  const now = clock();
  if (target.kind !== 'advanced' || !known?.failing || !isGivenUp(known.failing, now)) return;
  const { tenant, endpointId } = message;
  // Read afresh: a success that came meanwhile counts.
  const { failing } = healthAt(await deps.runtime.health(message), target._r);
  if (!failing || !isGivenUp(failing, now)) return;
  if ((await deps.endpoints.disable(tenant, target.endpoint, failing.since, now)) === 'lost') return;
  measures.count('EndpointsDisabled');
  log.warn(logMessages.webhookEndpointDisabled, { tenant, endpointId });
  await tellOwner(delivering, { url: target.url, stage: 'disabled', failingSince: failing.since, now });
}
