import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import type { Capability } from '../app/capability.ts';
import * as logMessages from '../observability/logMessages.ts';
import { openSqs } from '../workers/sqsClient.ts';
import type { SweepCall } from '../workers/sweep.ts';

/** How many messages of first attempts wait while their consumers keep up: about as many as run at the same time. */
const NORMAL_BACKLOG = 1_000;

/** Returns whether first attempts wait longer than usual. */
export type IsBacklogged = (call: Pick<SweepCall, 'log'>) => Promise<boolean>;

/**
 * Returns a function that says whether the queue of first attempts is long, from a function that reads about how many messages wait in it. If the
 * queue cannot be read, the answer is no: the growing margins of first attempts limit the copies.
 */
export function readBacklog(waiting: () => Promise<number>): IsBacklogged {
  return async ({ log }) => {
    try {
      return (await waiting()) > NORMAL_BACKLOG;
    } catch (error) {
      log.warn(logMessages.webhookBacklogUnknown, { error });
      return false;
    }
  };
}

export const firstAttemptBacklog: Capability<IsBacklogged> = {
  grants: [{ resource: 'queue/deliver', actions: ['GetQueueAttributes'] }],
  env: ['DELIVER_QUEUE_URL'],
  open: (env) => {
    const url = env.DELIVER_QUEUE_URL;
    return readBacklog(async () => {
      const { Attributes } = await openSqs().send(
        new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['ApproximateNumberOfMessages'] }),
      );
      return Number(Attributes?.ApproximateNumberOfMessages ?? 0);
    });
  },
};
