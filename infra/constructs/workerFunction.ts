import { CfnRule } from 'aws-cdk-lib/aws-events';
import { CfnEventInvokeConfig, CfnEventSourceMapping, CfnPermission, type Code } from 'aws-cdk-lib/aws-lambda';
import { Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { QueueName } from '../../lib/app/capability.ts';
import type { FromChanges, Source, Worker } from '../../lib/app/worker.ts';
import { workerCapabilities } from '../../lib/workers/capabilities.ts';
import { queues } from '../../lib/workers/queues.ts';
import { type DeploymentContext, functionAccess } from './environment.ts';
import { LambdaFunction, type Permission } from './lambdaFunction.ts';
import { WORKER_MEMORY_MB } from './memory.ts';
import { pascal } from './names.ts';
import type { Queues } from './queues.ts';

export interface WorkerSources {
  readonly queues: Queues;
  readonly tableArn: string;
  readonly streamArn: string;
  readonly streamDeadLettersArn: string;
  readonly streamBatchesPerShard: number;
}

export interface WorkerFunctionProps extends DeploymentContext {
  readonly code: Code;
  readonly sources: WorkerSources;
  readonly logRetentionDays: number;
  readonly reservedConcurrency: number | undefined;
  /** Whether messages of the worker can lead back to its own queue. */
  readonly allowsRecursion: boolean;
}

const PARTIAL_FAILURES = ['ReportBatchItemFailures'];

const STREAM_BATCH = 100;
/** With Lambda's default, a record that always fails blocks its shard for a day. */
const STREAM_RETRIES = 20;
const STREAM_RECORD_SECONDS = 6 * 60 * 60;

export class WorkerFunction extends LambdaFunction {
  constructor(
    scope: Construct,
    worker: Worker,
    { code, sources, logRetentionDays, reservedConcurrency, allowsRecursion, ...context }: WorkerFunctionProps,
  ) {
    const { environment, statements } = functionAccess(workerCapabilities(worker), context);
    super(scope, pascal(worker.name), {
      description: worker.summary,
      code,
      environment,
      statements: [...statements, ...sourcePermissions(worker.on, sources)],
      logRetentionDays,
      reservedConcurrency,
      memoryMb: WORKER_MEMORY_MB,
      timeoutSeconds: worker.timeoutSeconds,
      allowsRecursion,
    });
    if ('queue' in worker.on) this.#consumeQueue(worker.on.queue, sources, reservedConcurrency);
    else if ('inserts' in worker.on) this.#consumeStream([insertsFilter(worker.on.inserts)], sources);
    else if ('changes' in worker.on) this.#consumeStream(changeFilters(worker.on), sources);
    else this.#runEveryMinute();
  }

  /**
   * The mapping limits the concurrency. If only the function did, SQS would count each throttled call as a receive, and
   * after some receives move the message to the dead-letter queue.
   */
  #consumeQueue(name: QueueName, sources: WorkerSources, reserved = Infinity): void {
    const { batchSize, maxConcurrency } = queues[name];
    new CfnEventSourceMapping(this, 'Messages', {
      eventSourceArn: sources.queues[name].queue.attrArn,
      functionName: this.function.functionName,
      batchSize,
      functionResponseTypes: PARTIAL_FAILURES,
      scalingConfig: { maximumConcurrency: Math.min(maxConcurrency, reserved) },
    });
  }

  /** Reads from the oldest record, because items may be written while the mapping is created. */
  #consumeStream(
    filters: readonly object[],
    { streamArn, streamDeadLettersArn, streamBatchesPerShard }: WorkerSources,
  ): void {
    new CfnEventSourceMapping(this, 'Inserts', {
      eventSourceArn: streamArn,
      functionName: this.function.functionName,
      startingPosition: 'TRIM_HORIZON',
      filterCriteria: {
        filters: filters.map((pattern) => ({ pattern: JSON.stringify(pattern) })),
      },
      batchSize: STREAM_BATCH,
      // Records of one partition key stay in order at any value. A high value could use all concurrency of the account.
      parallelizationFactor: streamBatchesPerShard,
      functionResponseTypes: PARTIAL_FAILURES,
      bisectBatchOnFunctionError: true,
      maximumRetryAttempts: STREAM_RETRIES,
      maximumRecordAgeInSeconds: STREAM_RECORD_SECONDS,
      destinationConfig: { onFailure: { destination: streamDeadLettersArn } },
    });
    Validations.of(this).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::<Table.Arn>/stream/*]',
      reason:
        'A table that is restored under its name has a new stream with an unknown ARN. The pattern covers the streams of this table only',
    });
  }

  /** The next run does the same work, so Lambda does not retry a failed or late one. */
  #runEveryMinute(): void {
    const rule = new CfnRule(this, 'Schedule', {
      scheduleExpression: 'rate(1 minute)',
      targets: [
        {
          id: 'Worker',
          arn: this.function.functionArn,
          retryPolicy: { maximumRetryAttempts: 0, maximumEventAgeInSeconds: 60 },
        },
      ],
    });
    new CfnPermission(this, 'ScheduleMayCall', {
      action: 'lambda:InvokeFunction',
      functionName: this.function.functionArn,
      principal: 'events.amazonaws.com',
      sourceArn: rule.attrArn,
    });
    new CfnEventInvokeConfig(this, 'Once', {
      functionName: this.function.functionName,
      qualifier: '$LATEST',
      maximumRetryAttempts: 0,
      maximumEventAgeInSeconds: 60,
    });
  }
}

function insertsFilter(types: readonly string[]): object {
  return { eventName: ['INSERT'], dynamodb: { NewImage: { _t: { S: types } } } };
}

/** By default, Lambda accepts at most five filters. */
function changeFilters({ changes, newJobs, removals }: FromChanges): object[] {
  return [
    { eventName: ['INSERT', 'MODIFY'], dynamodb: { NewImage: { _t: { S: changes } } } },
    { eventName: ['INSERT'], dynamodb: { NewImage: { _t: { S: ['Job'] }, kind: { S: newJobs } } } },
    ...removals.map(({ PK, SK }) => ({
      eventName: ['REMOVE'],
      dynamodb: { Keys: { ...(PK && { PK: { S: PK } }), ...(SK && { SK: { S: SK } }) } },
    })),
  ];
}

const queueActions = ['ChangeMessageVisibility', 'DeleteMessage', 'GetQueueAttributes', 'ReceiveMessage'] as const;
const streamActions = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'] as const;
export type SourceAction = (typeof queueActions)[number] | (typeof streamActions)[number];

function sourcePermissions(on: Source, { queues: pairs, tableArn, streamDeadLettersArn }: WorkerSources): Permission[] {
  if ('queue' in on) {
    const actions = queueActions.map((action) => `sqs:${action}`);
    return [{ actions, resources: [pairs[on.queue].queue.attrArn] }];
  }
  if ('inserts' in on || 'changes' in on) {
    const actions = streamActions.map((action) => `dynamodb:${action}`);
    // A table that is restored under its name has a new stream, which the pattern covers.
    return [
      { actions, resources: [`${tableArn}/stream/*`] },
      { actions: ['sqs:SendMessage'], resources: [streamDeadLettersArn] },
    ];
  }
  return [];
}
