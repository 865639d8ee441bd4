import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { queues, queueVariable } from '../../lib/workers/queues.ts';
import type { QueueName } from '../../lib/app/capability.ts';

/** A message as a consumer would get it, or could once its delay is over. These queues do not keep its group. */
export interface SentMessage {
  // The tests look into messages freely; what they find is checked by their expectations.
  readonly body: any;
  /** How long it is hidden from its sending on; 0 when it is not. */
  readonly delaySeconds: number;
}

export interface Queues {
  readonly server: FauxqsServer;
  /** What waits in a queue, oldest first. */
  waiting(name: QueueName): SentMessage[];
  /** Empties all queues. */
  clear(): void;
  stop(): Promise<void>;
}

/** Starts the queues in memory and points the SDK of this process at them; after `startEngine`, which points it at nothing. */
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
    waiting(name) {
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
