import * as z from 'zod';
import { deliveryLifetime, marginAfter, planAttempt, type Timing } from '../../workers/rules/schedule.ts';
import { LoggedAttempt } from './loggedAttempt.ts';

/** A CANCELLED delivery is not allowed any more. Only a resend or a recovery makes an ended one pending again. */
const deliveryStatuses = ['PENDING', 'DELIVERED', 'EXHAUSTED', 'CANCELLED'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** The source of truth: a queue message has only ids and numbers. Times are epoch ms. */
export const Delivery = z.object({
  eventId: z.string(),
  endpointId: z.string(),
  event: z.string(),
  status: z.enum(deliveryStatuses),
  /** A first attempt and a resend at the same time have the same number, and can count as one. */
  attempts: z.number(),
  uncounted: z.number(),
  nextAt: z.number().optional(),
  /** When the sweep checks the delivery: after `nextAt` if a message was sent, otherwise before it. */
  dueAt: z.number().optional(),
  parked: z.literal(true).optional(),
  sweeps: z.number(),
  deadline: z.number(),
  slot: z.number().optional(),
  slotRevision: z.number().optional(),
  /** Until `leaseUntil`, only the worker with this id makes the next attempt. */
  claim: z.string().optional(),
  leaseUntil: z.number().optional(),
  /** The next attempt is a resend. If it fails, the delivery gets this state back. */
  otherwise: z.object({ status: z.enum(deliveryStatuses), nextAt: z.number().optional() }).optional(),
  /** A deferred test. Its attempt must pass an open circuit breaker. */
  isTest: z.literal(true).optional(),
  /** The call that resent the delivery. Its repetition plans no other attempt. */
  resendId: z.string().optional(),
  first: LoggedAttempt.optional(),
  createdAt: z.number(),
  shard: z.number(),
});
export type Delivery = z.output<typeof Delivery>;

type ReservedSlot = Pick<Delivery, 'slot' | 'slotRevision'>;

export type PendingDelivery = Delivery & { readonly nextAt: number; readonly dueAt: number };

export type ParkedDelivery = Delivery & { readonly parked: true };

/** An attempt takes less time. SQS shows the message of a crashed worker again after the lease. */
const LEASE = 60_000;

/** An event that waited for days still gets its first attempt. */
const MIN_LIFETIME_MILLISECONDS = 60 * 60 * 1000;

export const noSlot: ReservedSlot = { slot: undefined, slotRevision: undefined };

export function newDelivery(
  of: Pick<Delivery, 'eventId' | 'endpointId' | 'event' | 'createdAt' | 'shard'>,
  now: number,
  timing: Timing,
): PendingDelivery {
  return {
    ...of,
    status: 'PENDING',
    attempts: 0,
    uncounted: 0,
    sweeps: 0,
    deadline: Math.max(of.createdAt + deliveryLifetime(timing.schedule), now + MIN_LIFETIME_MILLISECONDS),
    ...attemptTimes(now, now, timing),
  };
}

export function nextAttemptNumber({ attempts }: Pick<Delivery, 'attempts'>): number {
  return attempts + 1;
}

export function isPending<D extends Delivery>(delivery: D): delivery is D & PendingDelivery {
  return delivery.status === 'PENDING' && delivery.parked === undefined;
}

export function isParked<D extends Delivery>(delivery: D): delivery is D & ParkedDelivery {
  return delivery.status === 'PENDING' && delivery.parked === true;
}

export function hasFailed(status: DeliveryStatus): boolean {
  return status === 'EXHAUSTED' || status === 'CANCELLED';
}

export function isClaimed({ leaseUntil = 0 }: Delivery, now: number): boolean {
  return leaseUntil > now;
}

export function claimDelivery<D extends PendingDelivery>(
  delivery: D,
  claim: string,
  now: number,
): D & { readonly claim: string } {
  return { ...delivery, claim, leaseUntil: now + LEASE };
}

export function postponeDelivery(
  delivery: PendingDelivery,
  nextAt: number,
  now: number,
  timing: Timing,
  { slot, slotRevision }: ReservedSlot = {},
): PendingDelivery {
  return { ...releaseDelivery(delivery), slot, slotRevision, sweeps: 0, ...attemptTimes(nextAt, now, timing) };
}

export function parkDelivery(delivery: Delivery): ParkedDelivery {
  const { nextAt: _nextAt, dueAt: _dueAt, ...waiting } = releaseDelivery(delivery);
  return { ...waiting, ...noSlot, sweeps: 0, parked: true };
}

export function unparkDelivery<D extends ParkedDelivery>(
  { parked: _parked, ...delivery }: D,
  nextAt: number,
  now: number,
  timing: Timing,
): Omit<D, 'parked'> & PendingDelivery {
  return { ...delivery, ...attemptTimes(nextAt, now, timing) };
}

/** A delivery with a lease is checked again at the end of the lease. */
export function afterSweep(delivery: PendingDelivery, now: number, { marginMs }: Timing): PendingDelivery {
  if (isClaimed(delivery, now)) return { ...delivery, dueAt: delivery.leaseUntil ?? now };
  const sweeps = delivery.nextAt <= now ? delivery.sweeps + 1 : delivery.sweeps;
  return { ...delivery, sweeps, dueAt: Math.max(now, delivery.nextAt) + marginAfter(sweeps, marginMs) };
}

export function endDelivery(delivery: Delivery, status: Exclude<DeliveryStatus, 'PENDING'>): Delivery {
  const { otherwise, nextAt: _nextAt, dueAt: _dueAt, parked: _parked, ...ended } = releaseDelivery(delivery);
  const isRestored = status !== 'DELIVERED' && otherwise !== undefined && otherwise.status !== 'PENDING';
  return { ...ended, ...noSlot, sweeps: 0, status: isRestored ? otherwise.status : status };
}

export function resendDelivery(delivery: Delivery, now: number, timing: Timing): PendingDelivery {
  const otherwise = delivery.otherwise ?? { status: delivery.status, nextAt: delivery.nextAt };
  return {
    ...delivery,
    otherwise,
    ...noSlot,
    parked: undefined,
    status: 'PENDING',
    sweeps: 0,
    deadline: Math.max(delivery.deadline, now + deliveryLifetime(timing.schedule)),
    ...attemptTimes(now, now, timing),
  };
}

export function recoverDelivery(delivery: Delivery, now: number, timing: Timing): PendingDelivery {
  return {
    ...releaseDelivery(delivery),
    status: 'PENDING',
    uncounted: delivery.attempts,
    sweeps: 0,
    deadline: now + deliveryLifetime(timing.schedule),
    ...attemptTimes(now, now, timing),
  };
}

export function attemptTimes(
  nextAt: number,
  now: number,
  { marginMs }: Timing,
): Pick<PendingDelivery, 'nextAt' | 'dueAt'> {
  return { nextAt, dueAt: planAttempt(nextAt, now, marginMs).dueAt };
}

export function releaseDelivery<D extends Delivery>(delivery: D): Omit<D, 'claim' | 'leaseUntil'> {
  const { claim: _claim, leaseUntil: _leaseUntil, ...released } = delivery;
  return released;
}
