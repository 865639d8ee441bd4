import * as z from 'zod';
import { DISABLED_AFTER, type WarningDay, warningDays } from '../../events/rules/endpointFailures.ts';

/** The failures of an endpoint since its last success. Times are epoch ms. */
export const Failing = z.object({
  /** The time of the first failure after the last success. */
  since: z.number(),
  /** The time of the last counted failure. Failures in the 12 hours after it are not counted. */
  last: z.number(),
  /** The number of days (UTC) with a counted failure. */
  days: z.number(),
  /** The last warning that the owner got, as a number of days from `warningDays`. 0 before the first warning. */
  warned: z.number(),
});
export type Failing = z.output<typeof Failing>;

const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;
const COUNTING_INTERVAL = 12 * HOUR;

const dayOf = (time: number) => Math.floor(time / DAY);

/** Returns the failures after one more failure at `now`. Returns the same object if the failure is not counted. */
export function addFailure(failing: Failing | undefined, now: number): Failing {
  if (!failing) return { since: now, last: now, days: 1, warned: 0 };
  if (now - failing.last < COUNTING_INTERVAL) return failing;
  return { ...failing, last: now, days: failing.days + (dayOf(now) === dayOf(failing.last) ? 0 : 1) };
}

/** Returns the latest warning that is due and was not sent. Returns undefined if there is none. */
export function findDueWarning({ since, days, warned }: Failing, now: number): WarningDay | undefined {
  return warningDays.findLast((day) => day > warned && now - since >= day * DAY && days > 1);
}

/** Returns whether an endpoint must be disabled: without a success for 5 days, and with counted failures on more than one day. */
export function hasFailedTooLong({ since, days }: Failing, now: number): boolean {
  return now - since >= DISABLED_AFTER && days > 1;
}
