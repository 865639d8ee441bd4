/** `npm run deliveries`: shows the state of deliveries and sends failed ones again. */
import {
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { type Environment, environment, type QueueName } from '../../lib/app/capability.ts';
import { outboxShards } from '../../lib/events/outbox.ts';
import { dueJobIndex, JobStore, JobSweeper } from '../../lib/jobs/jobStore.ts';
import { isoTime } from '../../lib/shared/isoTime.ts';
import { Instant } from '../../lib/shared/times.ts';
import { pages } from '../../lib/table/pages.ts';
import { openTable } from '../../lib/table/table.ts';
import { DeliveryStore } from '../../lib/webhooks/deliveries.ts';
import { deliveryTiming } from '../../lib/webhooks/deliveryMessage.ts';
import { EndpointHealthStore } from '../../lib/webhooks/endpointHealth.ts';
import { WebhookEndpointStore } from '../../lib/webhooks/endpoints.ts';
import { FirstAttemptStore } from '../../lib/webhooks/firstAttempts.ts';
import { MessageReader } from '../../lib/webhooks/messages.ts';
import { requireRecoverable, startRecovery } from '../../lib/webhooks/recover.ts';
import { basicTargets } from '../../lib/webhooks/rules/matching.ts';
import { toAttemptResponse } from '../../lib/webhooks/rules/messageView.ts';
import { queues, queueVariable } from '../../lib/workers/queues.ts';
import * as sendTo from '../../lib/workers/sendTo.ts';
import { configuredStack } from '../build/projectContext.ts';
import { pascal } from '../constructs/names.ts';
import { columns } from './columns.ts';
import { endpointIdOf, endpointReport, stateOf } from './endpointReport.ts';
import {
  deploymentOptions,
  localEnvironment,
  parseArguments,
  physicalId,
  runCommand,
  stackOutputs,
} from './operator.ts';
import { type Resend, resendMessage, unknownMessage } from './resendMessage.ts';

const queueNames = Object.keys(queues) as QueueName[];

const USAGE = `Usage: npm run deliveries -- status
       npm run deliveries -- endpoint <apiKey> <endpointId>
       npm run deliveries -- message <apiKey> <messageId>
       npm run deliveries -- resend <apiKey> <messageId> [--endpoint <endpointId>]
       npm run deliveries -- recover <apiKey> <endpointId> <since>
       npm run deliveries -- redrive ${queueNames.join('|')}

status    Shows due and overdue deliveries, due jobs, unhealthy endpoints, and the messages in each queue and dead-letter
          queue.
endpoint  Shows the configuration and health of an endpoint, and its last messages. <endpointId> is its id or uid, or a
          URL of basic webhooks: ${Object.keys(basicTargets).join(', ')}
message   Shows the deliveries of a message to each endpoint, with every attempt.
resend    Sends a message once more, now: to one endpoint, or to each endpoint that has not received it.
recover   Sends the failed messages of events since a time again. <since> is in ISO 8601, at most 14 days ago. Pending
          messages are still being tried.
redrive   Moves the dead letters of a queue back into it. Fix the cause of the failures first.

  --endpoint  for resend: the id or uid of the endpoint that gets the message, even if it has received it
  --stack     the CloudFormation stack (default: the setting stackName, ${configuredStack()})
  --local     the data directory of npm start, such as .local, instead of a stack
  --help      prints this text`;

const MINUTE = 60_000;
/** A delivery that has been due for a shorter time may be in progress. */
const OVERDUE = 5 * MINUTE;
const PAGE = 500;
const BATCH = 10;

interface OperatorContext {
  readonly env: Environment;
  readonly stack: string;
  readonly sqs: SQSClient;
  readonly urlOf: (queue: QueueName, deadLetters?: boolean) => Promise<string>;
}

const outputNames = {
  TABLE_NAME: 'TableName',
  WEBHOOK_RETRY_SCHEDULE: 'WebhookRetrySchedule',
  DUE_MARGIN_SECONDS: 'DueMarginSeconds',
} as const;

const log = { info: console.error, warn: console.error, error: console.error };

export async function run(args: string[], source: NodeJS.ProcessEnv, now = Date.now()): Promise<string> {
  const {
    positionals: [command = '', ...parameters],
    values: { stack, local, endpoint },
  } = parseArguments(USAGE, {
    args,
    allowPositionals: true,
    options: { ...deploymentOptions, endpoint: { type: 'string' } },
  });
  const [first, second, third] = parameters as [string, string, string];
  const commands: Readonly<
    Record<string, readonly [argumentCount: number, execute: (context: OperatorContext) => Promise<string>]>
  > = {
    status: [0, (context) => status(context, now)],
    endpoint: [2, ({ env }) => endpointReport(openTable(env), first, second, now)],
    message: [2, (context) => message(context, first, second)],
    resend: [2, (context) => resend(context, { tenant: first, messageId: second, endpoint }, now)],
    recover: [3, (context) => recover(context, { tenant: first, endpoint: second, since: sinceOf(third, now) }, now)],
    redrive: [1, (context) => redrive(context, queueOf(first))],
  };
  const [argumentCount, execute] = (Object.hasOwn(commands, command) ? commands[command] : undefined) ?? [];
  if (!execute || parameters.length !== argumentCount) throw new Error(USAGE);
  if (endpoint !== undefined && command !== 'resend') throw new Error(`Only resend has --endpoint.\n\n${USAGE}`);
  return execute(await contextOf(local === undefined ? source : await localEnvironment(local), stack));
}

function queueOf(name: string): QueueName {
  const queueName = queueNames.find((queue) => queue === name);
  if (!queueName) throw new Error(`Unknown queue ${JSON.stringify(name)}. The queues are ${queueNames.join(', ')}.`);
  return queueName;
}

function sinceOf(text: string, now: number): number {
  const { success, data: since } = Instant.safeParse(text);
  if (!success) throw new Error(`${JSON.stringify(text)} is not a time. Use a time such as 2026-11-20T09:30:00Z.`);
  requireRecoverable(since, now);
  // The query ends at `now`, and DynamoDB rejects a range that begins after its end.
  return Math.min(since, now);
}

async function contextOf(source: NodeJS.ProcessEnv, stack: string): Promise<OperatorContext> {
  const outputs = source.TABLE_NAME === undefined ? await stackOutputs(stack) : new Map<string, string>();
  const ofStack = Object.entries(outputNames).flatMap(([name, output]) => {
    const value = outputs.get(output);
    return value === undefined ? [] : [[name, value] as const];
  });
  const values = { ...source, ...Object.fromEntries(ofStack) };
  if (!values.TABLE_NAME) throw new Error(`Stack ${stack} has no output TableName, and TABLE_NAME is not set.`);
  const urlOf = async (queue: QueueName, deadLetters = false) => {
    const localUrl = source[queueVariable[queue]];
    // In a local run, only queues have URLs in the environment, not dead-letter queues. These URLs end with the logical
    // id.
    if (localUrl) return deadLetters ? localUrl.replace(/Queue$/, 'DeadLetters') : localUrl;
    return physicalId(stack, `${pascal(queue)}${deadLetters ? 'DeadLetters' : 'Queue'}`);
  };
  return {
    env: environment(values),
    stack,
    sqs: new SQSClient({ maxAttempts: 3, useQueueUrlAsEndpoint: false }),
    urlOf,
  };
}

async function status(context: OperatorContext, now: number): Promise<string> {
  const table = openTable(context.env);
  const delays: number[] = [];
  await inShards(outboxShards, async (shard) => {
    const read = (after?: string) => new DeliveryStore(table).listDue(shard, now, { limit: PAGE, after });
    for await (const { values } of pages(read)) delays.push(...values.map(({ nextAt }) => now - nextAt));
    const readGroups = (after?: string) => new FirstAttemptStore(table).listDue(shard, now, { limit: PAGE, after });
    for await (const { values } of pages(readGroups))
      delays.push(...values.flatMap(({ endpointIds, createdAt }) => endpointIds.map(() => now - createdAt)));
  });
  let jobs = 0;
  await inShards(dueJobIndex.shards, async (shard) => {
    const read = (after?: string) => new JobSweeper(table).listDue(shard, now, { limit: PAGE, after });
    for await (const { values } of pages(read)) jobs += values.length;
  });
  const { open, warned } = await new EndpointHealthStore(table).countUnhealthy(now);
  const overdue = delays.filter((delay) => delay >= OVERDUE);
  const rows = await Promise.all(
    queueNames.map(async (queue) => [
      queue,
      ...(await countsOf(context, queue)),
      ...(await countsOf(context, queue, true)).slice(0, 1),
    ]),
  );
  return columns([
    ['Deliveries due', `${delays.length}`],
    [
      'Overdue by 5 minutes',
      overdue.length === 0
        ? '0'
        : `${overdue.length}, the oldest by ${Math.round(overdue.reduce((longest, delay) => Math.max(longest, delay), 0) / MINUTE)} minutes`,
    ],
    ['Jobs due', `${jobs}`],
    ['Endpoints with an open circuit breaker', `${open}`],
    ['Endpoints soon disabled', `${warned}`],
    [],
    ['Queue', 'waiting', 'in flight', 'delayed', 'dead letters'],
    ...rows.map((row) => row.map(String)),
  ]);
}

async function inShards(shards: number, read: (shard: number) => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: shards }, (_each, shard) => read(shard)));
}

async function countsOf(
  { sqs, urlOf }: OperatorContext,
  queue: QueueName,
  deadLetters = false,
): Promise<[waiting: number, inFlight: number, delayed: number]> {
  const AttributeNames = [
    'ApproximateNumberOfMessages',
    'ApproximateNumberOfMessagesNotVisible',
    'ApproximateNumberOfMessagesDelayed',
  ] as const;
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: await urlOf(queue, deadLetters), AttributeNames: [...AttributeNames] }),
  );
  return AttributeNames.map((name) => Number(Attributes[name] ?? 0)) as [number, number, number];
}

async function message({ env }: OperatorContext, tenant: string, messageId: string): Promise<string> {
  const table = openTable(env);
  const store = new DeliveryStore(table);
  const [event, deliveries, { attempts }] = await Promise.all([
    new MessageReader(table).event(tenant, messageId),
    store.listOfEvent(tenant, messageId),
    store.listAttempts(tenant, messageId, { limit: 1_000 }),
  ]);
  if (!event) throw unknownMessage(tenant, messageId);
  return columns([
    ['Message', messageId],
    ['Event', event.event],
    ['Created', isoTime(event.createdAt)],
    ['Deliveries created', event.fannedOutAt === undefined ? 'not yet' : isoTime(event.fannedOutAt)],
    [],
    ['Endpoint', 'state', 'attempts', 'next attempt'],
    ...deliveries.map((delivery) => [delivery.endpointId, ...stateOf(delivery)]),
    [],
    ['Attempt at', 'endpoint', 'number', 'outcome', 'answer', 'ms', 'reason'],
    // The response body is left out, because it may contain data of the customer.
    ...attempts
      .sort((a, b) => a.at - b.at)
      .map((attempt) => {
        const { at, endpointId, attempt: number, outcome, responseStatus, durationMs } = toAttemptResponse(attempt);
        return [at, endpointId, `${number}`, outcome, `${responseStatus ?? '-'}`, `${durationMs}`, attempt.error ?? ''];
      }),
  ]);
}

async function resend({ env, stack, urlOf }: OperatorContext, request: Resend, now: number): Promise<string> {
  const missing = deliveryTiming.env.find((name) => !(name in env));
  if (missing !== undefined)
    throw new Error(
      `Stack ${stack} has no output for ${missing}. Deploy it with this version, and repeat the command.`,
    );
  const queue = sendTo.deliverSlow.open(environment({ [queueVariable.deliverSlow]: await urlOf('deliverSlow') }));
  return resendMessage(request, { env, queue, log }, now);
}

async function recover(
  { env, urlOf }: OperatorContext,
  { tenant, endpoint, since }: { tenant: string; endpoint: string; since: number },
  now: number,
): Promise<string> {
  const table = openTable(env);
  const request = { tenant, endpointId: await endpointIdOf(table, tenant, endpoint), since };
  const stored = await new WebhookEndpointStore(table).get(tenant, request.endpointId);
  if (stored?.disabled)
    throw new Error('The endpoint is disabled, so nothing would be sent. Its owner must enable it first.');
  const queue = sendTo.jobs.open(environment({ [queueVariable.jobs]: await urlOf('jobs') }));
  const messages = await startRecovery(
    { deliveries: new DeliveryStore(table), jobs: new JobStore(table), queue },
    request,
    now,
    log,
  );
  const sent =
    messages === 0
      ? 'No message to this endpoint has failed since then.'
      : `Sending ${messages} messages again, at up to 50 per second.`;
  return `${sent} Pending messages are still being tried: "npm run deliveries -- endpoint" shows the time of the next attempt.`;
}

/** Deletes a dead letter only after the queue has it, so the command can be interrupted and repeated. */
async function redrive({ sqs, urlOf }: OperatorContext, queue: QueueName): Promise<string> {
  const [to, from] = await Promise.all([urlOf(queue), urlOf(queue, true)]);
  for (let moved = 0; ;) {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: from,
        MaxNumberOfMessages: BATCH,
        WaitTimeSeconds: 1,
        VisibilityTimeout: 60,
        MessageSystemAttributeNames: ['MessageGroupId'],
      }),
    );
    if (Messages.length === 0) return `${moved} messages moved back to ${queue}.`;
    const Entries = Messages.map(({ Body, Attributes }, index): SendMessageBatchRequestEntry => ({
      Id: String(index),
      MessageBody: Body,
      ...(Attributes?.MessageGroupId && { MessageGroupId: Attributes.MessageGroupId }),
    }));
    const { Successful = [], Failed = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl: to, Entries }));
    const sent = Successful.map(({ Id }) => ({ Id, ReceiptHandle: Messages[Number(Id)]?.ReceiptHandle }));
    if (sent.length > 0) await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: from, Entries: sent }));
    moved += sent.length;
    if (Failed.length > 0)
      throw new Error(
        `${moved} messages moved back to ${queue}. Then SQS refused ${Failed.length} (${Failed[0]?.Code}). Repeat the command in a minute.`,
      );
  }
}

if (import.meta.main) await runCommand(USAGE, (args) => run(args, process.env));
