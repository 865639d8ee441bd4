import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import type { Capability } from '../app/capability.ts';
import * as logMessages from '../observability/logMessages.ts';
import { openSqs } from '../workers/sqsClient.ts';
import type { SweepCall } from '../workers/sweep.ts';

/** About this many messages are processed at the same time. */
const NORMAL_BACKLOG = 1_000;

export type IsBacklogged = (call: Pick<SweepCall, 'log'>) => Promise<boolean>;

/**
 * False if the read fails: copies of waiting messages may then be sent, but the growing pauses between them limit their
 * number.
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
