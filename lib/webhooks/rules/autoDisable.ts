import * as z from 'zod';

/** How long all attempts at an endpoint have failed. Times are epoch ms. */
export const Failing = z.object({
  /** The time of the first failure after the last success. */
  since: z.number(),
  /** The time of the last counted failure. A failure within 12 hours after a counted one is not counted. */
  last: z.number(),
  /** The number of days (UTC) that have a counted failure. */
  days: z.number(),
  /** The last warning to the owner, as its number of days in `warningDays`. 0 before the first warning. */
  warned: z.number(),
});
export type Failing = z.output<typeof Failing>;

const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;
const COUNTING_INTERVAL = 12 * HOUR;
/** How long all attempts must have failed before an endpoint is disabled, in milliseconds. */
export const DISABLED_AFTER = 5 * DAY;
/** The numbers of days without a success after which the owner gets a warning. */
export const warningDays = [1, 3] as const;
export type WarningDay = (typeof warningDays)[number];

const dayOf = (time: number) => Math.floor(time / DAY);

/** Returns the failures with one more. Returns the same value if the new failure is not counted. */
export function addFailure(failing: Failing | undefined, now: number): Failing {
  if (!failing) return { since: now, last: now, days: 1, warned: 0 };
  if (now - failing.last < COUNTING_INTERVAL) return failing;
  return { ...failing, last: now, days: failing.days + (dayOf(now) === dayOf(failing.last) ? 0 : 1) };
}

/** Returns the latest warning that is due and was not sent. Returns undefined if there is none. */
export function findDueWarning({ since, days, warned }: Failing, now: number): WarningDay | undefined {
  return warningDays.findLast((day) => day > warned && now - since >= day * DAY && days > 1);
}

/** Whether an endpoint must be disabled. All attempts have then failed for 5 days, and more than one day has a counted failure. */
export function hasFailedTooLong({ since, days }: Failing, now: number): boolean {
  return now - since >= DISABLED_AFTER && days > 1;
}
