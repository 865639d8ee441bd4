import { type FauxqsServer, startFauxqs } from 'fauxqs';
import type { QueueName } from '../../lib/app/capability.ts';
import { queues, queueVariable } from '../../lib/workers/queues.ts';

/** A message of a queue. */
interface SentMessage {
  // The type is `any`, so that tests can read any field.
  readonly body: any;
  /** The delay in seconds. 0 means none. */
  readonly delaySeconds: number;
}

export interface Queues {
  readonly server: FauxqsServer;
  /** The messages of a queue, oldest first. */
  messagesOf(name: QueueName): SentMessage[];
  /** Removes all messages from all queues. */
  clear(): void;
  stop(): Promise<void>;
}

/** Starts queues in memory and points the SDK of this process to them. Call it after `startEngine`. */
export async function startQueues(): Promise<Queues> {
  const server = await startFauxqs({ port: 0, logger: false });
  for (const name of Object.keys(queues) as QueueName[]) {
    process.env[queueVariable[name]] = server.createQueue(name).queueUrl;
  }
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_ENDPOINT_URL_SQS: server.address,
  });
  return {
    server,
    messagesOf(name) {
      const { ready = [], delayed = [] } = server.inspectQueue(name)?.messages ?? {};
      return [...ready, ...delayed]
        .sort((a, b) => a.sentTimestamp - b.sentTimestamp)
        .map(({ body, sentTimestamp, delayUntil = sentTimestamp }) => ({
          body: JSON.parse(body),
          delaySeconds: Math.round((delayUntil - sentTimestamp) / 1000),
        }));
    },
    clear: () => server.reset(),
    stop: () => server.stop(),
  };
}
