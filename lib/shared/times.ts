import * as z from 'zod';
import { optional } from './schema.ts';

/** 9999-12-31T23:59:59.999Z: the last time that is written with four digits of the year, as sort keys need it. */
const LAST_TIME = 253_402_300_799_999;

/** A point in time in epoch milliseconds. */
export const EpochMilliseconds = z.int().min(0).max(LAST_TIME);

/** A point in time that may be sent as epoch milliseconds or as ISO 8601; comes out as epoch milliseconds. */
export const Instant = z.union(
  [
    EpochMilliseconds,
    z
      .string()
      .max(40)
      .meta({ pattern: '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d+)?)?(Z|[+-]\\d{2}:\\d{2}))?$' })
      .check(
        z.refine(
          (text) => z.iso.datetime({ offset: true }).safeParse(text).success || z.iso.date().safeParse(text).success,
          { error: 'must be an ISO 8601 time', abort: true },
        ),
      )
      .transform((text) => Date.parse(text))
      .pipe(EpochMilliseconds),
  ],
  { error: 'must be an ISO 8601 time or epoch milliseconds' },
);

/** When something that is brought in from elsewhere was made and last changed; now when it is left out. */
export const importedTimes = { createdAt: optional(Instant), lastUpdated: optional(Instant) };

/** A time as a part of a sort key: texts sort as the times do. */
export function instantKey(at: number): string {
  return new Date(at).toISOString();
}
