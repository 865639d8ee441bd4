import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { MAX_DELAY_SECONDS } from '../shared/sqsLimits.ts';
import { parseSchedule, planAttempt, type Timing } from '../workers/rules/schedule.ts';
import type { QueueMessage } from '../workers/sender.ts';
import type { FirstAttemptGroup } from './firstAttempts.ts';
import { nextAttemptNumber, type PendingDelivery } from './rules/delivery.ts';

/**
 * The `group` of a message with all first attempts of an event. No group is stored then, and the event stays in the outbox until
 * these attempts have ended.
 */
export const ALL_FIRST_ATTEMPTS = 'all';

/** The `group` of a message with the attempt of a test event, which `endpoints/test` stores. */
export const TEST_ATTEMPT = 'test';

/**
 * A queue message about the next attempt of a delivery, or about the first attempts of an event at several endpoints. It contains
 * only ids and numbers, because the state is in the table.
 */
export const DeliveryMessage = z.object({
  tenant: z.string(),
  eventId: z.string(),
  endpointId: z.string(),
  /** The ids of more endpoints, in a message about first attempts. */
  more: z.array(z.string()).optional(),
  /**
   * The stored group of these first attempts, or `ALL_FIRST_ATTEMPTS`. Of messages about a stored delivery, only the message of a
   * deferred test has a group.
   */
  group: z.string().optional(),
  /** The number of the attempt. The message is stale if a later attempt is next. */
  attemptNo: z.number(),
  /** The slot that the attempt has reserved in the endpoint's rate limit, epoch ms. */
  slot: z.number().optional(),
  /** The revision of the endpoint for which the slot was reserved. */
  slotRevision: z.number().optional(),
});
export type DeliveryMessage = z.output<typeof DeliveryMessage>;

/** A pending delivery with its tenant. */
export type DueDelivery = PendingDelivery & { readonly tenant: string };

/**
 * Returns the message about the next attempt, delayed until the attempt. Returns no message if SQS cannot delay it that long. The
 * sweep, which runs every minute, then sends it later.
 */
export function nextAttemptMessages(delivery: DueDelivery, now: number): QueueMessage[] {
  const { tenant, eventId, endpointId, nextAt, slot, slotRevision } = delivery;
  const { delaySeconds } = planAttempt(nextAt, now, 0);
  if (delaySeconds === undefined) return [];
  const attemptNo = nextAttemptNumber(delivery);
  const group = delivery.isTest && delivery.attempts === 0 ? TEST_ATTEMPT : undefined;
  const body: DeliveryMessage = { tenant, eventId, endpointId, group, attemptNo, slot, slotRevision };
  return [{ body, groupId: `${tenant}.${endpointId}`, delaySeconds }];
}

/** Returns the message that starts the first attempts of an event. `group` is the stored group, or `ALL_FIRST_ATTEMPTS`. */
export function firstAttemptMessage(
  { tenant, eventId, group, endpointIds }: Pick<FirstAttemptGroup, 'tenant' | 'eventId' | 'group' | 'endpointIds'>,
  delayMs: number,
): QueueMessage {
  const [endpointId = '', ...more] = endpointIds;
  const body: DeliveryMessage = { tenant, eventId, endpointId, ...(more.length > 0 && { more }), group, attemptNo: 1 };
  const delaySeconds = Math.min(MAX_DELAY_SECONDS, Math.ceil(delayMs / 1000));
  return { body, groupId: `${tenant}.${endpointId}`, delaySeconds };
}

/** The retry schedule of webhooks, and the margin after which a message counts as lost. */
export const deliveryTiming: Capability<Timing> = {
  grants: [],
  env: ['WEBHOOK_RETRY_SCHEDULE', 'DUE_MARGIN_SECONDS'],
  open: (env) => ({
    schedule: parseSchedule(env.WEBHOOK_RETRY_SCHEDULE),
    marginMs: Number(env.DUE_MARGIN_SECONDS) * 1000,
  }),
};
