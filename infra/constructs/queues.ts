import { CfnQueue, CfnQueuePolicy } from 'aws-cdk-lib/aws-sqs';
import { Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { QueueName } from '../../lib/app/capability.ts';
import type { Worker } from '../../lib/app/worker.ts';
import { MAX_RECEIVE_COUNT, queues as declarations } from '../../lib/workers/queues.ts';
import { pascal } from './names.ts';

export interface QueuePair {
  readonly queue: CfnQueue;
  readonly deadLetters: CfnQueue;
}

export type Queues = Readonly<Record<QueueName, QueuePair>>;

export const queueNames = Object.keys(declarations) as QueueName[];

const RETENTION_SECONDS = 14 * 24 * 60 * 60;
/** AWS recommends at least 6, so that Lambda can retry throttled messages before SQS delivers them again. */
const VISIBILITY_PER_TIMEOUT = 6;
/** Assumed for a queue without a consumer. */
const TIMEOUT_SECONDS = 30;

/** L1 constructs, because their logical ids have no hash: CloudFormation would replace a queue whose id changes. */
export function createQueues(scope: Construct, workers: readonly Worker[]): Queues {
  const pairs = queueNames.map((name) => {
    const consumers = workers.filter(({ on }) => 'queue' in on && on.queue === name);
    if (consumers.length > 1)
      throw new Error(
        `${consumers.map((worker) => worker.name).join(' and ')} would receive each other's messages from the queue ${name}`,
      );
    const deadLetters = createQueue(scope, `${pascal(name)}DeadLetters`);
    const queue = createQueue(scope, `${pascal(name)}Queue`, {
      visibilityTimeout: VISIBILITY_PER_TIMEOUT * (consumers[0]?.timeoutSeconds ?? TIMEOUT_SECONDS),
      redrivePolicy: { deadLetterTargetArn: deadLetters.attrArn, maxReceiveCount: MAX_RECEIVE_COUNT },
    });
    return [name, { queue, deadLetters }] as const;
  });
  return Object.fromEntries(pairs) as Record<QueueName, QueuePair>;
}

/** Lambda reports skipped records of the table's stream to this queue. */
export function createStreamDeadLetters(scope: Construct): CfnQueue {
  const queue = createQueue(scope, 'StreamDeadLetters');
  Validations.of(queue).acknowledge({
    id: 'AwsSolutions-SQS3',
    reason: 'It is the dead-letter queue of a stream. Nothing consumes it.',
  });
  return queue;
}

function createQueue(
  scope: Construct,
  id: string,
  props: { visibilityTimeout?: number; redrivePolicy?: object } = {},
): CfnQueue {
  const queue = new CfnQueue(scope, id, {
    messageRetentionPeriod: RETENTION_SECONDS,
    sqsManagedSseEnabled: true,
    ...props,
  });
  new CfnQueuePolicy(scope, `${id}Policy`, {
    queues: [queue.ref],
    policyDocument: {
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Deny',
          Principal: '*',
          Action: 'sqs:*',
          Resource: queue.attrArn,
          Condition: { Bool: { 'aws:SecureTransport': 'false' } },
        },
      ],
    },
  });
  return queue;
}
