import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import type { Capability } from '../app/capability.ts';
import * as logMessages from '../observability/logMessages.ts';
import { openSqs } from '../workers/sqsClient.ts';
import type { SweepCall } from '../workers/sweep.ts';

/** The most waiting messages of first attempts while their workers are fast enough. About as many messages run at the same time. */
const NORMAL_BACKLOG = 1_000;

/** Returns whether the queue of first attempts is long. */
export type IsBacklogged = (call: Pick<SweepCall, 'log'>) => Promise<boolean>;

/**
 * Returns a function that checks the number of waiting messages, which `waiting` reads. If the queue cannot be read, the function
 * returns false. Growing margins then limit the copies of messages.
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
