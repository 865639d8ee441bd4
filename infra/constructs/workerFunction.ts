import { Validations } from 'aws-cdk-lib';
import { CfnRule } from 'aws-cdk-lib/aws-events';
import { CfnEventInvokeConfig, CfnEventSourceMapping, CfnPermission, type Code } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { queues } from '../../lib/workers/queues.ts';
import type { QueueName } from '../../lib/app/capability.ts';
import { workerCapabilities } from '../../lib/workers/capabilities.ts';
import type { FromChanges, Source, Worker } from '../../lib/app/worker.ts';
import { functionAccess, type DeploymentContext } from './environment.ts';
import { LambdaFunction, type Permission } from './lambdaFunction.ts';
import { pascal } from './names.ts';
import type { Queues } from './queues.ts';

/** The event sources of workers. */
export interface WorkerSources {
  readonly queues: Queues;
  readonly tableArn: string;
  readonly streamArn: string;
  readonly streamDeadLettersArn: string;
  /** The setting `streamBatchesPerShard`. */
  readonly streamBatchesPerShard: number;
}

export interface WorkerFunctionProps extends DeploymentContext {
  readonly code: Code;
  readonly sources: WorkerSources;
  readonly logRetentionDays: number;
  /** Whether the worker is in a recursive loop of queues. */
  readonly allowsRecursion: boolean;
}

const PARTIAL_FAILURES = ['ReportBatchItemFailures'];

/** The largest number of records in a batch. */
const STREAM_BATCH = 100;
/** The number of retries of a record. With Lambda's default, a record that always fails blocks its shard for a day. */
const STREAM_RETRIES = 20;
/** The age after which Lambda skips a record. */
const STREAM_RECORD_SECONDS = 6 * 60 * 60;

/** The function of a worker, and its event source. */
export class WorkerFunction extends LambdaFunction {
  constructor(
    scope: Construct,
    worker: Worker,
    { code, sources, logRetentionDays, allowsRecursion, ...context }: WorkerFunctionProps,
  ) {
    const { environment, statements } = functionAccess(workerCapabilities(worker), context);
    super(scope, pascal(worker.name), {
      description: worker.summary,
      code,
      environment,
      statements: [...statements, ...sourcePermissions(worker.on, sources)],
      logRetentionDays,
      memoryMb: worker.memoryMb,
      timeoutSeconds: worker.timeoutSeconds,
      allowsRecursion,
    });
    if ('queue' in worker.on) this.#consumeQueue(worker.on.queue, sources);
    else if ('inserts' in worker.on) this.#consumeStream([insertsFilter(worker.on.inserts)], sources);
    else if ('changes' in worker.on) this.#consumeStream(changeFilters(worker.on), sources);
    else this.#runEveryMinute();
  }

  /**
   * Receives messages of a queue. The mapping limits the concurrency. With a limit on the function, SQS would count each
   * throttled call as a receive and move messages to the dead-letter queue.
   */
  #consumeQueue(name: QueueName, sources: WorkerSources): void {
    const { batchSize, maxConcurrency: maximumConcurrency } = queues[name];
    new CfnEventSourceMapping(this, 'Messages', {
      eventSourceArn: sources.queues[name].queue.attrArn,
      functionName: this.function.functionName,
      batchSize,
      functionResponseTypes: PARTIAL_FAILURES,
      scalingConfig: { maximumConcurrency },
    });
  }

  /**
   * Receives the records that match one of the filters. The mapping starts at the oldest record, so that it does not skip items that were
   * written during its creation.
   */
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
      // Records of one partition key stay in order. Without this limit, the stream could use all concurrency of the
      // account.
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

  /** Runs every minute. A failed or late run is not retried, because the next run does the same work. */
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

/** Returns the filter for new items of some types. */
function insertsFilter(types: readonly string[]): object {
  return { eventName: ['INSERT'], dynamodb: { NewImage: { _t: { S: types } } } };
}

/** Returns the filters for new, modified and removed items. Lambda accepts up to five. */
function changeFilters({ changes, removals }: FromChanges): object[] {
  return [
    { eventName: ['INSERT', 'MODIFY'], dynamodb: { NewImage: { _t: { S: changes } } } },
    ...removals.map(({ PK, SK }) => ({
      eventName: ['REMOVE'],
      dynamodb: { Keys: { ...(PK && { PK: { S: PK } }), ...(SK && { SK: { S: SK } }) } },
    })),
  ];
}

/** Returns the permissions that Lambda needs to read the event source, as AWS documents them. */
function sourcePermissions(on: Source, { queues: pairs, tableArn, streamDeadLettersArn }: WorkerSources): Permission[] {
  if ('queue' in on) {
    const actions = ['ChangeMessageVisibility', 'DeleteMessage', 'GetQueueAttributes', 'ReceiveMessage'].map(
      (action) => `sqs:${action}`,
    );
    return [{ actions, resources: [pairs[on.queue].queue.attrArn] }];
  }
  if ('inserts' in on || 'changes' in on) {
    const actions = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'].map(
      (action) => `dynamodb:${action}`,
    );
    // The pattern covers every stream of the table, because a table that is restored under its name has a new stream.
    return [
      { actions, resources: [`${tableArn}/stream/*`] },
      { actions: ['sqs:SendMessage'], resources: [streamDeadLettersArn] },
    ];
  }
  return [];
}
