import type { Log } from '../app/endpoint.ts';
import type { QueueMessage, QueueSender } from '../workers/sender.ts';
import * as logMessages from '../observability/logMessages.ts';

/** Sends messages about what is stored already. When that is not possible the sweeper finds it a little later, so nobody needs to repeat anything. */
export async function notifyQueue(queue: QueueSender, messages: readonly QueueMessage[], log: Log): Promise<void> {
  try {
    await queue.send(messages);
  } catch (error) {
    log.error(logMessages.queueMessagesNotSent, { messages: messages.length, error });
  }
}
