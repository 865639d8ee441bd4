import * as z from 'zod';
import { deliveryLifetime, marginAfter, planAttempt, type Timing } from '../../workers/rules/schedule.ts';
import { LoggedAttempt } from './loggedAttempt.ts';

/**
 * The status of a delivery. Only a resend or a recovery makes an ended delivery pending again.
 * - PENDING: the delivery has a next attempt, or it is parked: it waits for the endpoint's circuit breaker.
 * - DELIVERED: an attempt succeeded.
 * - EXHAUSTED: all attempts failed, or the deadline has passed.
 * - CANCELLED: the delivery is not allowed any more, for example because its endpoint was deleted.
 */
const deliveryStatuses = ['PENDING', 'DELIVERED', 'EXHAUSTED', 'CANCELLED'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** The delivery of one event to one endpoint. It is the source of truth. Queue messages only repeat it. Times are epoch ms. */
export const Delivery = z.object({
  eventId: z.string(),
  /** `ep_...`, or one of `basicTargets`. */
  endpointId: z.string(),
  /** The event type. */
  event: z.string(),
  status: z.enum(deliveryStatuses),
  /**
   * The number of attempts so far. It never becomes smaller. A first attempt and a resend that run at the same time have the same
   * number, and can count as one.
   */
  attempts: z.number(),
  /** The number of attempts that the schedule does not count: resends, and attempts before a recovery. */
  uncounted: z.number(),
  /** The time of the next attempt. Absent if the delivery has ended or is parked. */
  nextAt: z.number().optional(),
  /**
   * When the sweep, which runs every minute, checks the delivery. This time is after `nextAt` if a message was sent, otherwise
   * before `nextAt`. Present whenever `nextAt` is.
   */
  dueAt: z.number().optional(),
  /** Set while the delivery waits for the circuit breaker of its endpoint. It then has no next attempt, message or due time. */
  parked: z.literal(true).optional(),
  /** The number of times that the message of the next attempt counted as lost. */
  sweeps: z.number(),
  /** No attempt begins after this time. */
  deadline: z.number(),
  /**
   * The slot that is reserved for the next attempt in the endpoint's rate limit. Absent if none is reserved, or if the slot is only
   * in the queue message of the attempt.
   */
  slot: z.number().optional(),
  /** The revision of the endpoint for which the slot was reserved. */
  slotRevision: z.number().optional(),
  /** The id of the lease of the next attempt. Until `leaseUntil`, only the worker that generated this id makes the attempt. */
  claim: z.string().optional(),
  leaseUntil: z.number().optional(),
  /** Set while the next attempt is a resend. If the resend fails, the delivery gets this state back. */
  otherwise: z.object({ status: z.enum(deliveryStatuses), nextAt: z.number().optional() }).optional(),
  /** Set for a test event whose first attempt was deferred. This attempt must pass an open circuit breaker. */
  isTest: z.literal(true).optional(),
  /** The id of the last call that resent the delivery. If this call was interrupted, its repetition plans no other attempt. */
  resendId: z.string().optional(),
  /**
   * The log entry of the first attempt, if it succeeded with a short response. Log entries of other attempts are `Attempt` items.
   */
  first: LoggedAttempt.optional(),
  /** The time of the event. */
  createdAt: z.number(),
  /** The number of the partition in the due index, from 0 to 127. */
  shard: z.number(),
});
export type Delivery = z.output<typeof Delivery>;

/** The reserved slot in the rate limit and the revision of the endpoint for which it was reserved. Undefined without a slot. */
type ReservedSlot = Pick<Delivery, 'slot' | 'slotRevision'>;

export type PendingDelivery = Delivery & { readonly nextAt: number; readonly dueAt: number };

export type ParkedDelivery = Delivery & { readonly parked: true };

/**
 * The length of a lease, in milliseconds. An attempt takes less time. The message of a crashed worker becomes visible in SQS after
 * the lease.
 */
const LEASE = 60_000;

/**
 * The least time from a new delivery to its deadline, in milliseconds. An event that waited for days therefore still gets its first
 * attempt.
 */
const MIN_LIFETIME_MILLISECONDS = 60 * 60 * 1000;

/** The fields of a delivery without a reserved slot. */
export const noSlot: ReservedSlot = { slot: undefined, slotRevision: undefined };

/** Returns a new delivery. Its first attempt is due now. */
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

/** Returns whether a delivery has a next attempt. A parked delivery has none. */
export function isPending<D extends Delivery>(delivery: D): delivery is D & PendingDelivery {
  return delivery.status === 'PENDING' && delivery.parked === undefined;
}

export function isParked<D extends Delivery>(delivery: D): delivery is D & ParkedDelivery {
  return delivery.status === 'PENDING' && delivery.parked === true;
}

/** Returns whether a delivery with this status has ended without success. Such a delivery can be recovered. */
export function hasFailed(status: DeliveryStatus): boolean {
  return status === 'EXHAUSTED' || status === 'CANCELLED';
}

/** Returns whether a worker has the lease of the next attempt. */
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

/**
 * Returns the delivery with its next attempt at `nextAt`, without a lease. The number of attempts stays. `reserved` is the slot
 * that the attempt has reserved, if any.
 */
export function postponeDelivery(
  delivery: PendingDelivery,
  nextAt: number,
  now: number,
  timing: Timing,
  { slot, slotRevision }: ReservedSlot = {},
): PendingDelivery {
  return { ...releaseDelivery(delivery), slot, slotRevision, sweeps: 0, ...attemptTimes(nextAt, now, timing) };
}

/**
 * Returns the delivery without a next attempt and without a lease, until the circuit breaker closes. The number of attempts stays.
 */
export function parkDelivery(delivery: Delivery): ParkedDelivery {
  const { nextAt: _nextAt, dueAt: _dueAt, ...waiting } = releaseDelivery(delivery);
  return { ...waiting, ...noSlot, sweeps: 0, parked: true };
}

/** Returns a delivery that was parked, with its next attempt at `nextAt`. */
export function unparkDelivery<D extends ParkedDelivery>(
  { parked: _parked, ...delivery }: D,
  nextAt: number,
  now: number,
  timing: Timing,
): Omit<D, 'parked'> & PendingDelivery {
  return { ...delivery, ...attemptTimes(nextAt, now, timing) };
}

/**
 * Returns the delivery after the sweep has sent its message again. The time after which the sweep sends it once more doubles with
 * each copy, because the first message may still wait in a long queue, and copies make the queue longer. If a worker has a lease of
 * the delivery, the sweep checks it again at the end of the lease.
 */
export function afterSweep(delivery: PendingDelivery, now: number, { marginMs }: Timing): PendingDelivery {
  if (isClaimed(delivery, now)) return { ...delivery, dueAt: delivery.leaseUntil ?? now };
  const sweeps = delivery.nextAt <= now ? delivery.sweeps + 1 : delivery.sweeps;
  return { ...delivery, sweeps, dueAt: Math.max(now, delivery.nextAt) + marginAfter(sweeps, marginMs) };
}

/**
 * Returns the delivery with a status that ends it. If a resend of an ended delivery fails, the delivery gets its earlier status
 * back.
 */
export function endDelivery(delivery: Delivery, status: Exclude<DeliveryStatus, 'PENDING'>): Delivery {
  const { otherwise, nextAt: _nextAt, dueAt: _dueAt, parked: _parked, ...ended } = releaseDelivery(delivery);
  const isRestored = status !== 'DELIVERED' && otherwise !== undefined && otherwise.status !== 'PENDING';
  return { ...ended, ...noSlot, sweeps: 0, status: isRestored ? otherwise.status : status };
}

/**
 * Returns a delivery of any status with one more attempt, now. The schedule does not count this attempt. If it fails, the delivery
 * gets its earlier state back.
 */
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

/** Returns a failed delivery as pending, at the start of its schedule. */
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

/** Returns the time of the next attempt, and the time when the sweep checks the delivery. */
export function attemptTimes(
  nextAt: number,
  now: number,
  { marginMs }: Timing,
): Pick<PendingDelivery, 'nextAt' | 'dueAt'> {
  return { nextAt, dueAt: planAttempt(nextAt, now, marginMs).dueAt };
}

/** Returns the delivery without a lease. */
export function releaseDelivery<D extends Delivery>(delivery: D): Omit<D, 'claim' | 'leaseUntil'> {
  const { claim: _claim, leaseUntil: _leaseUntil, ...released } = delivery;
  return released;
}
