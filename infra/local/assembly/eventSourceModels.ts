import { isAllowed } from '../iam/iam.ts';
import { StartError } from '../startError.ts';
import { type EventFilter, eventFilter } from './eventFilter.ts';
import type { FunctionModel } from './functionModel.ts';
import type { Resource } from './template.ts';

export interface QueueModel {
  readonly name: string;
  readonly arn: string;
  readonly visibilitySeconds: number;
  readonly retentionSeconds: number;
  readonly delaySeconds: number;
  readonly deadLetters: { readonly queue: string; readonly maxReceiveCount: number } | undefined;
}

interface BatchSourceModel {
  readonly path: string;
  readonly function: FunctionModel;
  readonly batchSize: number;
  readonly reportsFailures: boolean;
}

export interface QueueSourceModel extends BatchSourceModel {
  readonly queue: QueueModel;
  readonly maxConcurrency: number;
}

export interface StreamSourceModel extends BatchSourceModel {
  readonly table: string;
  readonly partitionKey: string;
  readonly arn: string;
  /** Batches that run in parallel. Records of one partition key are never in two of them. */
  readonly lanes: number;
  readonly filter: EventFilter;
  readonly maxRetries: number;
  /** Whether a batch is split into two if the function throws. */
  readonly bisects: boolean;
  /** This queue gets a description of skipped records. */
  readonly onFailure: QueueModel | undefined;
}

export interface ScheduleModel {
  readonly arn: string;
  readonly function: FunctionModel;
  readonly everySeconds: number;
}

const MAX_PARALLEL_BATCHES = 16;
const SQS_DEFAULT = { visibilitySeconds: 30, retentionSeconds: 345_600, delaySeconds: 0 };
const LAMBDA_DEFAULT_BATCH = { queue: 10, stream: 100 };
const EVENTS = 'events.amazonaws.com';
const SECONDS: Record<string, number> = { minute: 60, hour: 3_600, day: 86_400 };

/** Tags and the maximum age of records have no effect: the local run never skips records for their age. */
const supportedProperties = new Set([
  'BatchSize',
  'BisectBatchOnFunctionError',
  'DestinationConfig',
  'Enabled',
  'EventSourceArn',
  'FilterCriteria',
  'FunctionName',
  'FunctionResponseTypes',
  'MaximumRecordAgeInSeconds',
  'MaximumRetryAttempts',
  'ParallelizationFactor',
  'ScalingConfig',
  'StartingPosition',
  'Tags',
]);

export function queuesOf(queues: readonly Resource[]): QueueModel[] {
  const nameOf = (arn: string) => arn.slice(arn.lastIndexOf(':') + 1);
  const names = new Map(queues.map(({ arn }) => [arn, nameOf(arn)]));
  return queues.map(({ path, arn, properties }) => {
    if (properties.FifoQueue)
      throw new StartError(`The queue ${path} is a FIFO queue, which the local run does not support.`);
    const redrive = properties.RedrivePolicy as { deadLetterTargetArn: string; maxReceiveCount: unknown } | undefined;
    const deadLetters = redrive && names.get(redrive.deadLetterTargetArn);
    if (redrive && !deadLetters)
      throw new StartError(`The queue ${path} has a dead-letter queue that the template does not define.`);
    return {
      name: nameOf(arn),
      arn,
      visibilitySeconds: Number(properties.VisibilityTimeout ?? SQS_DEFAULT.visibilitySeconds),
      retentionSeconds: Number(properties.MessageRetentionPeriod ?? SQS_DEFAULT.retentionSeconds),
      delaySeconds: Number(properties.DelaySeconds ?? SQS_DEFAULT.delaySeconds),
      deadLetters:
        redrive && deadLetters ? { queue: deadLetters, maxReceiveCount: Number(redrive.maxReceiveCount) } : undefined,
    };
  });
}

interface ConnectedResources {
  readonly functions: readonly FunctionModel[];
  readonly queues: readonly QueueModel[];
  readonly tables: readonly {
    readonly streamArn: string;
    readonly name: string;
    readonly properties: Record<string, unknown>;
  }[];
}

/**
 * Returns the enabled event sources. Throws a `StartError` for one that AWS refuses or that the local run does not
 * support.
 */
export function batchSourcesOf(
  mappings: readonly Resource[],
  connected: ConnectedResources,
): { queueSources: QueueSourceModel[]; streamSources: StreamSourceModel[] } {
  const queueSources: QueueSourceModel[] = [];
  const streamSources: StreamSourceModel[] = [];
  for (const mapping of mappings.filter(({ properties }) => properties.Enabled !== false)) {
    const { path, properties } = mapping;
    const unsupported = Object.keys(properties).find((name) => !supportedProperties.has(name));
    if (unsupported)
      throw new StartError(`The event source ${path} has ${unsupported}, which the local run does not support.`);
    const target = functionNamed(properties.FunctionName, connected.functions);
    if (!target) throw new StartError(`The event source ${path} has no function in the template.`);
    const source = String(properties.EventSourceArn);
    const queue = connected.queues.find(({ arn }) => arn === source);
    const table = connected.tables.find(({ streamArn }) => streamArn === source);
    if (queue) queueSources.push(queueSource(mapping, target, queue));
    else if (table) streamSources.push(streamSource(mapping, target, table, connected.queues));
    else
      throw new StartError(
        `The event source ${path} reads ${source}, which is no queue and no table's stream of the template.`,
      );
  }
  return { queueSources, streamSources };
}

function queueSource({ path, properties }: Resource, target: FunctionModel, queue: QueueModel): QueueSourceModel {
  if (properties.FilterCriteria)
    throw new StartError(`The event source ${path} filters messages, which the local run does for streams only.`);
  if (queue.visibilitySeconds < target.timeoutSeconds) {
    const times = `hides a message for ${queue.visibilitySeconds} s, and the function may take ${target.timeoutSeconds} s`;
    throw new StartError(`The event source ${path} is refused by AWS: the queue ${times}.`);
  }
  requireGrants(path, target, ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'], queue.arn);
  const { MaximumConcurrency = MAX_PARALLEL_BATCHES } = (properties.ScalingConfig ?? {}) as {
    MaximumConcurrency?: unknown;
  };
  return {
    ...batchSource(path, properties, target, LAMBDA_DEFAULT_BATCH.queue),
    queue,
    maxConcurrency: Math.min(Number(MaximumConcurrency), MAX_PARALLEL_BATCHES),
  };
}

function streamSource(
  { path, properties }: Resource,
  target: FunctionModel,
  table: ConnectedResources['tables'][number],
  queues: readonly QueueModel[],
): StreamSourceModel {
  if (properties.StartingPosition !== 'TRIM_HORIZON') {
    throw new StartError(
      `The event source ${path} starts at ${String(properties.StartingPosition)}. The local run supports TRIM_HORIZON only.`,
    );
  }
  requireGrants(
    path,
    target,
    ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator', 'dynamodb:ListStreams'],
    table.streamArn,
  );
  const keySchema = table.properties.KeySchema as { AttributeName: string; KeyType: string }[];
  const partitionKey = keySchema.find(({ KeyType }) => KeyType === 'HASH');
  if (!partitionKey) throw new StartError(`The table ${table.name} has no partition key.`);
  return {
    ...batchSource(path, properties, target, LAMBDA_DEFAULT_BATCH.stream),
    table: table.name,
    partitionKey: partitionKey.AttributeName,
    arn: table.streamArn,
    lanes: Number(properties.ParallelizationFactor ?? 1),
    filter: eventFilter(properties.FilterCriteria, path),
    maxRetries: retriesOf(properties.MaximumRetryAttempts),
    bisects: properties.BisectBatchOnFunctionError === true,
    onFailure: destinationOf(path, properties, target, queues),
  };
}

function batchSource(
  path: string,
  properties: Resource['properties'],
  target: FunctionModel,
  defaultBatch: number,
): BatchSourceModel {
  return {
    path,
    function: target,
    batchSize: Number(properties.BatchSize ?? defaultBatch),
    reportsFailures: ((properties.FunctionResponseTypes ?? []) as string[]).includes('ReportBatchItemFailures'),
  };
}

/** Lambda's default is -1, without a limit. */
function retriesOf(attempts: unknown = -1): number {
  return Number(attempts) === -1 ? Infinity : Number(attempts);
}

function destinationOf(
  path: string,
  { DestinationConfig }: Resource['properties'],
  target: FunctionModel,
  queues: readonly QueueModel[],
): QueueModel | undefined {
  const { OnFailure } = (DestinationConfig ?? {}) as { OnFailure?: { Destination: string } };
  if (!OnFailure) return undefined;
  const queue = queues.find(({ arn }) => arn === OnFailure.Destination);
  if (!queue)
    throw new StartError(
      `The event source ${path} sends failed records to ${OnFailure.Destination}, which is no queue of the template.`,
    );
  requireGrants(path, target, ['sqs:SendMessage'], queue.arn);
  return queue;
}

/** Lambda uses the role of the function to read the event source and to write to the destination. */
function requireGrants(
  path: string,
  { name, statements }: FunctionModel,
  actions: readonly string[],
  resource: string,
): void {
  const missing = actions.find((action) => !isAllowed(statements, action, resource));
  if (missing)
    throw new StartError(
      `The event source ${path} cannot work: the role of ${name} does not allow ${missing} on ${resource}.`,
    );
}

/**
 * Returns the schedules of the enabled rules. Throws a `StartError` for a rule that could not call its function or that
 * the local run does not support.
 */
export function schedulesOf(
  rules: readonly Resource[],
  permissions: readonly Resource[],
  functions: readonly FunctionModel[],
): ScheduleModel[] {
  return rules
    .filter(({ properties }) => properties.State !== 'DISABLED')
    .map(({ path, arn, properties }) => {
      const expression = String(properties.ScheduleExpression);
      const [, count, unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
      const unitSeconds = SECONDS[unit];
      if (!count || !unitSeconds)
        throw new StartError(
          `The rule ${path} has the schedule ${expression}. The local run supports rates in minutes, hours and days only.`,
        );
      const [only, ...others] = (properties.Targets ?? []) as {
        Arn: string;
        Input?: string;
        InputPath?: string;
        InputTransformer?: object;
      }[];
      const target = functionNamed(only?.Arn, functions);
      if (!target || others.length > 0)
        throw new StartError(`The rule ${path} must have one target, a function of the template.`);
      if (only?.Input ?? only?.InputPath ?? only?.InputTransformer) {
        throw new StartError(`The rule ${path} changes the input of its target, which the local run does not support.`);
      }
      if (!mayInvoke(permissions, EVENTS, arn, target)) {
        throw new StartError(
          `The rule ${path} cannot call ${target.name}: no AWS::Lambda::Permission lets ${EVENTS} do so.`,
        );
      }
      return { arn, function: target, everySeconds: Number(count) * unitSeconds };
    });
}

/** Returns whether a permission lets a service call a function on behalf of the resource `sourceArn`. */
export function mayInvoke(
  permissions: readonly Resource[],
  service: string,
  sourceArn: string,
  target: FunctionModel,
): boolean {
  return permissions.some(
    ({ properties: { Action, FunctionName, Principal, SourceArn = sourceArn } }) =>
      Action === 'lambda:InvokeFunction' &&
      Principal === service &&
      SourceArn === sourceArn &&
      functionNamed(FunctionName, [target]) === target,
  );
}

function functionNamed(nameOrArn: unknown, functions: readonly FunctionModel[]): FunctionModel | undefined {
  return functions.find(({ name, arn }) => nameOrArn === name || nameOrArn === arn);
}
