import * as z from 'zod';

/**
 * The outcomes of an attempt. All except `delivered` are failures. `refused` means that nothing was sent, because the URL is not
 * allowed.
 */
export const attemptOutcomes = ['delivered', 'failed', 'timeout', 'refused'] as const;
export type AttemptOutcome = (typeof attemptOutcomes)[number];

/** The log entry of one attempt of a delivery. */
export const LoggedAttempt = z.object({
  /** The id of the lease of the attempt. A first attempt takes no lease, but has an id too. */
  claim: z.string(),
  /** The start of the attempt, epoch ms. */
  at: z.number(),
  outcome: z.enum(attemptOutcomes),
  responseStatus: z.number().optional(),
  /** The first 16 KiB of the response body, unchanged. The receiver's text is untrusted, so every page must escape it. */
  responseBody: z.instanceof<typeof Uint8Array<ArrayBufferLike>>(Uint8Array).optional(),
  /** The reason of a failure, as a short text of the service. */
  error: z.string().optional(),
  durationMs: z.number(),
  /** Whether the attempt is a resend. */
  byHand: z.boolean(),
});
export type LoggedAttempt = z.output<typeof LoggedAttempt>;

/** The log entry of one attempt with its endpoint. */
export const Attempt = LoggedAttempt.extend({
  endpointId: z.string(),
  /** The number of the attempt, from 1. */
  attempt: z.number(),
});
export type Attempt = z.output<typeof Attempt>;

/** The most bytes of a response body that is stored with its delivery. Every change of the delivery writes this body again. */
const SHORT_BODY_BYTES = 512;

/** Returns whether the log entry of a first attempt is stored with its delivery. Otherwise it is an item of its own. */
export function isStoredWithDelivery({ outcome, responseBody }: LoggedAttempt): boolean {
  return outcome === 'delivered' && (responseBody?.length ?? 0) <= SHORT_BODY_BYTES;
}
