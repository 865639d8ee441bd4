import type { Revision, StoredDelivery } from '../deliveries.ts';
import { claimed, type Delivery, ended, isPending, nextAttemptOf, type Pending } from '../rules/delivery.ts';
import { afterResult, type AttemptOutcome } from '../rules/outcome.ts';
import type { CountedMetric } from '../../observability/deliveryMetrics.ts';
import type { Sent } from '../transport/send.ts';
import type { Delivering } from './attemptContext.ts';
import { exhaustion, type LastAttempt, seeToDisabling } from './exhaustion.ts';
import { type Circumstances, learn } from './updateHealth.ts';
import { messageAbout } from '../deliveryMessage.ts';
import { defer, turnAt } from './reserveSlot.ts';
import * as logMessages from '../../observability/logMessages.ts';

/** A delivery in our hands. */
type Claimed = Pending & Revision & { readonly claim: string };

/** How often a result is written again when somebody else changed the delivery, which remains in our hands. */
const TRIES = 10;

const counters: Readonly<Record<AttemptOutcome, CountedMetric>> = {
  delivered: 'WebhookAttemptsDelivered',
  failed: 'WebhookAttemptsFailed',
  timeout: 'WebhookAttemptsTimedOut',
  refused: 'WebhookAttemptsRefused',
};

/** Makes the next attempt of a delivery, if it is ours to make, and sees to what follows from it. */
export async function attempt(
  delivering: Delivering,
  delivery: Pending & Revision,
  known: Circumstances,
): Promise<void> {
  const { deps, message, clock, measures, random, live, pause } = delivering;
  const mine = await claim(delivering, delivery);
  if (!mine) return measures.count('DuplicateMessages');
  if (known.turn) {
    // It may have taken so long to get here that the place is over: those that are late together would exceed the limit.
    const turn = await turnAt(delivering, known.turn.rateLimit, known.turn.slot);
    if ('comeAt' in turn) return defer(delivering, mine, turn);
    await pause(Math.max(0, turn.notBefore - clock()));
  }
  const prepared = await deps.requests.prepare(message);
  if (prepared === 'gone') return void (await settle(delivering, mine, (current) => ended(current, 'CANCELLED')));

  const { request, target, createdAt } = prepared;
  const at = clock();
  if (live && mine.attempts === 0 && message.slot === undefined) measures.record('FirstAttemptLatency', at - createdAt);
  const sent: Sent =
    'error' in request ? { outcome: 'failed', error: request.error, durationMs: 0 } : await deps.client.post(request);
  const now = clock();
  measures.count(counters[sent.outcome]);
  await log(delivering, mine, sent, at);
  const chance = random();
  const after = await settle(delivering, mine, (current) => afterResult(current, sent, now, chance, deps.timing), {
    at,
    outcome: sent.outcome,
    responseStatus: sent.responseStatus,
  });
  if (after && isPending(after)) await deps.slow.send(messageAbout(after, now));
  const health = await learn(delivering, target, known, sent.outcome === 'delivered');
  if (after?.status === 'EXHAUSTED') await seeToDisabling(delivering, target, health);
}

/** Takes a delivery into our hands; undefined when somebody else did, or changed it: then there is another message. */
async function claim(
  { deps, message, clock, newId }: Delivering,
  delivery: Pending & Revision,
): Promise<Claimed | undefined> {
  const mark = newId('clm');
  const stored = await deps.deliveries.replace(delivery, { ...claimed(delivery, mark, clock()), claim: mark });
  if (stored !== 'lost') return stored;
  // It may be ours after all: the SDK repeats a write whose answer was lost, and the repetition meets what the first one wrote.
  const there = await deps.deliveries.get(message);
  return isHeldBy(there, mark) ? there : undefined;
}

function isHeldBy(delivery: StoredDelivery | undefined, mark: string): delivery is Claimed {
  return delivery !== undefined && isPending(delivery) && delivery.claim === mark;
}

/** Whether what is stored is the result that was written over this one: the SDK repeats a write whose answer was lost, and nobody else counts our attempt. */
function isResultOver(mine: Claimed, there: StoredDelivery | undefined): boolean {
  return there?._r === mine._r + 1 && there.attempts === mine.attempts + 1;
}

/** Writes the attempt into the log. What is in the log is not the truth: when it cannot be written, what came of the attempt still counts. */
async function log({ deps, message, log: lines }: Delivering, mine: Claimed, sent: Sent, at: number): Promise<void> {
  const { outcome, responseStatus, responseBody, error, durationMs } = sent;
  // Not what the receiver said, which is the customer's business.
  const shown = {
    tenant: message.tenant,
    eventId: message.eventId,
    endpointId: message.endpointId,
    attempt: nextAttemptOf(mine),
    outcome,
    responseStatus,
    reason: error,
    durationMs: Math.round(durationMs),
  };
  if (outcome !== 'delivered') lines.info(logMessages.webhookAttemptFailed, shown);
  const entry = {
    attempt: nextAttemptOf(mine),
    claim: mine.claim,
    at,
    outcome,
    responseStatus,
    responseBody,
    error,
    durationMs: Math.round(durationMs),
    byHand: mine.otherwise !== undefined,
  };
  try {
    await deps.deliveries.log(message, entry);
  } catch (failure) {
    lines.error(logMessages.webhookAttemptNotRecorded, {
      eventId: message.eventId,
      endpointId: message.endpointId,
      error: failure,
    });
  }
}

/**
 * Writes what became of the delivery, with the event that all attempts failed when it is that. Others may write to it in the meantime; as
 * long as it is in our hands that is done again. Undefined when it is not any more: our lease was over, and what came of this is in the log alone.
 */
async function settle(
  delivering: Delivering,
  mine: Claimed,
  change: (current: Claimed) => Delivery,
  last?: LastAttempt,
): Promise<StoredDelivery | undefined> {
  const { deps, message, measures, clock, log: lines } = delivering;
  let current = mine;
  for (let i = 0; i < TRIES; i++) {
    const next = change(current);
    const isEnd = next.status === 'EXHAUSTED' && current.otherwise === undefined;
    const stored = await deps.deliveries.replace(
      current,
      next,
      isEnd ? exhaustion({ ...next, tenant: message.tenant }, last, clock()) : [],
    );
    const there = stored === 'lost' ? await deps.deliveries.get(message) : stored;
    if (stored !== 'lost' || isResultOver(current, there)) {
      if (isEnd) measures.count('DeliveriesExhausted');
      return there;
    }
    if (!isHeldBy(there, mine.claim)) {
      lines.warn(logMessages.webhookAttemptResultDiscarded, {
        eventId: message.eventId,
        endpointId: message.endpointId,
        attempt: nextAttemptOf(mine),
      });
      return undefined;
    }
    current = there;
  }
  throw new Error('Others keep changing the delivery');
}
