import * as z from 'zod';

/** All except `delivered` are failures. `refused`: nothing was sent, because the URL is not allowed. */
export const attemptOutcomes = ['delivered', 'failed', 'timeout', 'refused'] as const;
export type AttemptOutcome = (typeof attemptOutcomes)[number];

export const LoggedAttempt = z.object({
  /** A first attempt takes no lease, but has an id too. */
  claim: z.string(),
  at: z.number(),
  outcome: z.enum(attemptOutcomes),
  responseStatus: z.number().optional(),
  /** The first 16 KiB. The receiver's text is untrusted, so every page must escape it. */
  responseBody: z.instanceof<typeof Uint8Array<ArrayBufferLike>>(Uint8Array).optional(),
  error: z.string().optional(),
  durationMs: z.number(),
  byHand: z.boolean(),
});
export type LoggedAttempt = z.output<typeof LoggedAttempt>;

export const Attempt = LoggedAttempt.extend({
  endpointId: z.string(),
  attempt: z.number(),
});
export type Attempt = z.output<typeof Attempt>;

/** Every change of the delivery writes this body again. */
const SHORT_BODY_BYTES = 512;

export function isStoredWithDelivery({ outcome, responseBody }: LoggedAttempt): boolean {
  return outcome === 'delivered' && (responseBody?.length ?? 0) <= SHORT_BODY_BYTES;
}
