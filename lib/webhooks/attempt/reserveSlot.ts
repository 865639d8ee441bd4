import type { Revision } from '../deliveries.ts';
import { type Pending, postponed } from '../rules/delivery.ts';
import { turnOf } from '../rules/limiter.ts';
import type { Delivering } from './attemptContext.ts';
import { messageAbout } from '../deliveryMessage.ts';

/** The place of a delivery in the rate limit of its endpoint: near, so that it is waited for, or so far ahead that it has to come again. */
export type Turn = NearTurn | FarTurn;

export interface NearTurn {
  readonly rateLimit: number;
  /** The reserved place, epoch ms: no attempt begins before it, nor much after. */
  readonly slot: number;
  readonly notBefore: number;
}

export interface FarTurn {
  readonly slot: number;
  readonly comeAt: number;
}

/** The turn by the slot that is reserved, or by the next one when there is none or it is over. */
export async function turnAt(
  { deps, message, clock }: Delivering,
  rateLimit: number,
  reserved?: number,
): Promise<Turn> {
  for (let slot = reserved; ; slot = await deps.runtime.reserve(message, rateLimit, clock)) {
    const turn = slot === undefined ? undefined : turnOf(slot, clock());
    if (turn && slot !== undefined) return { ...turn, rateLimit, slot };
  }
}

/**
 * Has a delivery come again when its slot does; no attempt is used. It is written only where it is in our hands, or where its message
 * would count as lost before.
 */
export async function defer(
  { deps, own, clock, measures }: Delivering,
  delivery: Pending & Revision,
  { comeAt, slot }: FarTurn,
): Promise<void> {
  measures.count('RateLimitedDeliveries');
  const now = clock();
  const sent = messageAbout(delivery, now, { at: comeAt, slot });
  if (sent.length > 0 && delivery.claim === undefined && delivery.dueAt > slot + deps.timing.marginMs / 2)
    return own.send(sent);
  const stored = await deps.deliveries.replace(delivery, postponed(delivery, comeAt, now, deps.timing, slot));
  if (stored !== 'lost') await own.send(messageAbout(stored, now));
}
