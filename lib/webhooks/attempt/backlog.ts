import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import type { Capability } from '../../app/capability.ts';
import { openSqs } from '../../workers/sqsClient.ts';

/** How many messages wait in a queue, about. */
export type Backlog = () => Promise<number>;

/** How many first attempts wait. */
export const liveBacklog: Capability<Backlog> = {
  grants: [{ resource: 'queue/deliver', actions: ['GetQueueAttributes'] }],
  env: ['DELIVER_QUEUE_URL'],
  open: (env) => {
    const url = env.DELIVER_QUEUE_URL;
    return async () => {
      const { Attributes } = await openSqs().send(
        new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['ApproximateNumberOfMessages'] }),
      );
      return Number(Attributes?.ApproximateNumberOfMessages ?? 0);
    };
  },
};
