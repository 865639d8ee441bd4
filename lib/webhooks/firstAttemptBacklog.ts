import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import type { Capability } from '../app/capability.ts';
import * as logMessages from '../observability/logMessages.ts';
import { openSqs } from '../workers/sqsClient.ts';
import type { SweepCall } from '../workers/sweep.ts';

/**
 * Up to this number of waiting messages, the queue of first attempts is not long. About as many messages are processed at the same
 * time.
 */
const NORMAL_BACKLOG = 1_000;

/** Returns whether the queue of first attempts is long. */
export type IsBacklogged = (call: Pick<SweepCall, 'log'>) => Promise<boolean>;

/**
 * Returns a function that compares the number of waiting messages, which `waiting` reads, with the limit. If the read fails, it
 * returns false. Growing pauses between copies of a message then limit their number.
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
