import * as z from 'zod';
import { IsoTime } from '../../shared/schema.ts';
import { ApiError } from '../../shared/errors.ts';
import { iso } from '../../shared/isoTime.ts';
import { type Delivery, type DeliveryStatus, hasFailed } from './delivery.ts';
import { type AttemptOutcome, attemptOutcomes } from './outcome.ts';

/** How answers call the status of a delivery. One that was cancelled has failed for whoever waits for it, and is recovered with the others. */
export const shownStatuses = ['pending', 'delivered', 'failed'] as const;
export type StatusResponse = (typeof shownStatuses)[number];

export function shownStatus(status: DeliveryStatus): StatusResponse {
  if (hasFailed(status)) return 'failed';
  return status === 'DELIVERED' ? 'delivered' : 'pending';
}

/** A message as answers show it: an event, and what became of it at each endpoint. */
export const MessageResponse = z.object({
  id: z.string(),
  event: z.string(),
  channels: z.array(z.string()).nullable(),
  createdAt: IsoTime,
  deliveries: z.array(
    z.object({
      endpointId: z.string(),
      status: z.enum(shownStatuses),
      attempts: z.number(),
      nextAttemptAt: z.string().nullable(),
    }),
  ),
});

interface MessageEvent {
  readonly eventId: string;
  readonly event: string;
  readonly channels?: readonly string[] | undefined;
  readonly createdAt: number;
}

export function toMessageResponse(
  { eventId, event, channels, createdAt }: MessageEvent,
  deliveries: readonly Delivery[],
): z.output<typeof MessageResponse> {
  return {
    id: eventId,
    event,
    channels: channels ? [...channels] : null,
    createdAt: iso(createdAt),
    deliveries: deliveries.map(({ endpointId, status, attempts, nextAt }) => ({
      endpointId,
      status: shownStatus(status),
      attempts,
      nextAttemptAt: nextAt === undefined ? null : iso(nextAt),
    })),
  };
}

/** An attempt as answers show it. */
export const AttemptResponse = z.object({
  endpointId: z.string(),
  attempt: z.number(),
  at: z.string(),
  outcome: z.enum(attemptOutcomes),
  responseStatus: z.number().nullable(),
  responseBody: z.string().nullable(),
  durationMs: z.number(),
});

/** How much of a response's body is shown. */
const BODY_BYTES = 1024;

interface LoggedAttempt {
  readonly endpointId: string;
  readonly attempt: number;
  readonly at: number;
  readonly outcome: AttemptOutcome;
  readonly responseStatus?: number | undefined;
  readonly responseBody?: Uint8Array | undefined;
  readonly durationMs: number;
}

/** The body is what the receiver sent, as text whatever it is: whoever shows it on a page has to escape it. */
export function toAttemptResponse({
  endpointId,
  attempt,
  at,
  outcome,
  responseStatus,
  responseBody,
  durationMs,
}: LoggedAttempt): z.output<typeof AttemptResponse> {
  return {
    endpointId,
    attempt,
    at: iso(at),
    outcome,
    responseStatus: responseStatus ?? null,
    responseBody: responseBody ? textOf(responseBody) : null,
    durationMs,
  };
}

/** The beginning of a body; a character that the limit would cut in two is left out. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, BODY_BYTES), { stream: bytes.length > BODY_BYTES });
}

/** What a call about a message answers that there is not, or not for this caller, or not any more. */
export function unknownMessage(): ApiError {
  return new ApiError('NOT_FOUND', 'The message does not exist. Messages are kept for 30 days.');
}
