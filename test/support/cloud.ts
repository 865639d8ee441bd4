import { randomUUID } from 'node:crypto';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import * as registry from '../../functions/workers/index.ts';
import { environment, type QueueName } from '../../lib/app/capability.ts';
import type { Worker, WorkerOf } from '../../lib/app/worker.ts';
import { type SecretBox, secretBox } from '../../lib/crypto/secretBox.ts';
import { EventEntity } from '../../lib/events/outbox.ts';
import { outboxIndex } from '../../lib/fanOut/sweepOutbox.ts';
import { dueJobIndex, JobEntity } from '../../lib/jobs/jobStore.ts';
import { mailTiming } from '../../lib/mail/mailMessage.ts';
import { dueMailIndex, MailEntity } from '../../lib/mail/mailStore.ts';
import type { MailLimits } from '../../lib/mail/quotas/mailQuotas.ts';
import { newId } from '../../lib/shared/ids.ts';
import { isoTime } from '../../lib/shared/isoTime.ts';
import { lazy } from '../../lib/shared/lazy.ts';
import { operationOf } from '../../lib/table/documentClient.ts';
import { indexPartition } from '../../lib/table/entity.ts';
import { shardNumbers } from '../../lib/table/queryShards.ts';
import { Table } from '../../lib/table/table.ts';
import { dueDeliveryIndex } from '../../lib/webhooks/deliveries.ts';
import { type DeliveryMessage, deliveryTiming } from '../../lib/webhooks/deliveryMessage.ts';
import { dueGroupIndex } from '../../lib/webhooks/firstAttempts.ts';
import type { AttemptResult } from '../../lib/webhooks/rules/outcome.ts';
import { createWebhookClient, webhookClient, type WebhookRequest } from '../../lib/webhooks/transport/send.ts';
import { workerCapabilities } from '../../lib/workers/capabilities.ts';
import type { DueIndex } from '../../lib/workers/dueShards.ts';
import { invoker } from '../../lib/workers/lambda.ts';
import { MAX_RECEIVE_COUNT, queueVariable } from '../../lib/workers/queues.ts';
import type { Timing } from '../../lib/workers/rules/schedule.ts';
import type { InvocationResult } from '../../lib/workers/runUntil.ts';
import { SqsSender } from '../../lib/workers/sender.ts';
import * as sendTo from '../../lib/workers/sendTo.ts';
import type { SweptWork } from '../../lib/workers/sweep.ts';
import { Invocation, type Trial } from './crashes.ts';
import { type Engine, SECRET, TABLE_NAME } from './engine.ts';
import { asDocumentClient, type TableClient } from './leanClient.ts';
import { variablesOf } from './permissions.ts';
import type { ServiceCall, Simulation } from './simulation.ts';
import { insertsEvent, messagesEvent, recordingMeasures } from './workers.ts';
import {
  type Deps,
  duePartitions,
  isOfEmptyPartition,
  openWith,
  queueNames,
  queueOf,
  runAs,
  type StandIn,
  type WorkerName,
} from './workerWorld.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** The maximum number of concurrent invocations. */
const MAX_CONCURRENCY = 20;
/** The longest simulated time of a run. A longer run fails, because it would not end. */
const MAX_RUN = 48 * 60 * MINUTE;
/** How often the stream delivers a failing record. */
const STREAM_TRIES = 3;
/** The pause between two deliveries of a failing record. */
const STREAM_PAUSE = 30 * SECOND;

interface Message {
  readonly body: string;
  /** The id of the event, mail or job that the message is about. */
  readonly about: string;
  visibleAt: number;
  receives: number;
}

interface StreamRecord {
  readonly item: Record<string, unknown>;
  at: number;
  tries: number;
}

type Item = Record<string, any>;

/** A replacement of a call, for example a failing one. If it returns undefined, the real call is made. */
type Stub<A, T> = (about: A) => Promise<T | undefined>;

/**
 * Simulates the stream, the queues and the schedule that call the workers of deliveries and mails. The workers and the
 * table are real. Each invocation is a simulated process. Any of its calls to the table, a queue, SES or a receiver
 * can have a fault. The clock stands still while an invocation works.
 */
export class Cloud {
  now = Math.ceil(Date.now() / MINUTE) * MINUTE;
  webhookTiming: Timing = { schedule: [0, 5 * SECOND, 20 * MINUTE], marginMs: 5 * MINUTE };
  mailLimits: MailLimits = { recipient: 0, writer: 0 };
  mailTiming: Timing = { schedule: [0, 60 * SECOND, 20 * MINUTE], marginMs: 5 * MINUTE };
  /** The maximum number of messages of one invocation. */
  batchSize = 10;
  /** The timeout of a receiver in real milliseconds. The default is long enough for a slow machine. */
  timeoutMs: (request: WebhookRequest) => number = () => 10 * MINUTE;
  readonly measures = recordingMeasures();
  readonly errors: { readonly message: string; readonly keys: Record<string, unknown> | undefined }[] = [];
  /** How often each attempt was posted, by event, endpoint and number of the attempt. */
  readonly postCounts = new Map<string, number>();
  /** When each attempt was first posted, by event, endpoint and number of the attempt. */
  readonly postedAt = new Map<string, number>();
  /** How often SES received each mail. */
  readonly mailCounts = new Map<string, number>();
  /** The ids of deleted endpoints. */
  readonly deletedEndpoints = new Set<string>();
  /** The number of requests that were prepared after their endpoint was deleted. */
  lateAttempts = 0;
  sweeps = 0;
  /**
   * Replacements of calls to SQS, SES, the table and the stream. `refused` says whether SQS refuses a message, and
   * `lost` whether it loses one.
   */
  readonly stubs: {
    refused?: (queue: QueueName, body: unknown) => boolean;
    lost?: (queue: QueueName, body: any) => boolean;
    mail?: Stub<string, Error>;
    table?: Stub<ServiceCall, Item>;
    /** Stands for the receivers. */
    receive?: (endpointId: string, attempt: number) => AttemptResult;
    /** Returns the number of deliveries of a failing record or message, as `tries` of a trial. */
    tries?: () => number;
  } = {};
  readonly deadLetters: string[] = [];

  readonly #queues: Readonly<Record<QueueName, Message[]>> = {
    deliver: [],
    deliverSlow: [],
    mail: [],
    jobs: [],
    embed: [],
    sweep: [],
  };
  readonly #stream: StreamRecord[] = [];
  readonly #streamed = new Set<string>();
  readonly #trials = new Map<string, Trial>();
  readonly #plans: { readonly at: number; readonly act: () => Promise<void> }[] = [];
  readonly #invocations = new Map<Invocation, { readonly runs: number; ended: number; asleep: number }>();
  #sleepers: { readonly at: number; readonly wake: () => void }[] = [];
  #changed: () => void = () => undefined;
  #duePartitions: ReadonlySet<unknown> = new Set();
  readonly #variables = { ...process.env };
  readonly #client: TableClient;
  readonly #http = createWebhookClient({ allowLoopback: true });
  /** The table as tests use it. Calls through it belong to no trial. */
  readonly table: Table;
  readonly box: SecretBox;

  constructor({ lean }: Pick<Engine, 'lean'>) {
    this.#client = lean;
    const client = asDocumentClient({
      send: (command) =>
        this.#send(
          { service: 'DynamoDB', operation: operationOf(command), input: command.input },
          () => lean.send(command),
          undefined,
        ),
    });
    this.table = new Table(client, TABLE_NAME, this.#clock);
    this.box = secretBox.open(environment(process.env));
  }

  readonly #clock = () => this.now;
  readonly #log = {
    info: () => undefined,
    warn: () => undefined,
    error: (message: string, keys?: Record<string, unknown>) => void this.errors.push({ message, keys }),
  };

  /** Makes a trial count all calls about an event or a job. */
  watch(id: string, trial: Trial): void {
    this.#trials.set(id, trial);
  }

  plan(at: number, act: () => Promise<void>): void {
    this.#plans.push({ at, act });
  }

  /** Adds an event to the stream. Tests call it for events that they wrote directly. */
  addStreamRecord(item: Item): void {
    this.#streamed.add(item.eventId);
    if (this.#tries(this.#trials.get(item.eventId), STREAM_TRIES) !== 0)
      this.#stream.push({ item, at: this.now, tries: 0 });
  }

  #tries(trial: Trial | undefined, usual: number): number {
    return this.stubs.tries?.() ?? trial?.tries ?? usual;
  }

  /** Returns the messages of a queue. */
  messagesOf(queue: QueueName): readonly Message[] {
    return this.#queues[queue];
  }

  /** Puts a message into a queue. */
  send(queue: QueueName, body: object, delayMs = 0): void {
    this.#queues[queue].push(newMessage(JSON.stringify(body), this.now + delayMs));
  }

  /** Runs until no work is due and no message or invocation waits. Stops at a simulated time if that comes first. */
  async run(until = Infinity): Promise<void> {
    const end = this.now + MAX_RUN;
    for (;;) {
      await this.#runReady();
      const tick = await this.#nextTick();
      const next = Math.min(tick, ...this.#times());
      if (next === Infinity || next > until) {
        if (until !== Infinity) this.now = until;
        return;
      }
      if (next > end) throw new Error('The run does not end');
      this.now = Math.max(this.now, next);
      for (const plan of this.#plans.filter(({ at }) => at <= this.now)) {
        this.#plans.splice(this.#plans.indexOf(plan), 1);
        await plan.act();
      }
      if (tick <= this.now) await this.sweep();
    }
  }

  /**
   * Runs the timer of the sweep once, and the worker for each of its messages. Returns false if a process crashed or
   * failed.
   */
  async sweep(trial?: Trial): Promise<boolean> {
    this.sweeps++;
    this.#duePartitions = await duePartitions(this.#client);
    const hasSent = await this.#hasSucceeded('sweep', trial, {});
    // SQS would deliver a failed message again after more than a minute, and the worker drops such old messages.
    const messages = this.#queues.sweep.splice(0).map(({ body }) => messagesEvent([body], { sentAt: this.now }));
    const swept = await Promise.all(messages.map((event) => this.#hasSucceeded('sweepShard', trial, event)));
    return hasSent && swept.every(Boolean);
  }

  async #hasSucceeded(name: WorkerName, trial: Trial | undefined, event: object): Promise<boolean> {
    try {
      return failedItems(await this.#run(name, new Invocation(trial), event)).length === 0;
    } catch {
      return false;
    }
  }

  /** Starts invocations for all work that is ready. Waits until each of them has ended or sleeps. */
  async #runReady(): Promise<void> {
    for (;;) {
      // An invocation that wakes up counts as running only after this turn of the event loop.
      if (this.#wake()) await new Promise(setImmediate);
      while (this.#running() < MAX_CONCURRENCY && this.#begin());
      if (this.#running() === 0) return;
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }

  /** Returns the number of invocations that have a run which has not ended and does not sleep. */
  #running(): number {
    return [...this.#invocations.values()].filter(({ runs, ended, asleep }) => asleep === 0 || ended + asleep < runs)
      .length;
  }

  #invocation(trial: Trial | undefined): Invocation {
    const invocation: Invocation = new Invocation(trial, () => this.#pause(invocation, 61 * SECOND));
    return invocation;
  }

  /** Sleeps for a simulated time. */
  async #pause(invocation: Invocation, milliseconds: number): Promise<void> {
    const working = this.#invocations.get(invocation);
    if (!working || milliseconds <= 0) return;
    working.asleep++;
    this.#changed();
    await new Promise<void>((resolve) => this.#sleepers.push({ at: this.now + milliseconds, wake: resolve }));
    working.asleep--;
  }

  #wake(): boolean {
    const due = this.#sleepers.filter(({ at }) => at <= this.now);
    this.#sleepers = this.#sleepers.filter(({ at }) => at > this.now);
    for (const { wake } of due) wake();
    return due.length > 0;
  }

  /** Starts an invocation for the records or messages that are ready. Returns false if there are none. */
  #begin(): boolean {
    return (
      this.#beginFanOut() || (Object.keys(this.#queues) as QueueName[]).some((queue) => this.#beginMessages(queue))
    );
  }

  #beginFanOut(): boolean {
    const [first] = this.#stream.filter(({ at }) => at <= this.now);
    if (!first) return false;
    const trial = this.#trials.get(String(first.item.eventId));
    const batch = this.#stream
      .filter(({ at, item }) => at <= this.now && this.#trials.get(String(item.eventId)) === trial)
      .slice(0, 10);
    for (const record of batch) this.#stream.splice(this.#stream.indexOf(record), 1);
    const invocation = this.#invocation(trial);
    this.#invoke(
      invocation,
      1,
      () => this.#run('fanOutEvents', invocation, insertsEvent(batch.map(({ item }) => item))),
      (failed) => {
        // When a record fails, delivers it and all later records again, as Lambda does.
        const from = failed === 'all' ? 0 : Math.min(batch.length, ...failed.map((id) => Number(id) - 1));
        for (const record of batch.slice(from)) {
          if (++record.tries < this.#tries(trial, STREAM_TRIES))
            this.#stream.push({ ...record, at: this.now + STREAM_PAUSE });
        }
      },
    );
    return true;
  }

  #beginMessages(queue: QueueName): boolean {
    const messages = this.#queues[queue];
    const ready = messages.filter(({ visibleAt }) => visibleAt <= this.now);
    for (const message of ready.filter(({ receives }) => receives >= MAX_RECEIVE_COUNT)) {
      this.deadLetters.push(message.body);
      messages.splice(messages.indexOf(message), 1);
    }
    const first = ready.find(({ receives }) => receives < MAX_RECEIVE_COUNT);
    if (!first) return false;
    const trial = this.#trials.get(first.about);
    const batch = ready
      .filter((message) => message.receives < MAX_RECEIVE_COUNT && this.#trials.get(message.about) === trial)
      .slice(0, this.batchSize);
    for (const message of batch) {
      message.visibleAt = this.now + (queue === 'mail' ? 6 : 3) * MINUTE;
      message.receives++;
    }
    const invocation = this.#invocation(trial);
    this.#invoke(
      invocation,
      batch.length,
      () =>
        this.#run(
          workerOf(queue),
          invocation,
          messagesEvent(
            batch.map(({ body }) => body),
            { sentAt: this.now },
          ),
        ),
      (failed) => {
        const maxReceives = this.#tries(trial, Infinity);
        const done = batch.filter(
          ({ receives }, index) =>
            (failed !== 'all' && !failed.includes(`message-${index}`)) || receives >= maxReceives,
        );
        for (const message of done) messages.splice(messages.indexOf(message), 1);
      },
    );
    return true;
  }

  /** Runs a worker in the process of an invocation. */
  async #run(name: WorkerName, invocation: Invocation, event: object): Promise<InvocationResult> {
    const deps = this.#open(name);
    const worker = registry[name] as unknown as WorkerOf<any, any>;
    const run = async (call: { readonly message: DeliveryMessage }) => {
      try {
        const own = { ...call, deps: this.#withReplacements(deps, call.message, invocation) };
        return await Promise.race([invocation.crashed, (worker.run as (call: unknown) => Promise<unknown>)(own)]);
      } finally {
        const working = this.#invocations.get(invocation);
        if (working) working.ended++;
      }
    };
    const simulated: Simulation = {
      clock: this.#clock,
      random: () => 0.5,
      answer: (call, send) => this.#answer(name, invocation, call, send),
    };
    const call = {
      deps,
      clock: this.#clock,
      newId: (prefix: string) => newId(prefix, this.now),
      deadline: this.now + 60 * MINUTE,
      log: this.#log,
      measures: this.measures,
    };
    const invoke = invoker({ ...worker, run } as unknown as typeof worker);
    // A timer has no batch whose failure would end the wait for a crashed process.
    return runAs(name, simulated, () => Promise.race([invocation.crashed, invoke(event, call)]));
  }

  /** Opens what a worker uses, in a process of its own. */
  #open(name: WorkerName): Deps<WorkerName> {
    const variables = variablesOf(name, workerCapabilities(registry[name]), {
      ...this.#variables,
      MAILS_PER_RECIPIENT_PER_HOUR: String(this.mailLimits.recipient),
      MAILS_PER_WRITER_PER_HOUR: String(this.mailLimits.writer),
      // Opened tables are kept by name. Another object is another name, so that processes do not share batches of calls.
      TABLE_NAME: Object(TABLE_NAME) as string,
    });
    const standIns: StandIn[] = [
      [deliveryTiming, this.webhookTiming],
      [mailTiming, this.mailTiming],
      [webhookClient, this.#http],
      ...senders(),
    ];
    return openWith(registry[name].uses, standIns, variables) as Deps<WorkerName>;
  }

  /** Replaces what the attempts of a message use. */
  #withReplacements<D extends object>(deps: D, message: DeliveryMessage, invocation: Invocation): D {
    if (!('attempts' in deps)) return deps;
    const { attempts } = deps as Deps<'deliverWebhook'>;
    const replaced: Deps<'deliverWebhook'>['attempts'] = {
      ...attempts,
      sleep: (milliseconds) => this.#pause(invocation, milliseconds),
      yieldToEventLoop: async () => undefined,
      requestsWritten: async () => undefined,
      requests: {
        prepare: async (key, content) => {
          const isDeleted = this.deletedEndpoints.has(key.endpointId);
          const prepared = await attempts.requests.prepare(key, content);
          if (isDeleted && prepared !== 'cancelled') this.lateAttempts++;
          return prepared;
        },
      },
      client: { post: (request) => invocation.call('POST', () => this.#post(message, request), true) },
    };
    return { ...deps, attempts: replaced };
  }

  /** Answers an AWS call of a process. It can have a fault. */
  #answer(worker: WorkerName, invocation: Invocation, call: ServiceCall, send: () => Promise<Item>): Promise<unknown> {
    const { service, operation, input } = call;
    const { trial } = invocation;
    if (service === 'DynamoDB') {
      const isTimer = worker === 'sweep';
      // A trial counts the calls for empty partitions too.
      if (isTimer && !trial && isOfEmptyPartition(input, this.#duePartitions)) return Promise.resolve({ Items: [] });
      return invocation.call(`${isTimer ? 'Timer ' : ''}${nameOf(call)}`, () => this.#send(call, send, trial));
    }
    switch (operation) {
      case 'SendMessageBatch': {
        const queue = queueOf(input);
        return invocation.call(`${operation} ${queue}`, () => this.#acceptMessages(queue, input.Entries));
      }
      case 'GetQueueAttributes':
        return invocation.call(operation, async () => ({
          Attributes: { ApproximateNumberOfMessages: String(this.#queues[queueOf(input)].length) },
        }));
      case 'GetSecretValue':
        return invocation.call(operation, async () => ({ SecretString: SECRET }));
      case 'SendEmail':
        return invocation.call(operation, () => this.#mail(String(input.EmailTags?.[0]?.Value)), true);
      default:
        return invocation.call(operation, send);
    }
  }

  /** Runs an invocation. `end` gets the ids of failed items, or `all` if the process crashed. */
  #invoke(
    invocation: Invocation,
    runs: number,
    run: () => Promise<InvocationResult>,
    end: (failed: 'all' | readonly string[]) => void,
  ): void {
    this.#invocations.set(invocation, { runs, ended: 0, asleep: 0 });
    const finish = (failed: 'all' | readonly string[]) => {
      end(invocation.hasCrashed ? 'all' : failed);
      this.#invocations.delete(invocation);
      this.#changed();
    };
    run().then(
      (result) => finish(failedItems(result)),
      () => finish('all'),
    );
  }

  #times(): number[] {
    return [
      ...Object.values(this.#queues)
        .flat()
        .map(({ visibleAt }) => visibleAt),
      ...this.#stream.map(({ at }) => at),
      ...this.#sleepers.map(({ at }) => at),
      ...this.#plans.map(({ at }) => at),
    ];
  }

  /** Returns the next full minute in which the sweep has work, or Infinity if there is none. */
  async #nextTick(): Promise<number> {
    const due = (await this.due()).map(({ at }) => at);
    const first = Math.min(...due);
    return first === Infinity ? Infinity : (Math.floor(Math.max(first, this.now) / MINUTE) + 1) * MINUTE;
  }

  /** Returns the entries of the due index. For each, returns the time from which the sweep handles it. */
  async due(): Promise<{ readonly kind: string; readonly at: number }[]> {
    const { Items } = await this.#client.send(new ScanCommand({ TableName: TABLE_NAME, IndexName: 'gsi3' }));
    return (Items as Item[]).flatMap(({ gsi3pk, gsi3sk }) => {
      const swept = sweptPartitions().get(gsi3pk);
      if (!swept) return [];
      const { kind, index } = swept;
      return [{ kind, at: Date.parse(gsi3sk.slice(0, isoTime(0).length)) + (index.dueAfterMs ?? 0) }];
    });
  }

  /**
   * Calls the table. Sends written events to the stream. Written mails count in the trial of their events, and jobs that
   * collect entries in the trial of the process.
   */
  async #send(call: ServiceCall, send: () => Promise<Item>, trial: Trial | undefined): Promise<Item> {
    const written = writtenItems(call);
    const answer = (await this.stubs.table?.(call)) ?? (await send());
    for (const item of written) {
      const about = this.#trials.get(item.about?.eventId ?? item.about?.eventIds?.[0] ?? '');
      if (trial && item._t === JobEntity.type && item.kind === 'collectEntries') this.#trials.set(item.jobId, trial);
      if (about && item._t === MailEntity.type) this.#trials.set(item.mailId, about);
      if (item._t !== EventEntity.type || item.fannedOutAt !== undefined || this.#streamed.has(item.eventId)) continue;
      if (trial) this.#trials.set(item.eventId, trial);
      this.addStreamRecord(item);
    }
    return answer;
  }

  async #acceptMessages(queue: QueueName, entries: readonly Item[]) {
    const Failed: { Id: string; Code: string; SenderFault: boolean }[] = [];
    for (const { Id = '', MessageBody = '', DelaySeconds = 0 } of entries) {
      const body: unknown = JSON.parse(MessageBody);
      const message = () => newMessage(MessageBody, this.now + DelaySeconds * SECOND);
      const trial = this.#trials.get(message().about);
      const nth = trial && ++trial.messages;
      if (this.stubs.refused?.(queue, body)) Failed.push({ Id, Code: 'InternalError', SenderFault: false });
      else if (!this.stubs.lost?.(queue, body) && nth !== (trial?.lost ?? 0)) this.#queues[queue].push(message());
      if (nth !== undefined && nth === trial?.copied) this.#queues[queue].push(message());
    }
    return { Failed };
  }

  /** Posts to the receiver and counts the post. The last part of the URL is the endpoint's id. */
  async #post({ eventId, attemptNo }: DeliveryMessage, request: WebhookRequest): Promise<AttemptResult> {
    const endpointId = request.url.split('/').at(-1) ?? '';
    const attempt = `${eventId} ${endpointId} ${attemptNo}`;
    this.postCounts.set(attempt, (this.postCounts.get(attempt) ?? 0) + 1);
    if (!this.postedAt.has(attempt)) this.postedAt.set(attempt, this.now);
    if (this.stubs.receive) return this.stubs.receive(endpointId, attemptNo);
    return this.#http.post({ ...request, timeoutMs: this.timeoutMs(request) });
  }

  async #mail(mailId: string): Promise<{ MessageId: string }> {
    const refusal = await this.stubs.mail?.(mailId);
    if (refusal) throw refusal;
    this.mailCounts.set(mailId, (this.mailCounts.get(mailId) ?? 0) + 1);
    return { MessageId: `ses-${mailId}` };
  }
}

function newMessage(body: string, visibleAt: number): Message {
  const { eventId, mailId, jobId } = JSON.parse(body) as { eventId?: string; mailId?: string; jobId?: string };
  return { body, about: eventId ?? mailId ?? jobId ?? '', visibleAt, receives: 0 };
}

/** Returns the worker for the messages of a queue. */
function workerOf(queue: QueueName): WorkerName {
  const workers = Object.values(registry) as unknown as readonly Worker[];
  return workers.find(({ on }) => 'queue' in on && on.queue === queue)!.name as WorkerName;
}

/** Senders that repeat refused messages at once. */
function senders(): StandIn[] {
  return queueNames.map((name) => [
    sendTo[name],
    new SqsSender(process.env[queueVariable[name]]!, undefined, [0, 0, 0]),
  ]);
}

/** Returns the ids of the items that a worker could not process. */
function failedItems({ answer }: InvocationResult): readonly string[] {
  const { batchItemFailures = [] } = (answer ?? {}) as { batchItemFailures?: { itemIdentifier: string }[] };
  return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
}

/** Returns the items that a command writes. */
function writtenItems({ input }: ServiceCall): Item[] {
  const operations = (input.TransactItems as { Put?: Item }[] | undefined) ?? (input.Item ? [{ Put: input }] : []);
  return operations.flatMap(({ Put }) => (Put?.Item ? [Put.Item] : []));
}

/**
 * Returns the name of a call, by which faults and trials refer to it. It has the command, and the types of its items
 * or the kind of its partition.
 */
function nameOf(call: ServiceCall): string {
  const { operation, input } = call;
  // All retries of a transaction have the same token, as in the SDK.
  if (input.TransactItems) input.ClientRequestToken ??= randomUUID();
  const objects = input.IndexName
    ? [sweptPartitions().get(input.ExpressionAttributeValues[':pk'])?.kind ?? input.IndexName]
    : [...new Set(writtenItems(call).map(({ _t }) => String(_t)))];
  return [operation.replace(/Items?$/, ''), ...objects].join(' ');
}

/** The partitions of `gsi3` that the sweep reads. */
const sweptPartitions = lazy(() => {
  const indexes: Readonly<Record<SweptWork, DueIndex>> = {
    deliveries: dueDeliveryIndex,
    firstAttempts: dueGroupIndex,
    events: outboxIndex.open(environment(process.env)),
    mails: dueMailIndex,
    jobs: dueJobIndex,
  };
  return new Map(
    Object.entries(indexes).flatMap(([kind, index]) =>
      shardNumbers(index.shards).map((shard) => [indexPartition(index.partition(shard)), { kind, index }] as const),
    ),
  );
});
