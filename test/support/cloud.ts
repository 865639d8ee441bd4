import { randomUUID } from 'node:crypto';
import type { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { SendEmailCommand, SESv2Client } from '@aws-sdk/client-sesv2';
import type { SendMessageBatchCommand, SendMessageBatchRequestEntry } from '@aws-sdk/client-sqs';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { worker as fanOutEvents } from '../../functions/workers/fanOutEvents.ts';
import { worker as sendEmail } from '../../functions/workers/sendEmail.ts';
import type { QueueName, Uses } from '../../lib/app/capability.ts';
import type { MessageCall } from '../../lib/app/worker.ts';
import type { ChatComposer } from '../../lib/chat/chatComposer.ts';
import { KeyRing } from '../../lib/crypto/keyRing.ts';
import { SecretBox } from '../../lib/crypto/secretBox.ts';
import { EventEntity, OutboxStore } from '../../lib/events/outbox.ts';
import type { FanOutPorts } from '../../lib/fanOut/fanOut.ts';
import { JobEntity, JobMessage, JobStore } from '../../lib/jobs/jobStore.ts';
import { runJob, type RunJobDeps, type Step } from '../../lib/jobs/runJob.ts';
import { MailComposer } from '../../lib/mail/mailComposer.ts';
import { fanOutMails, ownerNotifier } from '../../lib/mail/mailFanOut.ts';
import type { MailMessage } from '../../lib/mail/mailMessage.ts';
import { MailEntity, MailStore } from '../../lib/mail/mailStore.ts';
import { sweepMails } from '../../lib/mail/mailSweep.ts';
import { type MailLimits, MailQuotas } from '../../lib/mail/quotas/mailQuotas.ts';
import { SesSender } from '../../lib/mail/senders/ses.ts';
import { UnsubscribeLinks } from '../../lib/mail/unsubscribeLinks.ts';
import { type CollectEntriesDeps, collectEntriesStep } from '../../lib/mail/waiting/collectEntriesStep.ts';
import { fanOutInApp } from '../../lib/notifications/inAppFanOut.ts';
import { NotificationWriter } from '../../lib/notifications/notifications.ts';
import { newId } from '../../lib/shared/ids.ts';
import { Table } from '../../lib/table/table.ts';
import { attemptDelivery, type AttemptPorts } from '../../lib/webhooks/attempt.ts';
import { DeliveryStore } from '../../lib/webhooks/deliveries.ts';
import { DeliveryMessage } from '../../lib/webhooks/deliveryMessage.ts';
import { EndpointDisabler } from '../../lib/webhooks/disableEndpoints.ts';
import { EndpointHealthStore } from '../../lib/webhooks/endpointHealth.ts';
import { readBacklog } from '../../lib/webhooks/firstAttemptBacklog.ts';
import { FirstAttemptStore } from '../../lib/webhooks/firstAttempts.ts';
import { HealthyEndpoints } from '../../lib/webhooks/healthyEndpoints.ts';
import { AttemptLoader } from '../../lib/webhooks/loadAttempt.ts';
import { ParkedDeliveryStore } from '../../lib/webhooks/parkedDeliveries.ts';
import { WebhookRequests } from '../../lib/webhooks/prepareRequest.ts';
import { RateSlots } from '../../lib/webhooks/rateSlots.ts';
import { releaseParkedStep, type ReleasePorts } from '../../lib/webhooks/releaseParked.ts';
import type { AttemptResult } from '../../lib/webhooks/rules/outcome.ts';
import { SubscriptionReader } from '../../lib/webhooks/subscriptions.ts';
import { createWebhookClient, type WebhookRequest } from '../../lib/webhooks/transport/send.ts';
import { handleMessages } from '../../lib/workers/handleMessages.ts';
import { handleRecords, toInserted } from '../../lib/workers/handleRecords.ts';
import { MAX_RECEIVE_COUNT } from '../../lib/workers/queues.ts';
import type { Timing } from '../../lib/workers/rules/schedule.ts';
import type { InvocationResult } from '../../lib/workers/runUntil.ts';
import { type QueueSender, SqsSender } from '../../lib/workers/sender.ts';
import type { SweepCall, SweepMessage } from '../../lib/workers/sweep.ts';
import { Invocation, type Trial } from './crashes.ts';
import { deliveryRoles } from './deliveryRoles.ts';
import { type Engine, MASTER_KEY_SECRET_ARN, TABLE_NAME } from './engine.ts';
import { asDocumentClient, type Command, type TableClient } from './leanClient.ts';
import { requirePermission, type RunWithRole } from './permissions.ts';
import { RECONCILE_AFTER, runShardSweeps, runTimer, shardSweepsOf } from './sweeps.ts';
import { insertsEvent, messagesEvent, recordingMeasures } from './workers.ts';

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
    table?: Stub<Command, Item>;
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
  readonly #client: TableClient;
  readonly #http = createWebhookClient({ allowLoopback: true });
  /** The table as tests use it. Calls through it belong to no trial. */
  readonly table: Table;
  readonly box: SecretBox;

  /** Opens the ports of all processes on the table of `engine`. */
  constructor({ lean }: Pick<Engine, 'lean'>) {
    this.#client = lean;
    const outside = this.#process(new Invocation());
    this.table = outside.table;
    this.box = outside.box;
  }

  readonly #clock = () => this.now;
  readonly #newId = (prefix: string) => newId(prefix, this.now);
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
    const timer = new Invocation(trial);
    const process = this.#process(timer, 'Timer ');
    // A trial counts the calls for empty partitions too.
    const hasSent = await hasSucceeded(timer, () =>
      runTimer(process.table, process.sender('sweep'), this.#sweepCall(), trial !== undefined),
    );
    const messages = this.#queues.sweep.splice(0).map(({ body }) => JSON.parse(body) as SweepMessage);
    const swept = await Promise.all(messages.map((message) => this.#sweepShard(message, trial)));
    return hasSent && swept.every(Boolean);
  }

  #sweepCall(): SweepCall {
    return { clock: this.#clock, log: this.#log, measures: this.measures, deadline: this.now + 55 * SECOND };
  }

  /**
   * Runs the worker for a message. A failed message is not delivered again: SQS would do so after more than a minute,
   * and the worker drops such old messages.
   */
  async #sweepShard(message: SweepMessage, trial: Trial | undefined): Promise<boolean> {
    const invocation = new Invocation(trial);
    const process = this.#process(invocation);
    const isBacklogged = readBacklog(() =>
      invocation.call('GetQueueAttributes', async () => {
        requirePermission({ service: 'SQS', operation: 'GetQueueAttributes', input: { QueueUrl: 'deliver' } });
        return this.#queues.deliver.length;
      }),
    );
    const { table, deliveries, groups, fanOut, sender } = process;
    const sweeps = shardSweepsOf({
      table,
      deliveries,
      groups,
      fanOut,
      retryQueue: sender('deliverSlow'),
      isBacklogged,
      timing: this.webhookTiming,
      mails: sweepMails({ mails: new MailStore(table), queue: sender('mail'), timing: this.mailTiming }),
      queues: { jobs: sender('jobs'), embed: sender('embed') },
    });
    return hasSucceeded(invocation, () => runShardSweeps(sweeps, [message], this.#sweepCall()));
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
    const deps = { fanOut: this.#process(invocation).fanOut };
    const run: typeof fanOutEvents.run = (call) =>
      Promise.race([invocation.crashed, fanOutEvents.run({ ...call, deps })]);
    this.#invoke(
      invocation,
      batch.length,
      () =>
        deliveryRoles.fanOutEvents(() =>
          handleRecords(run, toInserted, insertsEvent(batch.map(({ item }) => item)), this.#call(deps)),
        ),
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
      () => roleFor(queue)(() => this.#handle(queue, invocation, batch)),
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

  #handle(queue: QueueName, invocation: Invocation, batch: readonly Message[]): Promise<InvocationResult> {
    const process = this.#process(invocation);
    const event = messagesEvent(batch.map(({ body }) => body));
    if (queue === 'mail') {
      const { composer, ...sendsMails } = process.sendMail;
      const chat = { compose: () => Promise.reject(new Error('No chat')) } as unknown as ChatComposer;
      const deps = { sendsMails, mails: composer, chat };
      return handleMessages(
        sendEmail.on.message,
        (call) =>
          Promise.race([invocation.crashed, sendEmail.run({ ...call, message: call.message as MailMessage, deps })]),
        event,
        this.#call(deps),
      );
    }
    if (queue === 'jobs') {
      const releaseParked: Step = (...step) => releaseParkedStep(process.release, ...step);
      const collectEntries: Step = (job, _clock, call) => collectEntriesStep(process.collectEntries, job, call);
      const deps = {
        jobs: new JobStore(process.table),
        steps: { releaseParked, collectEntries } as RunJobDeps['steps'],
        queue: process.sender('jobs'),
      };
      const run = (call: MessageCall<unknown, Uses>) =>
        runJob(deps, { ...call, message: call.message as JobMessage, deadline: Infinity });
      return handleMessages(JobMessage, (call) => Promise.race([invocation.crashed, run(call)]), event, this.#call({}));
    }
    const work = async (call: MessageCall<unknown, Uses>) => {
      const message = call.message as DeliveryMessage;
      const sleep = (milliseconds: number) => this.#pause(invocation, milliseconds);
      const ports = { ...process.attempts(message), isFirstQueue: queue === 'deliver', sleep };
      try {
        await Promise.race([invocation.crashed, attemptDelivery(ports, message, call)]);
      } finally {
        this.#invocations.get(invocation)!.ended++;
      }
    };
    return handleMessages(DeliveryMessage, work, event, this.#call({}));
  }

  #call<D>(deps: D) {
    return {
      deps,
      clock: this.#clock,
      newId: this.#newId,
      deadline: Date.now() + 60 * MINUTE,
      log: this.#log,
      measures: this.measures,
    };
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
      ({ answer }) =>
        finish(
          (answer as { batchItemFailures: { itemIdentifier: string }[] }).batchItemFailures.map(
            ({ itemIdentifier }) => itemIdentifier,
          ),
        ),
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
      if (!isSwept(String(gsi3pk))) return [];
      const kind = kindOf(String(gsi3pk));
      return [{ kind, at: Date.parse(String(gsi3sk).split('#')[0]!) + (kind === 'PENDING' ? RECONCILE_AFTER : 0) }];
    });
  }

  /**
   * Opens the ports of a simulated process. Each call through them can have a fault. The names of its table calls
   * begin with `prefix`.
   */
  #process(invocation: Invocation, prefix = '') {
    const send = (command: Command) =>
      invocation.call(`${prefix}${nameOf(command)}`, () => this.#send(command, invocation.trial));
    const table = new Table(asDocumentClient({ send }), TABLE_NAME, this.#clock);
    const secrets = {
      send: ({ input }: GetSecretValueCommand) =>
        invocation.call('GetSecretValue', async () => {
          requirePermission({ service: 'Secrets Manager', operation: 'GetSecretValue', input });
          return { SecretString: JSON.stringify({ current: '1', 1: 'k'.repeat(64) }) };
        }),
    } as unknown as SecretsManagerClient;
    const ring = new KeyRing(MASTER_KEY_SECRET_ARN, () => secrets);
    const box = new SecretBox(ring);
    const sender = (queue: QueueName): QueueSender =>
      new SqsSender(
        queue,
        () => ({
          send: ({ input }: SendMessageBatchCommand) =>
            invocation.call(`SendMessageBatch ${queue}`, async () => {
              requirePermission({ service: 'SQS', operation: 'SendMessageBatch', input });
              return this.#acceptMessages(queue, input.Entries ?? []);
            }),
        }),
        [0, 0, 0],
      );
    const deliveries = new DeliveryStore(table);
    const health = new EndpointHealthStore(table);
    const groups = new FirstAttemptStore(table);
    const outbox = new OutboxStore(table);
    const subscriptions = SubscriptionReader.of(table);
    const mailPorts = {
      table,
      clock: this.#clock,
      mails: new MailStore(table),
      queue: sender('mail'),
      timing: this.mailTiming,
    };
    const quotas = new MailQuotas(table, this.mailLimits);
    const entries = { table, jobs: new JobStore(table), jobQueue: sender('jobs'), clock: this.#clock };
    const inApp = fanOutInApp({
      ...mailPorts,
      notifications: new NotificationWriter(table),
    });
    const fanOut: FanOutPorts = {
      outbox,
      subscriptions,
      groups,
      firstQueue: sender('deliver'),
      timing: this.webhookTiming,
      consumers: [inApp, fanOutMails({ ...mailPorts, quotas, entries })],
    };
    const requests = new WebhookRequests(table, box, subscriptions, this.#clock);
    const endpoints = new EndpointDisabler(table);
    const attempts = (message: DeliveryMessage): Omit<AttemptPorts, 'isFirstQueue' | 'sleep'> => ({
      loader: new AttemptLoader(table, subscriptions),
      deliveries,
      groups,
      outbox,
      health,
      slots: new RateSlots(table),
      random: () => 0.5,
      yieldToEventLoop: async () => undefined,
      requestsWritten: async () => undefined,
      healthyEndpoints: new HealthyEndpoints(),
      requests: {
        prepare: async (key, content) => {
          const isDeleted = this.deletedEndpoints.has(key.endpointId);
          const prepared = await requests.prepare(key, content);
          if (isDeleted && prepared !== 'cancelled') this.lateAttempts++;
          return prepared;
        },
      },
      endpoints,
      retryQueue: sender('deliverSlow'),
      jobQueue: sender('jobs'),
      timing: this.webhookTiming,
      client: { post: (request) => invocation.call('POST', () => this.#post(message, request), true) },
      notifyOwner: async () => undefined,
    });
    const release: ReleasePorts = {
      parked: new ParkedDeliveryStore(table),
      deliveries,
      subscriptions: new SubscriptionReader(table),
      health,
      endpoints,
      notifyOwner: async () => undefined,
      retryQueue: sender('deliverSlow'),
      timing: this.webhookTiming,
    };
    const ses = {
      send: ({ input }: SendEmailCommand) =>
        invocation.call(
          'SendEmail',
          () => {
            requirePermission({ service: 'SESv2', operation: 'SendEmail', input });
            return this.#mail(String(input.EmailTags?.[0]?.Value));
          },
          true,
        ),
    } as unknown as SESv2Client;
    const composer = new MailComposer({
      table,
      box,
      clock: this.#clock,
      links: new UnsubscribeLinks(ring, 'https://api.test'),
      ses: new SesSender('no-reply@example.com', () => ses),
      sendGrid: () => {
        throw new Error('SendGrid is not configured');
      },
    });
    const sendMail = { ...mailPorts, composer, notifyOwner: ownerNotifier(mailPorts) };
    const collectEntries: CollectEntriesDeps = { ...mailPorts, quotas, pausedUntil: async () => undefined };
    return { table, box, sender, deliveries, groups, fanOut, attempts, release, collectEntries, sendMail };
  }

  /**
   * Calls the table. Sends written events to the stream. Written mails count in the trial of their events, and jobs that
   * collect entries in the trial of the process.
   */
  async #send(command: Command, trial: Trial | undefined): Promise<Item> {
    const written = writtenItems(command);
    const answer = (await this.stubs.table?.(command)) ?? (await this.#client.send(command));
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

  async #acceptMessages(queue: QueueName, entries: readonly SendMessageBatchRequestEntry[]) {
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

/** Returns the role of the worker that handles the messages of a queue. */
function roleFor(queue: QueueName): RunWithRole {
  if (queue === 'mail') return deliveryRoles.sendEmail;
  return queue === 'jobs' ? deliveryRoles.runJobs : deliveryRoles.deliverWebhook;
}

/** Runs the work of an invocation. Returns false if its process crashed or failed. */
async function hasSucceeded(invocation: Invocation, work: () => Promise<unknown>): Promise<boolean> {
  try {
    await Promise.race([invocation.crashed, work()]);
    return true;
  } catch {
    return false;
  }
}

/** Returns the items that a command writes. */
function writtenItems({ input }: Command): Item[] {
  const operations = (input.TransactItems as { Put?: Item }[] | undefined) ?? (input.Item ? [{ Put: input }] : []);
  return operations.flatMap(({ Put }) => (Put?.Item ? [Put.Item] : []));
}

/**
 * Returns the name of a call, by which faults and trials refer to it. It has the command, and the types of its items
 * or the kind of its partition.
 */
function nameOf(command: Command): string {
  const { input } = command;
  // All retries of a transaction have the same token, as in the SDK.
  if (input.TransactItems) input.ClientRequestToken ??= randomUUID();
  const objects = input.IndexName
    ? // Ids and numbers of shards are left out, because they differ between runs.
      [
        String(input.ExpressionAttributeValues?.[':pk'])
          .split('#')
          .find((part) => /^[A-Z]{2,}$/.test(part)),
      ]
    : [...new Set(writtenItems(command).map(({ _t }) => String(_t)))];
  return [command.constructor.name.replace('Command', ''), ...objects].join(' ');
}

/** Returns what kind of work a partition of the due index contains. */
function kindOf(partition: string): string {
  return partition.split('#')[1] ?? '';
}

/**
 * Returns whether the sweep reads a partition of the due index. Only jobs read the others, such as the parked
 * deliveries of an endpoint.
 */
function isSwept(partition: string): boolean {
  return ['DUE', 'FIRST', 'PENDING', 'MAILS', 'JOBS'].includes(kindOf(partition));
}
