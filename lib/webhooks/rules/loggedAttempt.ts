import * as z from 'zod';

/** How an attempt can end. All but `delivered` are failures; `refused` means that the address is not allowed. */
export const attemptOutcomes = ['delivered', 'failed', 'timeout', 'refused'] as const;
export type AttemptOutcome = (typeof attemptOutcomes)[number];

/** The log entry of one attempt of a delivery. */
export const LoggedAttempt = z.object({
  /** The lease under which the attempt was made. A first attempt has no lease, but an id of its own. */
  claim: z.string(),
  /** The start of the attempt, epoch ms. */
  at: z.number(),
  outcome: z.enum(attemptOutcomes),
  responseStatus: z.number().optional(),
  /** The first 16 KiB, unchanged. It is untrusted text of the receiver: escape it wherever it is shown. */
  responseBody: z.instanceof<typeof Uint8Array<ArrayBufferLike>>(Uint8Array).optional(),
  /** Our own short reason of a failure. */
  error: z.string().optional(),
  durationMs: z.number(),
  /** Whether the attempt is a resend, outside the schedule. */
  byHand: z.boolean(),
});
export type LoggedAttempt = z.output<typeof LoggedAttempt>;

/** A longer response body is not stored with the delivery: every change of the delivery would write it again. */
const SHORT_BODY_BYTES = 512;

/** Whether the log entry of a first attempt is stored with its delivery. */
export function isStoredWithDelivery({ outcome, responseBody }: LoggedAttempt): boolean {
  return outcome === 'delivered' && (responseBody?.length ?? 0) <= SHORT_BODY_BYTES;
}
