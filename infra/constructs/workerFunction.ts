import { Validations } from 'aws-cdk-lib';
import { CfnRule } from 'aws-cdk-lib/aws-events';
import { CfnEventInvokeConfig, CfnEventSourceMapping, CfnPermission, type Code } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { queues } from '../../lib/workers/queues.ts';
import type { QueueName } from '../../lib/app/capability.ts';
import { workerCapabilities } from '../../lib/workers/capabilities.ts';
import type { Source, Worker } from '../../lib/app/worker.ts';
import { accessOf, type Surroundings } from './environment.ts';
import { LambdaFunction, type Permission } from './lambdaFunction.ts';
import { pascal } from './names.ts';
import type { Queues } from './queues.ts';

/** What workers get their work from. */
export interface WorkerSources {
  readonly queues: Queues;
  /** The ARN of the table, of its stream, and of the queue for what was given up of that. */
  readonly tableArn: string;
  readonly streamArn: string;
  readonly streamDeadLettersArn: string;
}

export interface WorkerFunctionProps extends Surroundings {
  readonly code: Code;
  readonly sources: WorkerSources;
  readonly logRetentionDays: number;
}

const PARTIAL_FAILURES = ['ReportBatchItemFailures'];

const STREAM_BATCH = 100;
/** Batches of one shard at a time; the records of one partition key stay in order. */
const STREAM_BATCHES_PER_SHARD = 10;
/** A record that cannot be handled must not stop its shard for a day, which is what AWS does by default. */
const STREAM_RETRIES = 20;
const STREAM_RECORD_SECONDS = 6 * 60 * 60;

/** The function of a worker, and what calls it. */
export class WorkerFunction extends LambdaFunction {
  constructor(
    scope: Construct,
    worker: Worker,
    { code, sources, logRetentionDays, ...surroundings }: WorkerFunctionProps,
  ) {
    const { environment, statements } = accessOf(workerCapabilities(worker), surroundings);
    super(scope, pascal(worker.name), {
      description: worker.summary,
      code,
      environment,
      statements: [...statements, ...reading(worker.on, sources)],
      logRetentionDays,
      memoryMb: worker.memoryMb,
      timeoutSeconds: worker.timeoutSeconds,
    });
    if ('queue' in worker.on) this.#consume(worker.on.queue, sources);
    else if ('inserts' in worker.on) this.#follow(worker.on.inserts, sources);
    else this.#tick();
  }

  /**
   * The messages of a queue. What limits it is the mapping's concurrency and not the function's: receives that a function is too
   * busy for would count, and drive messages into the dead-letter queue.
   */
  #consume(name: QueueName, sources: WorkerSources): void {
    const { batchSize, maxConcurrency: maximumConcurrency } = queues[name];
    new CfnEventSourceMapping(this, 'Messages', {
      eventSourceArn: sources.queues[name].queue.attrArn,
      functionName: this.function.functionName,
      batchSize,
      functionResponseTypes: PARTIAL_FAILURES,
      scalingConfig: { maximumConcurrency },
    });
  }

  /** The new items of some types. From the stream's beginning on: what is written while the mapping comes into being must not be skipped. */
  #follow(types: readonly string[], { streamArn, streamDeadLettersArn }: WorkerSources): void {
    new CfnEventSourceMapping(this, 'Inserts', {
      eventSourceArn: streamArn,
      functionName: this.function.functionName,
      startingPosition: 'TRIM_HORIZON',
      filterCriteria: {
        filters: [{ pattern: JSON.stringify({ eventName: ['INSERT'], dynamodb: { NewImage: { _t: { S: types } } } }) }],
      },
      batchSize: STREAM_BATCH,
      parallelizationFactor: STREAM_BATCHES_PER_SHARD,
      functionResponseTypes: PARTIAL_FAILURES,
      bisectBatchOnFunctionError: true,
      maximumRetryAttempts: STREAM_RETRIES,
      maximumRecordAgeInSeconds: STREAM_RECORD_SECONDS,
      destinationConfig: { onFailure: { destination: streamDeadLettersArn } },
    });
    Validations.of(this).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::<Table.Arn>/stream/*]',
      reason:
        'A table that is restored under its name has a new stream, of which nobody knows the ARN before; these are the streams of the one table',
    });
  }

  /** Every minute. A tick that fails or comes late is not repeated: the next one does the same. */
  #tick(): void {
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

/** What a function needs so that Lambda can read its source for it, in the words of AWS's documentation. */
function reading(on: Source, { queues: pairs, tableArn, streamDeadLettersArn }: WorkerSources): Permission[] {
  if ('queue' in on) {
    const actions = ['ChangeMessageVisibility', 'DeleteMessage', 'GetQueueAttributes', 'ReceiveMessage'].map(
      (action) => `sqs:${action}`,
    );
    return [{ actions, resources: [pairs[on.queue].queue.attrArn] }];
  }
  if ('inserts' in on) {
    const actions = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'].map(
      (action) => `dynamodb:${action}`,
    );
    // Every stream that the table has had, as a table that is restored under its name has a new one.
    return [
      { actions, resources: [`${tableArn}/stream/*`] },
      { actions: ['sqs:SendMessage'], resources: [streamDeadLettersArn] },
    ];
  }
  return [];
}
