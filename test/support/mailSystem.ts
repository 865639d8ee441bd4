import { environment } from '../../lib/app/capability.ts';
import { ChatComposer, chatComposer } from '../../lib/chat/chatComposer.ts';
import { fanOutChat } from '../../lib/chat/chatFanOut.ts';
import { secretBox } from '../../lib/crypto/secretBox.ts';
import { dueJobIndex, type JobMessage, JobStore, JobSweeper, type StoredJob } from '../../lib/jobs/jobStore.ts';
import { sweepDueJobs } from '../../lib/jobs/jobSweep.ts';
import { runJob, type RunJobDeps, type StepCall } from '../../lib/jobs/runJob.ts';
import { MailComposer, mailComposer } from '../../lib/mail/mailComposer.ts';
import { fanOutMails, ownerNotifier } from '../../lib/mail/mailFanOut.ts';
import type { MailMessage } from '../../lib/mail/mailMessage.ts';
import { dueMailIndex, MailEntity, MailStore, readMailPause, type StoredMail } from '../../lib/mail/mailStore.ts';
import { sweepMails } from '../../lib/mail/mailSweep.ts';
import { MailQuotas } from '../../lib/mail/quotas/mailQuotas.ts';
import { isChatMessage, type MailRecord, type MailResult } from '../../lib/mail/rules/mailRecord.ts';
import type { MailSender, OutgoingMail } from '../../lib/mail/senders/sender.ts';
import { SendGridSender } from '../../lib/mail/senders/sendGrid.ts';
import { type Composer, mailSending, sendMail } from '../../lib/mail/sendMail.ts';
import { unsubscribeLinks } from '../../lib/mail/unsubscribeLinks.ts';
import { collectEntriesStep } from '../../lib/mail/waiting/collectEntriesStep.ts';
import type { Collection } from '../../lib/mail/waiting/entryStore.ts';
import type { OccurredEvent } from '../../lib/notifications/audience.ts';
import { fanOutInApp } from '../../lib/notifications/inAppFanOut.ts';
import { NotificationWriter } from '../../lib/notifications/notifications.ts';
import * as logMessages from '../../lib/observability/logMessages.ts';
import { newId } from '../../lib/shared/ids.ts';
import { shardNumbers } from '../../lib/table/queryShards.ts';
import { openTable, type Table } from '../../lib/table/table.ts';
import type { QueueMessage } from '../../lib/workers/sender.ts';
import type { ShardSweep } from '../../lib/workers/sweep.ts';
import { nda, occurredEvents } from './content.ts';
import type { Customer } from './customer.ts';
import type { Engine } from './engine.ts';
import { itemsOfTenant } from './items.ts';
import { roleOf } from './permissions.ts';
import type { TestSlack } from './slack.ts';
import { recordingMeasures } from './workers.ts';

const MINUTE = 60_000;

const runWithRole = roleOf('sendEmail', [mailSending, mailComposer, chatComposer]);

export const person = (userId: string) => ({
  userId,
  name: userId[0]!.toUpperCase() + userId.slice(1),
  email: `${userId}@example.com`,
});

/** Returns functions that add a comment of Ada, which mentions Grace, and an answer of Bob, to the document `nda`. */
export function threadWriters(customer: Customer, commentText: string) {
  const comment = { commentText, from: person('ada'), taggedUserContacts: [{ userId: 'grace' }] };
  return {
    addThread: (thread: object = {}, changes: object = {}) =>
      customer.ok('/v2/commentannotations/add', {
        ...nda,
        commentAnnotations: [
          { annotationId: 'thread', commentData: [{ ...comment, triggerNotification: true, ...changes }], ...thread },
        ],
      }),
    reply: (changes: object = {}) =>
      customer.ok('/v2/commentannotations/comments/add', {
        ...nda,
        annotationId: 'thread',
        commentData: [{ commentText: 'Yes.', from: person('bob'), triggerNotification: true, ...changes }],
      }),
  };
}

/** The sending of one customer's mails on the real table. Tests control the queue, the time and SES. */
export class MailSystem {
  /** The simulated time in epoch milliseconds. */
  now = Date.now();
  readonly table: Table = openTable(environment(process.env));
  /** The sent queue messages, oldest first. */
  readonly queue: QueueMessage[] = [];
  /** Whether SQS rejects all messages. */
  isQueueDown = false;
  /** The mails that SES received. */
  readonly mails: OutgoingMail[] = [];
  /**
   * What SES does with the next mails, in order. All further mails are sent. If a function is given and throws, the
   * worker ends.
   */
  readonly results: (MailResult | (() => MailResult))[] = [];
  readonly measures = recordingMeasures();
  readonly skipped: unknown[] = [];
  /** The entries that were deleted without a mail. */
  readonly dropped: { readonly entries: number; readonly reasons: readonly string[] }[] = [];
  readonly warnings: object[] = [];
  /** Stands for Slack. Without it, nothing goes to Slack. */
  slack: TestSlack | undefined;
  /** The base URL of SendGrid. */
  sendGrid = 'http://127.0.0.1:9';
  /** The sender that uses SES. Undefined stands for a deployment without the setting `mailFrom`. */
  ses: MailSender | undefined = {
    send: async (mail) => {
      const result = this.results.shift() ?? { outcome: 'sent', messageId: `ses-${this.mails.length}` };
      this.mails.push(mail);
      return typeof result === 'function' ? result() : result;
    },
  };
  readonly timing = {
    schedule: [0, 60, 300, 1_800, 7_200, 21_600].map((seconds) => seconds * 1_000),
    marginMs: 300_000,
  };
  readonly store = new MailStore(this.table);

  readonly #engine: Engine;
  readonly #tenant: string;
  readonly #sender = {
    send: async (messages: readonly QueueMessage[]) => {
      if (this.isQueueDown) throw new Error('the queue is down');
      this.queue.push(...messages.filter(({ body }) => (body as MailMessage).tenant === this.#tenant));
    },
  };
  readonly #clock = () => this.now;
  readonly #ports = { mails: this.store, queue: this.#sender, timing: this.timing, clock: this.#clock };
  /** Tests of limits replace them. */
  limits = { recipient: 0, writer: 0 };
  /** The messages of jobs that collect entries, with the times from which SQS delivers them. */
  #jobMessages: { readonly at: number; readonly message: JobMessage }[] = [];
  readonly #jobs = new JobStore(this.table);
  readonly #jobSender = {
    send: async (messages: readonly QueueMessage[]) => {
      for (const { body, delaySeconds = 0 } of messages as (QueueMessage & { body: JobMessage })[])
        if (body.tenant === this.#tenant && body.jobId.startsWith('wte_'))
          this.#jobMessages.push({ at: this.now + delaySeconds * 1_000, message: body });
    },
  };
  readonly #log = {
    info: (message: string, keys?: Record<string, any>) => {
      if (message === logMessages.waitingEntriesDropped)
        this.dropped.push({ entries: keys?.entries, reasons: keys?.reasons });
      else this.skipped.push(keys?.reason);
    },
    warn: (message: string, keys?: Record<string, unknown>) => void this.warnings.push({ message, ...keys }),
    error: () => undefined,
  };

  constructor(engine: Engine, { apiKey }: Customer) {
    this.#engine = engine;
    this.#tenant = apiKey;
  }

  readonly notifyOwner = ownerNotifier(this.#ports);

  /** Writes the mails of all events of the customer in one batch. */
  async fanOut(): Promise<void> {
    for (const event of await occurredEvents(this.#engine, this.#tenant)) await this.consume(event);
  }

  /** Writes the mails and entries of an event. */
  async consume(event: OccurredEvent): Promise<void> {
    const { table } = this;
    const entries = { table, jobs: this.#jobs, jobQueue: this.#jobSender, clock: this.#clock };
    const quotas = new MailQuotas(table, this.limits);
    await fanOutMails({ ...this.#ports, table, quotas, entries })(this.#log).consume(event);
    if (this.slack) await fanOutChat({ ...this.#ports, table, entries })(this.#log).consume(event);
  }

  /** Writes the in-app notifications of all events of the customer. */
  async fanOutInApp(): Promise<void> {
    for (const event of await occurredEvents(this.#engine, this.#tenant)) await this.consumeInApp(event);
  }

  /** Writes the in-app notifications of an event. */
  async consumeInApp(event: OccurredEvent): Promise<void> {
    const notifications = new NotificationWriter(this.table);
    await fanOutInApp({ table: this.table, clock: this.#clock, notifications })().consume(event);
  }

  /** Runs the sweep of jobs, and then the jobs of entries whose time has come. */
  async runJobs(): Promise<void> {
    const sweep = sweepDueJobs({
      jobs: new JobSweeper(this.table),
      queues: { jobs: this.#jobSender, embed: this.#jobSender },
    });
    await this.#sweepShards(dueJobIndex.shards, sweep);
    const { table, timing } = this;
    const quotas = new MailQuotas(table, this.limits);
    const pausedUntil = ({ tenant }: Collection) => readMailPause(table, tenant, this.now);
    const deps = { table, quotas, queue: this.#sender, timing, clock: this.#clock, pausedUntil };
    const steps = {
      collectEntries: (job: StoredJob, _clock: unknown, call: StepCall) => collectEntriesStep(deps, job, call),
    };
    const ports = { jobs: this.#jobs, queue: this.#jobSender, steps: steps as unknown as RunJobDeps['steps'] };
    const due = this.#jobMessages.filter(({ at }) => at <= this.now);
    this.#jobMessages = this.#jobMessages.filter(({ at }) => at > this.now);
    for (const { message } of due) await runJob(ports, { ...this.#call, message });
  }

  /** Lets the time pass, and runs the jobs at their times. The sweep runs in each minute in which a job is due. */
  async passUntil(end: number): Promise<void> {
    for (;;) {
      await this.runJobs();
      await this.processQueue();
      const jobs = await this.jobs();
      const sweeps = jobs.map(({ dueAt }) => Math.max(this.now + 1, Math.ceil(dueAt / MINUTE) * MINUTE));
      const next = Math.min(...sweeps, ...this.#jobMessages.map(({ at }) => at));
      if (next > end) break;
      this.now = next;
    }
    this.now = end;
  }

  /** The jobs that collect entries. */
  async jobs(): Promise<(StoredJob & { readonly data: any })[]> {
    const items = (await itemsOfTenant(this.#engine, this.#tenant)) as any[];
    return items.filter(({ kind }) => kind === 'collectEntries').map((job) => ({ ...job, data: JSON.parse(job.data) }));
  }

  /** Processes one message. */
  async processMessage(message: MailMessage): Promise<void> {
    const env = environment(process.env);
    const { table, timing, now } = this;
    const mails = new MailComposer({
      table,
      box: secretBox.open(env),
      links: unsubscribeLinks.open(env),
      ses: this.ses,
      sendGrid: (account) => new SendGridSender(account, this.sendGrid, this.#clock),
      clock: this.#clock,
    });
    const chat =
      this.slack &&
      new ChatComposer({
        table,
        box: secretBox.open(env),
        slack: this.slack.client,
        notifyOwner: this.notifyOwner,
        clock: this.#clock,
      });
    const composer: Composer = {
      compose: (tenant, mailId, about) =>
        chat && isChatMessage(about) ? chat.compose(tenant, about) : mails.compose(tenant, mailId, about),
    };
    const deps = { mails: this.store, composer, queue: this.#sender, timing, notifyOwner: this.notifyOwner };
    const call = {
      deps,
      message,
      clock: this.#clock,
      newId: (prefix: string) => newId(prefix, now),
      log: this.#log,
      measures: this.measures,
      random: () => 0.5,
    };
    await runWithRole(() => sendMail(call));
  }

  /** Processes all messages without a delay, including those sent while it runs. Removes all others from the queue. */
  async processQueue(): Promise<void> {
    for (let message = this.queue.shift(); message; message = this.queue.shift()) {
      if (message.delaySeconds === 0) await this.processMessage(message.body as MailMessage);
    }
  }

  /** Writes the mails of all events and sends them. */
  async deliver(): Promise<void> {
    await this.fanOut();
    await this.processQueue();
  }

  /** Runs the sweep of mails once. */
  async sweep(): Promise<void> {
    const sweep = sweepMails({ mails: this.store, queue: this.#sender, timing: this.timing });
    await this.#sweepShards(dueMailIndex.shards, sweep);
  }

  async #sweepShards(shards: number, sweep: ShardSweep): Promise<void> {
    await Promise.all(shardNumbers(shards).map((shard) => sweep(shard, this.#call)));
  }

  get #call() {
    return { clock: this.#clock, deadline: this.now + 60_000, log: this.#log, measures: this.measures };
  }

  /** Returns the stored mails, ordered by user. */
  async stored(): Promise<(StoredMail & { about: any })[]> {
    const tenant = this.#tenant;
    const keys = (await itemsOfTenant(this.#engine, tenant)).filter(({ _t }) => _t === MailEntity.type);
    const mails = await Promise.all(keys.map(({ mailId }) => this.store.get({ tenant, mailId })));
    return (mails as (StoredMail & { about: any })[]).sort((a, b) =>
      String(a.about.userId) < String(b.about.userId) ? -1 : 1,
    );
  }

  /** Returns the state of each stored mail, by user. */
  async states(): Promise<Record<string, MailRecord['status']>> {
    return Object.fromEntries((await this.stored()).map(({ about, status }) => [about.userId ?? about.kind, status]));
  }

  /** The addresses of the mails that SES received. */
  get mailed(): string[] {
    return this.mails.map(({ to }) => to);
  }
}
