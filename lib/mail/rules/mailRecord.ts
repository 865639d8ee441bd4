import * as z from 'zod';
import { warningDays } from '../../events/rules/endpointFailures.ts';
import {
  deliveryLifetime,
  marginAfter,
  nextAttemptAt,
  planAttempt,
  type Timing,
} from '../../workers/rules/schedule.ts';

/**
 * The status of a mail.
 * - READY: the mail waits for its next attempt.
 * - SENDING: a worker has claimed the mail for an attempt.
 * - SENT, FAILED, SKIPPED: the mail is final.
 * - UNKNOWN: the mail is final. The provider may have accepted it, and another attempt could send it twice.
 */
const mailStatuses = ['READY', 'SENDING', 'SENT', 'FAILED', 'SKIPPED', 'UNKNOWN'] as const;
export type MailStatus = (typeof mailStatuses)[number];

/** The reason for a mail: an event, or a failure that the owner of a workspace is informed about. */
export const MailSubject = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('event'), eventId: z.string(), event: z.string(), userId: z.string() }),
  z.object({
    kind: z.literal('endpointFailure'),
    endpointId: z.string(),
    url: z.string(),
    /** The number of days without a success, or `disabled` if the endpoint has just been disabled. */
    stage: z.literal([...warningDays, 'disabled']),
    /** The time of the first failure after the last success, epoch ms. */
    failingSince: z.number(),
  }),
  z.object({ kind: z.literal('providerFailure'), reason: z.string() }),
]);
export type MailSubject = z.output<typeof MailSubject>;

/** A mail to one person. Its address and text are not stored, but composed at the moment of sending. Times are epoch ms. */
export const MailRecord = z.object({
  mailId: z.string(),
  about: MailSubject,
  status: z.enum(mailStatuses),
  /** The number of attempts so far, without throttled ones. */
  attempts: z.number(),
  /** The number of throttled attempts in a row. */
  throttledAttempts: z.number(),
  /** The time of the next attempt. Only a READY mail has it. */
  nextAt: z.number().optional(),
  /**
   * When the sweep, which runs every minute, sends a message about the mail, unless a worker changes the mail before. Only a READY
   * or SENDING mail has it.
   */
  dueAt: z.number().optional(),
  /** The number of times that the sweep repeated the queue message of the next attempt. */
  sweeps: z.number(),
  /** No attempt begins after this time. */
  deadline: z.number(),
  /** The id that the worker generated for its attempt. Only a SENDING mail has it. */
  claim: z.string().optional(),
  /** The end of the worker's lease. Only a SENDING mail has it. */
  leaseUntil: z.number().optional(),
  /** The id that the provider gave the mail. Only a SENT mail has it. */
  messageId: z.string().optional(),
  /** The reason why the mail was not sent, in a few words. */
  reason: z.string().optional(),
  createdAt: z.number(),
  shard: z.number(),
});
export type MailRecord = z.output<typeof MailRecord>;

export type ReadyMail = MailRecord & { readonly status: 'READY'; readonly nextAt: number; readonly dueAt: number };
/** A mail that a worker has claimed. The worker's lease may have expired. */
export type SendingMail = MailRecord & {
  readonly status: 'SENDING';
  readonly claim: string;
  readonly leaseUntil: number;
};

/** The result of one attempt. */
export type MailResult =
  | { readonly outcome: 'sent'; readonly messageId: string }
  /** The provider does not accept more mails now. */
  | { readonly outcome: 'throttled'; readonly reason: string; readonly retryAfterSeconds?: number | undefined }
  /** The provider rejected the mail. `retry` is true if a later attempt can succeed. */
  | { readonly outcome: 'failed'; readonly reason: string; readonly retry: boolean }
  /** The provider rejected the tenant's key or sender address. */
  | { readonly outcome: 'denied'; readonly reason: string }
  /** The request was sent, and no response arrived. */
  | { readonly outcome: 'unknown'; readonly reason: string };

/** The time at which an attempt ended, and the settings for the next one. */
export interface AttemptEnd {
  readonly now: number;
  /** A random number from 0 to below 1. */
  readonly random: number;
  readonly timing: Timing;
}

/** The length of a lease, in milliseconds. Workers run for less time, so the worker of an expired lease has ended. */
const LEASE = 120_000;
const FIRST_PAUSE = 15_000;
const MAX_PAUSE_MILLISECONDS = 10 * 60_000;

/** Returns a new mail. Its first attempt is due at once, unless the schedule begins with a pause. */
export function newMail(of: Pick<MailRecord, 'mailId' | 'about' | 'shard'>, now: number, timing: Timing): ReadyMail {
  const { schedule } = timing;
  return {
    ...of,
    attempts: 0,
    throttledAttempts: 0,
    sweeps: 0,
    deadline: now + deliveryLifetime(schedule),
    createdAt: now,
    ...readyFields(now + (schedule[0] ?? 0), { now, timing }),
  };
}

export function isReadyMail(mail: MailRecord): mail is ReadyMail {
  return mail.status === 'READY';
}

export function isSendingMail(mail: MailRecord): mail is SendingMail {
  return mail.status === 'SENDING';
}

/** Returns the mail with a worker's claim. The attempt counts from now on, so it counts even if the worker crashes. */
export function claimMail({ nextAt: _, ...mail }: ReadyMail, claim: string, now: number): SendingMail {
  const leaseUntil = now + LEASE;
  return { ...mail, status: 'SENDING', attempts: mail.attempts + 1, sweeps: 0, claim, leaseUntil, dueAt: leaseUntil };
}

/** Returns the mail after an attempt. */
export function applyMailResult(mail: SendingMail, result: MailResult, end: AttemptEnd): MailRecord {
  switch (result.outcome) {
    case 'sent':
      return { ...endMail(mail, 'SENT'), messageId: result.messageId };
    case 'throttled':
      return postponeMail(mail, result, end);
    case 'failed':
      return result.retry ? retryMail(mail, result.reason, end) : endMail(mail, 'FAILED', result.reason);
    case 'denied':
      return endMail(mail, 'FAILED', result.reason);
    case 'unknown':
      return resolveUnknown(mail, result.reason, end);
  }
}

/**
 * Returns the mail after an attempt with an unknown result. Providers have no idempotency key, so another attempt could send the
 * mail twice. A mail about an event is therefore not sent again. A mail to an owner is sent again, because it reports a failure,
 * and a second copy does less harm than a lost report.
 */
export function resolveUnknown(mail: SendingMail, reason: string, end: AttemptEnd): MailRecord {
  return mail.about.kind === 'event' ? endMail(mail, 'UNKNOWN', reason) : retryMail(mail, reason, end);
}

/** Returns the mail with the next attempt of its schedule, or FAILED if no attempt remains. */
function retryMail(mail: SendingMail, reason: string, end: AttemptEnd): MailRecord {
  const { now, random, timing } = end;
  const nextAt = nextAttemptAt({ made: mail.attempts, now, deadline: mail.deadline, random }, timing.schedule);
  return nextAt === undefined
    ? endMail(mail, 'FAILED', reason)
    : { ...withoutClaim(mail), throttledAttempts: 0, reason, ...readyFields(nextAt, end) };
}

/**
 * Returns a throttled mail, whose attempt is repeated after a pause. The pause doubles each time, up to ten minutes. The mail is
 * FAILED if the pause would end after the deadline.
 */
function postponeMail(
  mail: SendingMail,
  { reason, retryAfterSeconds = 0 }: Extract<MailResult, { outcome: 'throttled' }>,
  end: AttemptEnd,
): MailRecord {
  const pause = FIRST_PAUSE * 2 ** Math.min(mail.throttledAttempts, 10) * (0.5 + end.random);
  const nextAt = Math.round(end.now + Math.min(Math.max(pause, retryAfterSeconds * 1000), MAX_PAUSE_MILLISECONDS));
  if (nextAt > mail.deadline) return endMail(mail, 'FAILED', reason);
  const counters = { attempts: mail.attempts - 1, throttledAttempts: mail.throttledAttempts + 1 };
  return { ...withoutClaim(mail), ...counters, reason, ...readyFields(nextAt, end) };
}

/** Returns the mail in a final status. */
export function endMail(
  mail: MailRecord,
  status: Exclude<MailStatus, 'READY' | 'SENDING'>,
  reason?: string,
): MailRecord {
  const { nextAt: _nextAt, dueAt: _dueAt, reason: _reason, ...ended } = withoutClaim(mail);
  return { ...ended, status, sweeps: 0, ...(reason !== undefined && { reason }) };
}

/**
 * Returns a due mail after a sweep that sends its queue message again. Each sweep doubles the time until the next one, because the
 * message may still wait in a long queue.
 */
export function rescheduleSweep<M extends ReadyMail | SendingMail>(mail: M, now: number, { marginMs }: Timing): M {
  const messageAt = isReadyMail(mail) ? mail.nextAt : now;
  const sweeps = messageAt <= now ? mail.sweeps + 1 : mail.sweeps;
  return { ...mail, sweeps, dueAt: Math.max(now, messageAt) + marginAfter(sweeps, marginMs) };
}

function readyFields(
  nextAt: number,
  { now, timing }: Omit<AttemptEnd, 'random'>,
): Pick<ReadyMail, 'status' | 'nextAt' | 'dueAt'> {
  return { status: 'READY', nextAt, dueAt: planAttempt(nextAt, now, timing.marginMs).dueAt };
}

function withoutClaim({
  claim: _claim,
  leaseUntil: _leaseUntil,
  ...unclaimed
}: MailRecord): Omit<MailRecord, 'claim' | 'leaseUntil'> {
  return unclaimed;
}
