import * as z from 'zod';

/** The failures of an endpoint since its last success; epoch ms. */
export const Failing = z.object({
  /** The first failure. */
  since: z.number(),
  /** The last failure that counts. Failures count when they are at least half a day apart. */
  last: z.number(),
  /** The number of days (UTC) with a failure that counts. */
  days: z.number(),
  /** The day of the last warning to the owner; 0 before the first one. */
  warned: z.number(),
});
export type Failing = z.output<typeof Failing>;

const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;
const APART = 12 * HOUR;
/** An endpoint is disabled when every attempt has failed for this long. */
export const DISABLED_AFTER = 5 * DAY;
/** The days after which the owner is warned. */
export const warningDays = [1, 3] as const;
export type WarningDay = (typeof warningDays)[number];

const dayOf = (at: number) => Math.floor(at / DAY);

/** Returns the failures with one more; the same value when it does not count. */
export function stillFailing(failing: Failing | undefined, now: number): Failing {
  if (!failing) return { since: now, last: now, days: 1, warned: 0 };
  if (now - failing.last < APART) return failing;
  return { ...failing, last: now, days: failing.days + (dayOf(now) === dayOf(failing.last) ? 0 : 1) };
}

/** Returns the warning that is due: the latest one that was not sent. */
export function warningDue({ since, days, warned }: Failing, now: number): WarningDay | undefined {
  return warningDays.findLast((day) => day > warned && now - since >= day * DAY && days > 1);
}

/** Whether an endpoint is to be disabled: every attempt has failed for 5 days, and on more than one of them. */
export function isGivenUp({ since, days }: Failing, now: number): boolean {
  return now - since >= DISABLED_AFTER && days > 1;
}
