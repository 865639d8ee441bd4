import * as z from 'zod';
import { DISABLED_AFTER, type WarningDay, warningDays } from '../../events/rules/endpointFailures.ts';

export const Failing = z.object({
  since: z.number(),
  /** Failures in the 12 hours after this one are not counted. */
  last: z.number(),
  days: z.number(),
  warned: z.number(),
});
export type Failing = z.output<typeof Failing>;

const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;
const COUNTING_INTERVAL = 12 * HOUR;

const dayOf = (time: number) => Math.floor(time / DAY);

/** The same object if the failure is not counted. */
export function addFailure(failing: Failing | undefined, now: number): Failing {
  if (!failing) return { since: now, last: now, days: 1, warned: 0 };
  if (now - failing.last < COUNTING_INTERVAL) return failing;
  return { ...failing, last: now, days: failing.days + (dayOf(now) === dayOf(failing.last) ? 0 : 1) };
}

export function findDueWarning({ since, days, warned }: Failing, now: number): WarningDay | undefined {
  return warningDays.findLast((day) => day > warned && now - since >= day * DAY && days > 1);
}

export function hasFailedTooLong({ since, days }: Failing, now: number): boolean {
  return now - since >= DISABLED_AFTER && days > 1;
}
