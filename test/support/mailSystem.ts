import type { QueueName } from '../../lib/app/capability.ts';
import { slackClient } from '../../lib/chat/slackClient.ts';
import { secretBox } from '../../lib/crypto/secretBox.ts';
import { dueJobIndex, type JobMessage, type StoredJob } from '../../lib/jobs/jobStore.ts';
import { MailComposer } from '../../lib/mail/mailComposer.ts';
import type { NotifyOwner } from '../../lib/mail/mailFanOut.ts';
import type { MailMessage } from '../../lib/mail/mailMessage.ts';
import { dueMailIndex, MailEntity, MailStore, type StoredMail } from '../../lib/mail/mailStore.ts';
import type { MailRecord, MailResult } from '../../lib/mail/rules/mailRecord.ts';
import type { MailSender, OutgoingMail } from '../../lib/mail/senders/sender.ts';
import { type SendGridAccount, SendGridSender } from '../../lib/mail/senders/sendGrid.ts';
import { sesSender } from '../../lib/mail/senders/ses.ts';
import { unsubscribeLinks } from '../../lib/mail/unsubscribeLinks.ts';
import type { OccurredEvent } from '../../lib/notifications/audience.ts';
import * as logMessages from '../../lib/observability/logMessages.ts';
import { shardNumbers } from '../../lib/table/queryShards.ts';
import type { SweptWork } from '../../lib/workers/sweep.ts';
import { nda, occurredEvents } from './content.ts';
import type { Customer } from './customer.ts';
import type { Engine } from './engine.ts';
import { itemsOfTenant } from './items.ts';
import type { TestSlack } from './slack.ts';
import { type Deps, openWith, type SentMessage, type StandIn, type WorkerName, WorkerWorld } from './workerWorld.ts';

const MINUTE = 60_000;

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
export class MailSystem extends WorkerWorld {
  /** The sent queue messages, oldest first. */
  readonly queue: SentMessage[] = [];
  /** Whether SQS rejects all messages. */
  isQueueDown = false;
  /** The mails that SES received. */
  readonly mails: OutgoingMail[] = [];
  /**
   * What SES does with the next mails, in order. All further mails are sent. If a function is given and throws, the
   * worker ends.
   */
  readonly results: (MailResult | (() => MailResult))[] = [];
  readonly skipped: unknown[] = [];
  /** The entries that were deleted without a mail. */
  readonly dropped: { readonly entries: number; readonly reasons: readonly string[] }[] = [];
  readonly warnings: object[] = [];
  /** Stands for Slack. */
  slack: TestSlack | undefined;
  /** The base URL of SendGrid, which has no capability. */
  sendGrid: string | undefined;
  /** The sender that uses SES. Undefined stands for a deployment without the setting `mailFrom`. */
  ses: MailSender | undefined = {
    send: async (mail) => {
      const result = this.results.shift() ?? { outcome: 'sent', messageId: `ses-${this.mails.length}` };
      this.mails.push(mail);
      return typeof result === 'function' ? result() : result;
    },
  };
  readonly store = new MailStore(this.table);
  /** Tests of limits replace them. */
  limits = { recipient: 0, writer: 0 };

  readonly #engine: Engine;
  readonly #tenant: string;
  /** The messages of jobs that collect entries, with the times from which SQS delivers them. */
  #jobMessages: { readonly at: number; readonly message: JobMessage }[] = [];
  protected readonly log = {
    info: (message: string, keys?: Record<string, any>) => {
      if (message === logMessages.waitingEntriesDropped)
        this.dropped.push({ entries: keys?.entries, reasons: keys?.reasons });
      else this.skipped.push(keys?.reason);
    },
    warn: (message: string, keys?: Record<string, unknown>) => void this.warnings.push({ message, ...keys }),
    error: () => undefined,
  };

  constructor(engine: Engine, { apiKey }: Customer) {
    super();
    this.#engine = engine;
    this.#tenant = apiKey;
  }

  protected override get variables() {
    const { recipient, writer } = this.limits;
    return { MAILS_PER_RECIPIENT_PER_HOUR: String(recipient), MAILS_PER_WRITER_PER_HOUR: String(writer) };
  }

  protected override get standIns(): StandIn[] {
    return [[sesSender, this.ses], ...(this.slack ? [[slackClient, this.slack.client] as const] : [])];
  }

  protected override accept(queue: QueueName, message: SentMessage): void {
    if (this.isQueueDown) throw new Error('the queue is down');
    const { body, delaySeconds } = message;
    if (body.tenant !== this.#tenant) return;
    if (queue === 'mail') this.queue.push(message);
    if (queue === 'jobs' && body.jobId.startsWith('wte_'))
      this.#jobMessages.push({ at: this.now + delaySeconds * 1_000, message: body });
  }

  notifyOwner(...notice: Parameters<NotifyOwner>): Promise<void> {
    return this.runAs('sendEmail', () => this.open('sendEmail').sendsMails.notifyOwner(...notice));
  }

  /** Gives all events of the customer to the consumers of the fan-out, which write mails, messages and notifications. */
  async fanOut(): Promise<void> {
    for (const event of await occurredEvents(this.#engine, this.#tenant)) await this.consume(event);
  }

  async consume(event: OccurredEvent): Promise<void> {
    const { consumers } = this.open('fanOutEvents').fanOut;
    await this.runAs('fanOutEvents', async () => {
      for (const open of consumers) await open(this.log).consume(event);
    });
  }

  /** Runs the sweep of jobs, and then the jobs of entries whose time has come. */
  async runJobs(): Promise<void> {
    await this.#sweepShards('jobs', dueJobIndex.shards);
    const due = this.#jobMessages.filter(({ at }) => at <= this.now);
    this.#jobMessages = this.#jobMessages.filter(({ at }) => at > this.now);
    for (const { message } of due) await this.run('runJobs', { message });
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
    await this.run('sendEmail', { message });
  }

  override open<N extends WorkerName>(name: N): Deps<N> {
    const deps = super.open(name);
    if (!this.sendGrid || !('mails' in deps)) return deps;
    const { table, ses, sendGrid: base } = this;
    const parts = openWith({ box: secretBox, links: unsubscribeLinks }, [], process.env);
    const clock = () => this.now;
    const sendGrid = (account: SendGridAccount) => new SendGridSender(account, base, clock);
    return { ...deps, mails: new MailComposer({ ...parts, table, ses, sendGrid, clock }) };
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
  override async sweep(): Promise<void> {
    await this.#sweepShards('mails', dueMailIndex.shards);
  }

  async #sweepShards(work: SweptWork, shards: number): Promise<void> {
    const deps = this.open('sweepShard');
    await Promise.all(shardNumbers(shards).map((shard) => this.run('sweepShard', { message: { work, shard } }, deps)));
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
