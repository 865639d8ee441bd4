import type { Environment } from '../../lib/app/capability.ts';
import { ApiKeyEntity } from '../../lib/http/entities.ts';
import type { Log } from '../../lib/observability/log.ts';
import { ApiError } from '../../lib/shared/errors.ts';
import { newId } from '../../lib/shared/ids.ts';
import { openTable } from '../../lib/table/table.ts';
import { DeliveryStore } from '../../lib/webhooks/deliveries.ts';
import { deliveryTiming, nextAttemptMessages } from '../../lib/webhooks/deliveryMessage.ts';
import { MessageReader } from '../../lib/webhooks/messages.ts';
import { requireOperable } from '../../lib/webhooks/requireOperable.ts';
import { notifyQueue } from '../../lib/workers/notifyQueue.ts';
import type { QueueSender } from '../../lib/workers/sender.ts';
import { endpointIdOf } from './endpointReport.ts';
import { unknownApiKey } from './operator.ts';

export interface Resend {
  readonly tenant: string;
  readonly messageId: string;
  /** An id or `uid`. If undefined, the message goes to every endpoint to which its delivery has not succeeded. */
  readonly endpoint: string | undefined;
}

/**
 * Plans one more attempt, now. Returns one line for each endpoint. Without a named endpoint, the text of an `ApiError`
 * becomes the line of its endpoint.
 */
export async function resendMessage(
  { tenant, messageId, endpoint }: Resend,
  { env, queue, log }: { readonly env: Environment; readonly queue: QueueSender; readonly log: Log },
  now: number,
): Promise<string> {
  const table = openTable(env);
  const deliveries = new DeliveryStore(table);
  const [key, event] = await Promise.all([
    table.get(ApiKeyEntity, { apiKey: tenant }),
    new MessageReader(table).event(tenant, messageId),
  ]);
  if (!key) throw unknownApiKey(tenant);
  if (!event) throw unknownMessage(tenant, messageId);
  const resendTo = async (endpointId: string) => {
    await requireOperable.open(env)({ tenant, withheld: key.withheld ?? [] }, endpointId);
    const resendId = newId('rsd', now);
    const to = { tenant, eventId: messageId, endpointId, resendId };
    const due = await deliveries.resend(to, now, deliveryTiming.open(env));
    if (!due) throw unknownMessage(tenant, messageId);
    const messages = due.flatMap((delivery) => nextAttemptMessages(delivery, now));
    await notifyQueue(queue, messages, log);
    return `Sending ${messageId} to ${endpointId} again.`;
  };
  if (endpoint !== undefined) return resendTo(await endpointIdOf(table, tenant, endpoint));

  const missed = (await deliveries.listOfEvent(tenant, messageId)).filter(({ status }) => status !== 'DELIVERED');
  if (missed.length === 0)
    throw new Error(
      `No endpoint has failed to receive ${messageId}. To send it to an endpoint all the same, add --endpoint <endpointId>.`,
    );
  const lines: string[] = [];
  for (const { endpointId } of missed) {
    const refusal = (error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      return `Not sent to ${endpointId}: ${error.message}`;
    };
    lines.push(await resendTo(endpointId).catch(refusal));
  }
  return lines.join('\n');
}

export function unknownMessage(tenant: string, messageId: string): Error {
  return new Error(`API key ${tenant} has no message ${messageId}. Messages are kept for 30 days.`);
}
