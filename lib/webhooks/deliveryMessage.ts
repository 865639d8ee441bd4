import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import type { QueueMessage } from '../workers/sender.ts';
import { nextAttemptNumber, type PendingDelivery } from './rules/delivery.ts';
import { parseSchedule, planAttempt, type Timing } from './rules/schedule.ts';

/** A queue message about the next attempt of a delivery. It holds ids only; the stored delivery says what to do. */
export const DeliveryMessage = z.object({
  tenant: z.string(),
  eventId: z.string(),
  endpointId: z.string(),
  /** The number of the attempt. A message about an earlier attempt is stale. */
  attemptNo: z.number(),
  /** The slot that is reserved in the rate limit of the endpoint, epoch ms. */
  slot: z.number().optional(),
});
export type DeliveryMessage = z.output<typeof DeliveryMessage>;

/** A pending delivery with its tenant: what a message needs. */
export type DueDelivery = PendingDelivery & { readonly tenant: string };

/** Returns the message about the next attempt, delayed until `at`. Returns none if that is later than SQS can delay: the sweeper sends it. */
export function nextAttemptMessages(
  delivery: DueDelivery,
  now: number,
  { at = delivery.nextAt, slot = delivery.slot }: { at?: number; slot?: number | undefined } = {},
): QueueMessage[] {
  const { tenant, eventId, endpointId } = delivery;
  const { delaySeconds } = planAttempt(at, now, 0);
  if (delaySeconds === undefined) return [];
  const body: DeliveryMessage = { tenant, eventId, endpointId, attemptNo: nextAttemptNumber(delivery), slot };
  return [{ body, groupId: `${tenant}.${endpointId}`, delaySeconds }];
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
