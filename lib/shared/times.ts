import * as z from 'zod';
import { fieldName, invalid } from './errors.ts';
import { defineSchema, optional } from './schema.ts';

/** Years after 9999 have five digits and would not sort by time. */
const LAST_TIME = 253_402_300_799_999;

export const EpochMilliseconds = /* @__PURE__ */ defineSchema(() => z.int().min(0).max(LAST_TIME));

/** A request has epoch ms or ISO 8601, the parsed value epoch ms. */
export const Instant = /* @__PURE__ */ defineSchema(() =>
  z.union(
    [
      EpochMilliseconds,
      z
        .string()
        .max(40)
        .meta({
          pattern: '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d+)?)?(Z|[+-]\\d{2}:\\d{2}))?$',
          description: 'ISO 8601. A date without a time is the start of the day in UTC.',
        })
        .check(z.refine(isIsoTime, { error: 'must be an ISO 8601 time', abort: true }))
        .transform((text) => Date.parse(text))
        .pipe(EpochMilliseconds),
    ],
    {
      error: ({ input }) =>
        typeof input === 'string' && isIsoTime(`${input}Z`)
          ? 'must have a time zone, such as Z'
          : 'must be an ISO 8601 time or epoch milliseconds',
    },
  ),
);

function isIsoTime(text: string): boolean {
  return z.iso.datetime({ offset: true }).safeParse(text).success || z.iso.date().safeParse(text).success;
}

/** `expiresAt` and `now` have the same unit. */
export function requireFuture(
  path: readonly string[],
  entries: readonly { readonly expiresAt?: number | undefined }[],
  now: number,
): void {
  const index = entries.findIndex(({ expiresAt = Infinity }) => expiresAt <= now);
  if (index < 0) return;
  const field = [...path, index, 'expiresAt'];
  throw invalid({ path: field, code: 'too_small', message: `${fieldName(field)} must be in the future` });
}

export const importedTimes = /* @__PURE__ */ defineSchema(() => ({
  createdAt: optional(Instant).describe(
    'When content from another system was created, in epoch milliseconds or ISO 8601. By default now. Refused with a user token.',
  ),
  lastUpdated: optional(Instant).describe(
    'When content from another system was last changed, in epoch milliseconds or ISO 8601. By default `createdAt`. Refused with a user token.',
  ),
}));
