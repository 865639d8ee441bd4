import type { Log } from '../observability/log.ts';
import * as logMessages from '../observability/logMessages.ts';
import type { QueueMessage, QueueSender } from './sender.ts';

/**
 * Sends messages about items that are stored already. Never throws, because the sweep finds the items when they are
 * due.
 */
export async function notifyQueue(queue: QueueSender, messages: readonly QueueMessage[], log: Log): Promise<void> {
  if (messages.length === 0) return;
  try {
    await queue.send(messages);
  } catch (error) {
    log.error(logMessages.queueMessagesNotSent, { messages: messages.length, error });
  }
}
