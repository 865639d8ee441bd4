import type { Revision } from '../deliveries.ts';
import { gateOf, probing, resumeAt } from '../rules/breaker.ts';
import { ended, isClaimed, isPending, nextAttemptOf, type Pending, postponed } from '../rules/delivery.ts';
import { healthAt } from '../rules/health.ts';
import { attempt } from './attempt.ts';
import type { Delivering } from './attemptContext.ts';
import { giveUp } from './exhaustion.ts';
import { messageAbout } from '../deliveryMessage.ts';
import { defer, turnAt } from './reserveSlot.ts';

/** How far before its time a message may be acted on: clocks differ. */
const EARLY = 5_000;

/**
 * What a message about a delivery brings about (deliveries 2.5). The delivery is the truth and the message a hint: it can come twice, late,
 * or before its time. Whatever the receiver's side can cause is an attempt that failed; it throws for faults of ours only, and then the
 * message comes again. `reserved` is the place in the endpoint's rate limit that it has.
 */
export async function deliver(delivering: Delivering, reserved = delivering.message.slot): Promise<void> {
  const { deps, message, clock, measures, random } = delivering;
  const { delivery, target, health: stored } = await deps.deliveries.look(message);
  if (!delivery || !isPending(delivery)) return;
  const now = clock();
  if (message.attemptNo !== nextAttemptOf(delivery) || delivery.nextAt > now + EARLY)
    return remind(delivering, delivery);
  // Whoever is at it goes on; or has ended, and then the message it had comes again when its lease is over.
  if (isClaimed(delivery, now)) return measures.count('DuplicateMessages');
  if (!target) return void (await deps.deliveries.replace(delivery, ended(delivery, 'CANCELLED')));
  if (now > delivery.deadline) return giveUp(delivering, delivery, target, stored);

  const health = healthAt(stored, target._r);
  const gate = gateOf(health.breaker, now);
  if (typeof gate === 'object') return postpone(delivering, delivery, resumeAt(health.breaker, now, random()));
  const turn = target.rateLimit === undefined ? undefined : await turnAt(delivering, target.rateLimit, reserved);
  if (turn && 'comeAt' in turn) return defer(delivering, delivery, turn);
  if (gate === 'closed') return attempt(delivering, delivery, { stored, probe: false, turn });
  const probe = { ...health, breaker: probing(health.breaker, clock()), writtenAt: clock() };
  // When somebody else tries, or has tried by now, all is to be seen anew.
  if ((await deps.runtime.learn(message, probe, stored)) === 'lost') return deliver(delivering, turn?.slot);
  return attempt(delivering, delivery, { stored: { ...probe, _r: (stored?._r ?? 0) + 1 }, probe: true, turn });
}

/** Sees to a message about the next attempt when that is near: whoever was to send it may have ended before. */
async function remind({ deps, clock }: Delivering, delivery: Pending & Revision): Promise<void> {
  const now = clock();
  if (!isClaimed(delivery, now)) await deps.slow.send(messageAbout(delivery, now));
}

/** Puts an attempt off, while deliveries to its endpoint pause; none is used. */
async function postpone({ deps, clock }: Delivering, delivery: Pending & Revision, nextAt: number): Promise<void> {
  const now = clock();
  const stored = await deps.deliveries.replace(delivery, postponed(delivery, nextAt, now, deps.timing));
  if (stored !== 'lost') await deps.slow.send(messageAbout(stored, now));
}
