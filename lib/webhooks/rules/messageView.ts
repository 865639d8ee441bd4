import * as z from 'zod';
import { eventTypes } from '../../events/rules/catalogue.ts';
import { EventTypeName } from '../../events/rules/triggers.ts';
import { ApiError } from '../../shared/errors.ts';
import { isoTime } from '../../shared/isoTime.ts';
import { defineNamedSchema, defineSchema, Id, IsoTime, list, optional, PageToken } from '../../shared/schema.ts';
import { Instant } from '../../shared/times.ts';
import { type Delivery, type DeliveryStatus, hasFailed } from './delivery.ts';
import { type Attempt, attemptOutcomes } from './loggedAttempt.ts';

export const messageStatuses = ['pending', 'delivered', 'failed'] as const;
export type MessageStatus = (typeof messageStatuses)[number];

export function toMessageStatus(status: DeliveryStatus): MessageStatus {
  if (hasFailed(status)) return 'failed';
  return status === 'DELIVERED' ? 'delivered' : 'pending';
}

const MAX_MESSAGES = 250;
export const USUAL_MESSAGES = 50;

export const MessageQuery = /* @__PURE__ */ defineSchema(() =>
  z
    .object({
      limit: optional(z.int().min(1).max(MAX_MESSAGES)).describe(
        `The largest number of messages in the answer. By default ${USUAL_MESSAGES}.`,
      ),
      iterator: optional(PageToken).describe(
        'Continues a listing: the `iterator` of the page before. Leave it out for the first page.',
      ),
      endpointId: optional(Id).describe('Selects the deliveries to this endpoint. Messages without one are left out.'),
      status: optional(z.enum(messageStatuses)).describe(
        'Selects the deliveries in this state. Messages without one are left out.',
      ),
      events: optional(list(EventTypeName, eventTypes.length)).describe('Selects messages of these types of events.'),
      since: optional(Instant).describe(
        'Selects messages of events from this time on, in ISO 8601 or epoch milliseconds. By default all of the last 30 days.',
      ),
      until: optional(Instant).describe(
        'Selects messages of events before this time, in ISO 8601 or epoch milliseconds.',
      ),
    })
    .check(
      z.refine(({ since = 0, until = Infinity }) => since <= until, {
        path: ['since'],
        error: 'must not be after until',
      }),
    ),
);

export const MessageResponse = /* @__PURE__ */ defineNamedSchema('WebhookMessage', () =>
  z
    .object({
      id: z.string().describe('The `messageId` of other calls, and the `webhook-id` of deliveries.'),
      event: z.string().describe('The type of the event.'),
      channels: z.array(z.string()).nullable().describe('The channels of a published event. Null if it has none.'),
      createdAt: IsoTime.describe('When the event happened, in ISO 8601.'),
      deliveries: z
        .array(
          z.object({
            endpointId: z
              .string()
              .describe('The receiver. `ep_basic_raw` and `ep_basic_processed` are the URLs of basic webhooks.'),
            status: z
              .enum(messageStatuses)
              .describe(
                '`failed` includes deliveries that were cancelled, because the endpoint or the thread was deleted, or the endpoint disabled.',
              ),
            attempts: z.number().describe('How many attempts have ended so far.'),
            nextAttemptAt: z
              .string()
              .nullable()
              .describe(
                'When the next attempt is due, in ISO 8601. Null if there is none, and while the endpoint is paused.',
              ),
          }),
        )
        .describe('The deliveries to the endpoints that the call selects.'),
    })
    .describe('An event and its deliveries to webhooks.'),
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
  z
    .object({
      endpointId: z
        .string()
        .describe('The receiver. `ep_basic_raw` and `ep_basic_processed` are the URLs of basic webhooks.'),
      attempt: z
        .number()
        .describe('The number of the attempt, from 1. A resend during the first attempt has the same number.'),
      at: z.string().describe('When the attempt began, in ISO 8601.'),
      outcome: z
        .enum(attemptOutcomes)
        .describe(
          '`refused` means that this service refused the address and sent nothing. A receiver that refuses the connection is `failed`.',
        ),
      responseStatus: z.number().nullable().describe('The HTTP status of the receiver. Null without an answer.'),
      responseBody: z
        .string()
        .nullable()
        .describe('The first 1 KB of the answer of the receiver. Escape it before you show it. Null if it is empty.'),
      durationMs: z.number().describe('How long the attempt took, in milliseconds.'),
    })
    .describe('One attempt to deliver a message.'),
);

const BODY_BYTES = 1024;

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

function bodyText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, BODY_BYTES), { stream: bytes.length > BODY_BYTES });
}

export function messageNotFound(): ApiError {
  return new ApiError('NOT_FOUND', 'The message does not exist. Messages are kept for 30 days.');
}
