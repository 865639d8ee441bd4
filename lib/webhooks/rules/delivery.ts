import * as z from 'zod';
import { lifetime, marginOf, plan, type Timing } from './schedule.ts';

/**
 * What becomes of an event at one endpoint. PENDING while attempts are to come; then DELIVERED, EXHAUSTED when all attempts failed, or
 * CANCELLED because it may no longer be delivered. It leaves these again only when somebody asks for it.
 */
export const deliveryStatuses = ['PENDING', 'DELIVERED', 'EXHAUSTED', 'CANCELLED'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** The delivery of one event to one endpoint: the truth of which messages are only hints. Times are epoch ms. */
export const Delivery = z.object({
  eventId: z.string(),
  /** `ep_...`, or one of `basicTargets`. */
  endpointId: z.string(),
  /** The type of the event. */
  event: z.string(),
  status: z.enum(deliveryStatuses),
  /** How many attempts were made; it never goes back, so that the number of an attempt means that attempt for good. */
  attempts: z.number(),
  /** How many of them do not count in the schedule: they were made in an earlier run through it, or by hand. */
  uncounted: z.number(),
  /** When the next attempt is to be made; while PENDING. */
  nextAt: z.number().optional(),
  /** When the sweeper looks after it: past `nextAt` where a message was sent, ahead of it where none was; while PENDING. */
  dueAt: z.number().optional(),
  /** How often the message for the next attempt seemed lost. */
  sweeps: z.number(),
  /** No attempt begins later than this. */
  deadline: z.number(),
  /** The place in its endpoint's rate limit that is reserved for the next attempt, where it is too far ahead for a message. */
  slot: z.number().optional(),
  /** Who is at the next attempt, and until when nobody else begins it. */
  claim: z.string().optional(),
  leaseUntil: z.number().optional(),
  /** The next attempt is one that somebody asked for: when it fails, the delivery becomes this again. */
  otherwise: z.object({ status: z.enum(deliveryStatuses), nextAt: z.number().optional() }).optional(),
  /** When the event happened. */
  createdAt: z.number(),
  shard: z.number(),
});
export type Delivery = z.output<typeof Delivery>;

/** A delivery that is pending, with the times that it then has. */
export type Pending = Delivery & { readonly nextAt: number; readonly dueAt: number };

/** Longer than an attempt can take with all that belongs to it, shorter than a message stays hidden after a crash. */
const LEASE = 60_000;

/** A new delivery, whose first message is sent with it. */
export function newDelivery(
  of: Pick<Delivery, 'eventId' | 'endpointId' | 'event' | 'createdAt' | 'shard'>,
  now: number,
  timing: Timing,
): Pending {
  return {
    ...of,
    status: 'PENDING',
    attempts: 0,
    uncounted: 0,
    sweeps: 0,
    deadline: now + lifetime(timing.schedule),
    ...planned(now + (timing.schedule[0] ?? 0), now, timing),
  };
}

/** The number of the attempt that is to be made next: what a message about it names. */
export function nextAttemptOf({ attempts }: Pick<Delivery, 'attempts'>): number {
  return attempts + 1;
}

export function isPending(delivery: Delivery): delivery is Pending {
  return delivery.status === 'PENDING';
}

/** Whether it has ended without being delivered; it can be recovered. */
export function hasFailed(status: DeliveryStatus): boolean {
  return status === 'EXHAUSTED' || status === 'CANCELLED';
}

/** Whether somebody is at the next attempt. */
export function isClaimed({ leaseUntil = 0 }: Delivery, now: number): boolean {
  return leaseUntil > now;
}

/** The delivery in the hands of the one who makes the next attempt. */
export function claimed(delivery: Pending, claim: string, now: number): Pending {
  return { ...delivery, claim, leaseUntil: now + LEASE };
}

/** The delivery with its next attempt at another time, and no attempt used; `slot` is what is reserved for it then. */
export function postponed(delivery: Pending, nextAt: number, now: number, timing: Timing, slot?: number): Pending {
  return { ...released(delivery), slot, sweeps: 0, ...planned(nextAt, now, timing) };
}

/**
 * The delivery after the sweeper found it due and sent its message. Each time that one seems lost the next look is twice as far away:
 * it may be waiting in a long queue, which must not fill with copies. One that is being attempted is left alone until its lease is over.
 */
export function swept(delivery: Pending, now: number, { marginMs }: Timing): Pending {
  if (isClaimed(delivery, now)) return { ...delivery, dueAt: delivery.leaseUntil ?? now };
  const sweeps = delivery.nextAt <= now ? delivery.sweeps + 1 : delivery.sweeps;
  return { ...delivery, sweeps, dueAt: Math.max(now, delivery.nextAt) + marginOf(sweeps, marginMs) };
}

/** The delivery at its end; one that was attempted again by hand, and was at its end before, is there again unless it is delivered now. */
export function ended(delivery: Delivery, status: Exclude<DeliveryStatus, 'PENDING'>): Delivery {
  const { otherwise, nextAt: _nextAt, dueAt: _dueAt, slot: _slot, ...rest } = released(delivery);
  const before = otherwise && otherwise.status !== 'PENDING' ? otherwise.status : undefined;
  return { ...rest, sweeps: 0, status: status === 'DELIVERED' ? status : (before ?? status) };
}

/** The delivery with one attempt more now, whatever its state: it is out of schedule, and when it fails all is as before. */
export function resent(delivery: Delivery, now: number, timing: Timing): Pending {
  const otherwise = delivery.otherwise ?? { status: delivery.status, nextAt: delivery.nextAt };
  return {
    ...delivery,
    otherwise,
    slot: undefined,
    status: 'PENDING',
    sweeps: 0,
    deadline: Math.max(delivery.deadline, now + lifetime(timing.schedule)),
    ...planned(now, now, timing),
  };
}

/** The delivery at the beginning of the schedule again: for what failed, and is to be delivered after all. */
export function recovered(delivery: Delivery, now: number, timing: Timing): Pending {
  return {
    ...released(delivery),
    status: 'PENDING',
    uncounted: delivery.attempts,
    sweeps: 0,
    deadline: now + lifetime(timing.schedule),
    ...planned(now, now, timing),
  };
}

export function planned(nextAt: number, now: number, { marginMs }: Timing): Pick<Pending, 'nextAt' | 'dueAt'> {
  return { nextAt, dueAt: plan(nextAt, now, marginMs).dueAt };
}

/** The delivery in nobody's hands. */
export function released<D extends Delivery>(delivery: D): Omit<D, 'claim' | 'leaseUntil'> {
  const { claim: _claim, leaseUntil: _leaseUntil, ...rest } = delivery;
  return rest;
}
