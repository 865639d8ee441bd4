import type { Log } from '../app/endpoint.ts';
import type { QueueMessage, QueueSender } from './sender.ts';
import * as logMessages from '../observability/logMessages.ts';

/**
 * Sends messages about items that are stored already. Never throws: when the queue fails, the sweeper finds the items a
 * little later, so the caller need not retry.
 */
export async function notifyQueue(queue: QueueSender, messages: readonly QueueMessage[], log: Log): Promise<void> {
  if (messages.length === 0) return;
  try {
    await queue.send(messages);
  } catch (error) {
    log.error(logMessages.queueMessagesNotSent, { messages: messages.length, error });
  }
}
