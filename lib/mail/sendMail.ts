import { type Capability, combine, type Uses } from '../app/capability.ts';
import type { MessageCall } from '../app/worker.ts';
import * as logMessages from '../observability/logMessages.ts';
import type { Timing } from '../workers/rules/schedule.ts';
import type { QueueSender } from '../workers/sender.ts';
import * as sendTo from '../workers/sendTo.ts';
import type { ComposedMail } from './mailComposer.ts';
import { type NotifyOwner, notifyOwners } from './mailFanOut.ts';
import { type MailMessage, mailMessage, mailTiming } from './mailMessage.ts';
import { type MailStore, type StoredMail, updateMails } from './mailStore.ts';
import {
  applyMailResult,
  claimMail,
  endMail,
  isChatMessage,
  isReadyMail,
  isSendingMail,
  type MailRecord,
  type MailSubject,
  type ReadyMail,
  resolveUnknown,
  type SendingMail,
} from './rules/mailRecord.ts';

export interface Composer {
  compose(tenant: string, mailId: string, about: MailSubject): Promise<ComposedMail>;
}

export interface SendMailDeps {
  readonly mails: Pick<MailStore, 'get' | 'replace' | 'pause'>;
  readonly composer: Composer;
  readonly queue: QueueSender;
  readonly timing: Timing;
  readonly notifyOwner: NotifyOwner;
}

export interface SendMailCall extends Pick<
  MessageCall<MailMessage, Uses>,
  'message' | 'clock' | 'newId' | 'log' | 'measures'
> {
  readonly deps: SendMailDeps;
  readonly random: () => number;
}

/** A message this early counts as due, because clocks differ. */
const EARLY = 5_000;

/**
 * The claim precedes the sending, because providers have no idempotency key. Throws only on internal errors, after
 * which SQS redelivers the message.
 */
export async function sendMail(call: SendMailCall): Promise<void> {
  const { deps, message, clock, random, log, measures } = call;
  const { timing } = deps;
  const mail = await deps.mails.get(message);
  if (!mail) return;
  const now = clock();
  if (isSendingMail(mail) && mail.leaseUntil <= now) {
    const end = { now, random: random(), timing };
    return recordOutcome(call, mail, resolveUnknown(mail, 'the worker ended while it was sending the mail', end));
  }
  if (!isReadyMail(mail)) return;
  if (mail.nextAt > now + EARLY) return deps.queue.send(mailMessage(mail, now));
  if (now > mail.deadline)
    return recordOutcome(call, mail, endMail(mail, 'FAILED', mail.reason ?? 'the deadline has passed'));

  const keys = { tenant: message.tenant, mailId: mail.mailId, kind: mail.about.kind };
  const composed = await deps.composer.compose(message.tenant, mail.mailId, mail.about);
  if ('skip' in composed) {
    log.info(logMessages.mailSkipped, { ...keys, reason: composed.skip });
    await recordOutcome(call, mail, endMail(mail, 'SKIPPED', composed.skip));
    return composed.revision === undefined ? undefined : pauseMails(call, composed.revision, composed.skip);
  }
  const claimed = await claimForSending(call, mail);
  if (!claimed) return;
  const result = await composed.send();
  if (result.outcome !== 'sent')
    log.warn(logMessages.mailAttemptFailed, {
      ...keys,
      attempt: claimed.attempts,
      outcome: result.outcome,
      reason: result.reason,
    });
  const next = applyMailResult(claimed, result, { now: clock(), random: random(), timing });
  if (result.outcome === 'failed' && isReadyMail(next)) measures.count(countersOf(mail.about).attemptsFailed);
  await recordOutcome(call, claimed, next);
  if (result.outcome === 'denied' && composed.revision !== undefined)
    await pauseMails(call, composed.revision, result.reason);
}

async function claimForSending(
  { deps, clock, newId }: SendMailCall,
  mail: StoredMail<ReadyMail>,
): Promise<StoredMail<SendingMail> | undefined> {
  const stored = await deps.mails.replace(mail, claimMail(mail, newId('clm'), clock()));
  return stored === 'lost' ? undefined : stored;
}

async function recordOutcome(
  { deps, message: { tenant }, clock, log, measures }: SendMailCall,
  mail: StoredMail,
  next: MailRecord,
): Promise<void> {
  const { mailId } = mail;
  const stored = await deps.mails.replace(mail, next);
  if (stored === 'lost') {
    log.warn(logMessages.mailClaimLost, { tenant, mailId, status: next.status });
    return;
  }
  const { status, reason } = stored;
  const counters = countersOf(mail.about);
  if (status === 'SENT') measures.count(counters.sent);
  if (status === 'FAILED') measures.count(counters.failed);
  if (status === 'UNKNOWN') measures.count(counters.unknown);
  if (status === 'FAILED' || status === 'UNKNOWN')
    log.warn(logMessages.mailFailed, { tenant, mailId, kind: mail.about.kind, status, reason });
  if (isReadyMail(stored)) await deps.queue.send(mailMessage(stored, clock()));
}

const mailCounters = {
  sent: 'MailsSent',
  failed: 'MailsFailed',
  attemptsFailed: 'MailAttemptsFailed',
  unknown: 'MailOutcomesUnknown',
} as const;
const chatCounters = {
  sent: 'ChatMessagesSent',
  failed: 'ChatMessagesFailed',
  attemptsFailed: 'ChatAttemptsFailed',
  unknown: 'ChatOutcomesUnknown',
} as const;

function countersOf(about: MailSubject) {
  return isChatMessage(about) ? chatCounters : mailCounters;
}

/** Notifies the owner once per revision of the configuration. */
async function pauseMails(
  { deps, message: { tenant }, clock, log }: SendMailCall,
  revision: number,
  reason: string,
): Promise<void> {
  log.warn(logMessages.mailProviderPaused, { tenant, reason });
  await deps.mails.pause(tenant, revision, clock());
  await deps.notifyOwner(tenant, { kind: 'providerFailure', reason }, [revision]);
}

export const mailSending: Capability<Omit<SendMailDeps, 'composer'>> = /* @__PURE__ */ combine({
  mails: updateMails,
  queue: sendTo.mail,
  timing: mailTiming,
  notifyOwner: notifyOwners,
});
