import * as z from 'zod';
import { LoggedAttempt } from './loggedAttempt.ts';
import { deliveryLifetime, marginAfter, planAttempt, type Timing } from './schedule.ts';

/**
 * PENDING while attempts are to come. It ends as DELIVERED, as EXHAUSTED when all attempts failed, or as CANCELLED when it may not be
 * delivered any more. Only a resend or a recovery makes an ended delivery pending again.
 */
export const deliveryStatuses = ['PENDING', 'DELIVERED', 'EXHAUSTED', 'CANCELLED'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** The delivery of one event to one endpoint. It is the source of truth; queue messages only repeat it. Times are epoch ms. */
export const Delivery = z.object({
  eventId: z.string(),
  /** `ep_...`, or one of `basicTargets`. */
  endpointId: z.string(),
  /** The event type. */
  event: z.string(),
  status: z.enum(deliveryStatuses),
  /** The number of attempts made. It only grows, so an attempt number stays unique. */
  attempts: z.number(),
  /** The attempts that do not count in the schedule: resends, and attempts before a recovery. */
  uncounted: z.number(),
  /** The time of the next attempt; only while PENDING, and not while parked. */
  nextAt: z.number().optional(),
  /** When the sweeper checks the delivery: after `nextAt` if a message was sent, before it if none was; set together with `nextAt`. */
  dueAt: z.number().optional(),
  /** Set while the delivery waits for the breaker of its endpoint; only while PENDING. It then has no next attempt, message or due time. */
  parked: z.literal(true).optional(),
  /** How often the message of the next attempt seemed lost. */
  sweeps: z.number(),
  /** No attempt begins after this time. */
  deadline: z.number(),
  /** The slot that is reserved in the rate limit of the endpoint, if it is too far away for a queue message. */
  slot: z.number().optional(),
  /** The worker that makes the next attempt, and the end of its lease. No other worker begins before. */
  claim: z.string().optional(),
  leaseUntil: z.number().optional(),
  /** Set while the next attempt is a resend: the state to return to if it fails. */
  otherwise: z.object({ status: z.enum(deliveryStatuses), nextAt: z.number().optional() }).optional(),
  /** The log entry of a first attempt that succeeded with a short answer. Other attempts are items of their own. */
  first: LoggedAttempt.optional(),
  /** The time of the event. */
  createdAt: z.number(),
  /** From 0 to 127. */
  shard: z.number(),
});
export type Delivery = z.output<typeof Delivery>;

/** A delivery with a next attempt. */
export type PendingDelivery = Delivery & { readonly nextAt: number; readonly dueAt: number };

/** A delivery that waits for the breaker of its endpoint. */
export type ParkedDelivery = Delivery & { readonly parked: true };

/** Longer than an attempt can take, and shorter than SQS hides the message of a crashed worker. */
const LEASE = 60_000;

/** The first attempt is always made, even if the event has waited past its deadline. */
const LEAST_LIFETIME = 60 * 60 * 1000;

/** Returns a new delivery, whose first attempt is due now. */
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
    deadline: Math.max(of.createdAt + deliveryLifetime(timing.schedule), now + LEAST_LIFETIME),
    ...attemptTimes(now, now, timing),
  };
}

export function nextAttemptNumber({ attempts }: Pick<Delivery, 'attempts'>): number {
  return attempts + 1;
}

/** Whether a delivery has a next attempt. A parked one has none. */
export function isPending<D extends Delivery>(delivery: D): delivery is D & PendingDelivery {
  return delivery.status === 'PENDING' && delivery.parked === undefined;
}

export function isParked<D extends Delivery>(delivery: D): delivery is D & ParkedDelivery {
  return delivery.status === 'PENDING' && delivery.parked === true;
}

/** Whether a delivery has ended without success. It can be recovered. */
export function hasFailed(status: DeliveryStatus): boolean {
  return status === 'EXHAUSTED' || status === 'CANCELLED';
}

/** Whether a worker holds the lease of the next attempt. */
export function isClaimed({ leaseUntil = 0 }: Delivery, now: number): boolean {
  return leaseUntil > now;
}

/** Returns the delivery with a lease for its next attempt. */
export function claimDelivery<D extends PendingDelivery>(
  delivery: D,
  claim: string,
  now: number,
): D & { readonly claim: string } {
  return { ...delivery, claim, leaseUntil: now + LEASE };
}

/** Returns the delivery with its next attempt at another time. No attempt is used. `slot` is reserved for that time. */
export function postponeDelivery(
  delivery: PendingDelivery,
  nextAt: number,
  now: number,
  timing: Timing,
  slot?: number,
): PendingDelivery {
  return { ...releaseDelivery(delivery), slot, sweeps: 0, ...attemptTimes(nextAt, now, timing) };
}

/** Returns the delivery as it waits for the breaker of its endpoint, without a next attempt. No attempt is used. */
export function parkDelivery(delivery: Delivery): ParkedDelivery {
  const { nextAt: _nextAt, dueAt: _dueAt, slot: _slot, ...rest } = releaseDelivery(delivery);
  return { ...rest, sweeps: 0, parked: true };
}

/** Returns a parked delivery with its next attempt at a time. */
export function unparkDelivery<D extends ParkedDelivery>(
  { parked: _parked, ...delivery }: D,
  nextAt: number,
  now: number,
  timing: Timing,
): Omit<D, 'parked'> & PendingDelivery {
  return { ...delivery, ...attemptTimes(nextAt, now, timing) };
}

/**
 * Returns the delivery after the sweeper found it due and sent its message. The margin doubles each time: the message may wait in a long
 * queue, which must not fill with copies. A claimed delivery is checked again at the end of its lease.
 */
export function afterSweep(delivery: PendingDelivery, now: number, { marginMs }: Timing): PendingDelivery {
  if (isClaimed(delivery, now)) return { ...delivery, dueAt: delivery.leaseUntil ?? now };
  const sweeps = delivery.nextAt <= now ? delivery.sweeps + 1 : delivery.sweeps;
  return { ...delivery, sweeps, dueAt: Math.max(now, delivery.nextAt) + marginAfter(sweeps, marginMs) };
}

/** Returns the ended delivery. A failed resend of a delivery that had ended before restores that status. */
export function endDelivery(delivery: Delivery, status: Exclude<DeliveryStatus, 'PENDING'>): Delivery {
  const {
    otherwise,
    nextAt: _nextAt,
    dueAt: _dueAt,
    slot: _slot,
    parked: _parked,
    ...rest
  } = releaseDelivery(delivery);
  const isRestored = status !== 'DELIVERED' && otherwise !== undefined && otherwise.status !== 'PENDING';
  return { ...rest, sweeps: 0, status: isRestored ? otherwise.status : status };
}

/** Returns the delivery with one more attempt now, in any state. The attempt is outside the schedule: if it fails, the state before it returns. */
export function resendDelivery(delivery: Delivery, now: number, timing: Timing): PendingDelivery {
  const otherwise = delivery.otherwise ?? { status: delivery.status, nextAt: delivery.nextAt };
  return {
    ...delivery,
    otherwise,
    slot: undefined,
    parked: undefined,
    status: 'PENDING',
    sweeps: 0,
    deadline: Math.max(delivery.deadline, now + deliveryLifetime(timing.schedule)),
    ...attemptTimes(now, now, timing),
  };
}

/** Returns a failed delivery at the start of its schedule. */
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

/** Returns the time of the next attempt, and when the sweeper checks it. */
export function attemptTimes(
  nextAt: number,
  now: number,
  { marginMs }: Timing,
): Pick<PendingDelivery, 'nextAt' | 'dueAt'> {
  return { nextAt, dueAt: planAttempt(nextAt, now, marginMs).dueAt };
}

/** Returns the delivery without a lease. */
export function releaseDelivery<D extends Delivery>(delivery: D): Omit<D, 'claim' | 'leaseUntil'> {
  const { claim: _claim, leaseUntil: _leaseUntil, ...rest } = delivery;
  return rest;
}
