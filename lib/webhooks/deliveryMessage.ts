import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { MAX_DELAY_SECONDS } from '../shared/sqsLimits.ts';
import { parseSchedule, planAttempt, type Timing } from '../workers/rules/schedule.ts';
import type { QueueMessage } from '../workers/sender.ts';
import type { FirstAttemptGroup } from './firstAttempts.ts';
import { nextAttemptNumber, type PendingDelivery } from './rules/delivery.ts';

/** The event stays in the outbox until these attempts have ended, without a stored group. */
export const ALL_FIRST_ATTEMPTS = 'all';

export const TEST_ATTEMPT = 'test';

export const DeliveryMessage = z.object({
  tenant: z.string(),
  eventId: z.string(),
  endpointId: z.string(),
  more: z.array(z.string()).optional(),
  group: z.string().optional(),
  /** The message is stale if a later attempt is next. */
  attemptNo: z.number(),
  slot: z.number().optional(),
  slotRevision: z.number().optional(),
});
export type DeliveryMessage = z.output<typeof DeliveryMessage>;

export type DueDelivery = PendingDelivery & { readonly tenant: string };

/** Empty if SQS cannot delay the message that long. The sweep then sends it. */
export function nextAttemptMessages(delivery: DueDelivery, now: number): QueueMessage[] {
  const { tenant, eventId, endpointId, nextAt, slot, slotRevision } = delivery;
  const { delaySeconds } = planAttempt(nextAt, now, 0);
  if (delaySeconds === undefined) return [];
  const attemptNo = nextAttemptNumber(delivery);
  const group = delivery.isTest && delivery.attempts === 0 ? TEST_ATTEMPT : undefined;
  const body: DeliveryMessage = { tenant, eventId, endpointId, group, attemptNo, slot, slotRevision };
  return [{ body, groupId: `${tenant}.${endpointId}`, delaySeconds }];
}

export function firstAttemptMessage(
  { tenant, eventId, group, endpointIds }: Pick<FirstAttemptGroup, 'tenant' | 'eventId' | 'group' | 'endpointIds'>,
  delayMs: number,
): QueueMessage {
  const [endpointId = '', ...more] = endpointIds;
  const body: DeliveryMessage = { tenant, eventId, endpointId, ...(more.length > 0 && { more }), group, attemptNo: 1 };
  const delaySeconds = Math.min(MAX_DELAY_SECONDS, Math.ceil(delayMs / 1000));
  return { body, groupId: `${tenant}.${endpointId}`, delaySeconds };
}

export const deliveryTiming: Capability<Timing> = {
  grants: [],
  env: ['WEBHOOK_RETRY_SCHEDULE', 'DUE_MARGIN_SECONDS'],
  open: (env) => ({
    schedule: parseSchedule(env.WEBHOOK_RETRY_SCHEDULE),
    marginMs: Number(env.DUE_MARGIN_SECONDS) * 1000,
  }),
};
