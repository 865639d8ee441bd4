import * as z from 'zod';
import { ApiError } from '../../shared/errors.ts';
import { isoTime } from '../../shared/isoTime.ts';
import { defineNamedSchema, IsoTime } from '../../shared/schema.ts';
import { type Delivery, type DeliveryStatus, hasFailed } from './delivery.ts';
import { type Attempt, attemptOutcomes } from './loggedAttempt.ts';

/** The status of a delivery in responses. A cancelled delivery has the status `failed`. */
export const messageStatuses = ['pending', 'delivered', 'failed'] as const;
export type MessageStatus = (typeof messageStatuses)[number];

export function toMessageStatus(status: DeliveryStatus): MessageStatus {
  if (hasFailed(status)) return 'failed';
  return status === 'DELIVERED' ? 'delivered' : 'pending';
}

/** A message in responses: an event and its deliveries. */
export const MessageResponse = /* @__PURE__ */ defineNamedSchema('WebhookMessage', () =>
  z.object({
    id: z.string(),
    event: z.string(),
    channels: z.array(z.string()).nullable(),
    createdAt: IsoTime,
    deliveries: z.array(
      z.object({
        endpointId: z.string(),
        status: z.enum(messageStatuses),
        attempts: z.number(),
        nextAttemptAt: z.string().nullable(),
      }),
    ),
  }),
);

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
    createdAt: isoTime(createdAt),
    deliveries: deliveries.map(({ endpointId, status, attempts, nextAt }) => ({
      endpointId,
      status: toMessageStatus(status),
      attempts,
      nextAttemptAt: nextAt === undefined ? null : isoTime(nextAt),
    })),
  };
}

export const AttemptResponse = /* @__PURE__ */ defineNamedSchema('WebhookAttempt', () =>
  z.object({
    endpointId: z.string(),
    attempt: z.number(),
    at: z.string(),
    outcome: z.enum(attemptOutcomes),
    responseStatus: z.number().nullable(),
    responseBody: z.string().nullable(),
    durationMs: z.number(),
  }),
);

/** The most bytes of a receiver's response body that an API response contains. */
const BODY_BYTES = 1024;

/** Returns an attempt for a response. The response body is the receiver's text and untrusted, so every page must escape it. */
export function toAttemptResponse({
  endpointId,
  attempt,
  at,
  outcome,
  responseStatus,
  responseBody,
  durationMs,
}: Attempt): z.output<typeof AttemptResponse> {
  return {
    endpointId,
    attempt,
    at: isoTime(at),
    outcome,
    responseStatus: responseStatus ?? null,
    responseBody: responseBody ? bodyText(responseBody) : null,
    durationMs,
  };
}

/** Returns the first kilobyte of a body as text. A character that the limit cuts in two is left out. */
function bodyText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, BODY_BYTES), { stream: bytes.length > BODY_BYTES });
}

export function messageNotFound(): ApiError {
  return new ApiError('NOT_FOUND', 'The message does not exist. Messages are kept for 30 days.');
}
