import * as z from 'zod';

/** That an endpoint has had no success since some failure; epoch ms. */
export const Failing = z.object({
  /** The first failure. */
  since: z.number(),
  /** The last one that counts: those that count lie half a day apart. */
  last: z.number(),
  /** On how many days (UTC) failures that count lie. */
  days: z.number(),
  /** Up to which day the owner was warned; 0 before the first warning. */
  warned: z.number(),
});
export type Failing = z.output<typeof Failing>;

const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;
const APART = 12 * HOUR;
/** For how long every attempt must have failed before an endpoint is disabled. */
export const DISABLED_AFTER = 5 * DAY;
/** The days after which the owner is warned. */
export const warningDays = [1, 3] as const;
export type WarningDay = (typeof warningDays)[number];

const dayOf = (at: number) => Math.floor(at / DAY);

/** The same after one failure more; the same value when it says nothing new. A success is what ends it. */
export function stillFailing(failing: Failing | undefined, now: number): Failing {
  if (!failing) return { since: now, last: now, days: 1, warned: 0 };
  if (now - failing.last < APART) return failing;
  return { ...failing, last: now, days: failing.days + (dayOf(now) === dayOf(failing.last) ? 0 : 1) };
}

/** The warning that is due: the latest one whose day has come and that was not given yet. */
export function warningDue({ since, days, warned }: Failing, now: number): WarningDay | undefined {
  return warningDays.findLast((day) => day > warned && now - since >= day * DAY && days > 1);
}

/** Whether an endpoint is to be disabled (facts B8, deliveries 2.9): every attempt failed for 5 days, on more than one of them. */
export function isGivenUp({ since, days }: Failing, now: number): boolean {
  return now - since >= DISABLED_AFTER && days > 1;
}
