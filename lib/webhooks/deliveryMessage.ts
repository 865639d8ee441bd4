import * as z from 'zod';
import type { DueDelivery } from './deliveries.ts';
import { nextAttemptOf } from './rules/delivery.ts';
import { plan } from './rules/schedule.ts';
import type { QueueMessage } from '../workers/sender.ts';

/** What a message about a delivery says: which one, and which attempt. A hint; what is to be done, the stored delivery says. */
export const DeliveryMessage = z.object({
  tenant: z.string(),
  eventId: z.string(),
  endpointId: z.string(),
  /** The attempt that it is about: that of a message which comes too late is over. */
  attemptNo: z.number(),
  /** The place in the endpoint's rate limit that is reserved for it, epoch ms. */
  slot: z.number().optional(),
});
export type DeliveryMessage = z.output<typeof DeliveryMessage>;

/** The message about a delivery's next attempt, delayed until `at`; none when that is further away than SQS can delay. */
export function messageAbout(
  delivery: DueDelivery,
  now: number,
  { at = delivery.nextAt, slot = delivery.slot }: { at?: number; slot?: number | undefined } = {},
): QueueMessage[] {
  const { tenant, eventId, endpointId } = delivery;
  const { delaySeconds } = plan(at, now, 0);
  if (delaySeconds === undefined) return [];
  const body: DeliveryMessage = { tenant, eventId, endpointId, attemptNo: nextAttemptOf(delivery), slot };
  return [{ body, groupId: `${tenant}.${endpointId}`, delaySeconds }];
}
