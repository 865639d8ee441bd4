import { building, type Capability } from '../app/capability.ts';
import { keepMails, type Kept, type MailStore } from './mailStore.ts';
import type { Timing } from '../webhooks/rules/schedule.ts';
import {
  abandoned,
  afterSending,
  claimed,
  ended,
  isReady,
  isSending,
  type MailRecord,
  type ReadyMail,
  type SendingMail,
} from './rules/mail.ts';
import { sendTo } from '../workers/queues.ts';
import type { QueueSender } from '../workers/sender.ts';
import type { MessageCall } from '../app/worker.ts';
import { type MailContents, mailContents } from './mailContents.ts';
import { type MailMessage, mailTiming, messageAboutMail } from './mailMessage.ts';
import { type NotifyOwner, notifyOwners } from './mailFanOut.ts';

export interface SendMailDeps {
  readonly mails: Pick<MailStore, 'get' | 'replace' | 'pause'>;
  readonly contents: Pick<MailContents, 'compose'>;
  /** The queue that the messages come from: for further attempts. */
  readonly queue: QueueSender;
  readonly timing: Timing;
  readonly notifyOwner: NotifyOwner;
}

/** A message about a mail, and everything to act on it. */
export interface SendingCall extends Pick<
  MessageCall<MailMessage, Record<never, never>>,
  'message' | 'clock' | 'newId' | 'log' | 'measures'
> {
  readonly deps: SendMailDeps;
  /** A number from 0 to 1. */
  readonly random: () => number;
}

/** How far before its time a message may be acted on: clocks differ. */
const EARLY = 5_000;

/**
 * What a message about a mail brings about (deliveries 2.12). The mail is claimed before it is sent, because no provider can be told to take
 * it once only: one that was being sent when its worker ended is not sent again if it is about an event. What the provider's or the customer's
 * side can cause is written down; it throws for faults of ours only, and then the message comes again.
 */
export async function sendMail(call: SendingCall): Promise<void> {
  const { deps, message, clock, random, log, measures } = call;
  const mail = await deps.mails.get(message);
  if (!mail) return;
  const now = clock();
  if (isSending(mail) && mail.leaseUntil <= now) return settle(call, mail, abandoned(mail, now, random(), deps.timing));
  if (!isReady(mail)) return;
  if (mail.nextAt > now + EARLY) return deps.queue.send(messageAboutMail(mail, now));
  if (now > mail.deadline) return settle(call, mail, ended(mail, 'FAILED', mail.reason ?? 'its time was over'));

  const composed = await deps.contents.compose(message.tenant, mail.mailId, mail.about);
  if ('skip' in composed) {
    log.info('mail skipped', {
      tenant: message.tenant,
      mailId: mail.mailId,
      kind: mail.about.kind,
      reason: composed.skip,
    });
    await settle(call, mail, ended(mail, 'SKIPPED', composed.skip));
    return composed.revision === undefined ? undefined : pause(call, composed.revision, composed.skip);
  }
  const mine = await claim(call, mail);
  if (!mine) return;
  const result = await composed.through.send(composed.mail);
  if (result.outcome !== 'sent')
    log.warn('mail not sent', {
      tenant: message.tenant,
      mailId: mail.mailId,
      kind: mail.about.kind,
      attempt: mine.attempts,
      outcome: result.outcome,
      reason: result.reason,
    });
  const next = afterSending(mine, result, clock(), random(), deps.timing);
  if (result.outcome === 'failed' && isReady(next)) measures.count('MailAttemptsFailed');
  await settle(call, mine, next);
  if (result.outcome === 'denied' && composed.revision !== undefined)
    await pause(call, composed.revision, result.reason);
}

/** Takes a mail into our hands; undefined when somebody else did. */
async function claim(
  { deps, message, clock, newId }: SendingCall,
  mail: Kept<ReadyMail>,
): Promise<Kept<SendingMail> | undefined> {
  const mark = newId('clm');
  const stored = await deps.mails.replace(mail, claimed(mail, mark, clock()));
  if (stored !== 'lost') return stored;
  // It may be ours after all: the SDK repeats a write whose answer was lost, and the repetition meets what the first one wrote.
  const there = await deps.mails.get(message);
  return there && isSending(there) && there.claim === mark ? there : undefined;
}

/** Writes what became of a mail, and sends the message about its next attempt where that is near. */
async function settle(
  { deps, message: { tenant }, clock, log, measures }: SendingCall,
  mail: Kept,
  next: MailRecord,
): Promise<void> {
  const stored = await deps.mails.replace(mail, next);
  if (stored === 'lost')
    return log.warn('mail was changed by another worker', { tenant, mailId: mail.mailId, status: next.status });
  if (stored.status === 'SENT') measures.count('MailsSent');
  if (stored.status === 'FAILED') measures.count('MailsFailed');
  if (stored.status === 'UNKNOWN') measures.count('MailsUnknown');
  // What is counted has its line, also where no attempt tells of it: of a mail whose time or whose worker's was over.
  if (stored.status === 'FAILED' || stored.status === 'UNKNOWN')
    log.warn('mail given up', {
      tenant,
      mailId: mail.mailId,
      kind: mail.about.kind,
      status: stored.status,
      reason: stored.reason,
    });
  if (isReady(stored)) await deps.queue.send(messageAboutMail(stored, clock()));
}

/** Nothing more goes to a provider that refuses the customer's key or sender, or lacks one; the owner is told once for this configuration. */
async function pause(
  { deps, message: { tenant }, clock, log }: SendingCall,
  revision: number,
  reason: string,
): Promise<void> {
  log.warn('e-mail pauses', { tenant, reason });
  await deps.mails.pause(tenant, revision, clock());
  await deps.notifyOwner(tenant, { kind: 'providerTrouble', reason }, [revision]);
}

/** Send mails. */
export const sendsMails: Capability<SendMailDeps> = /* @__PURE__ */ building(
  [keepMails, mailContents, sendTo.mail, mailTiming, notifyOwners],
  {
    grants: [],
    env: [],
    open: (env) => ({
      mails: keepMails.open(env),
      contents: mailContents.open(env),
      queue: sendTo.mail.open(env),
      timing: mailTiming.open(env),
      notifyOwner: notifyOwners.open(env),
    }),
  },
);
