import * as z from 'zod';
import { warningDays } from '../../webhooks/rules/autoDisable.ts';
import {
  deliveryLifetime,
  marginAfter,
  nextAttemptAt,
  planAttempt,
  type Timing,
} from '../../webhooks/rules/schedule.ts';

/**
 * READY: waits for its next attempt. SENDING: a worker holds the lease. SENT, FAILED and SKIPPED are final. UNKNOWN is final too: the provider may
 * or may not have accepted the mail, and a second attempt could send it twice.
 */
export const mailStatuses = ['READY', 'SENDING', 'SENT', 'FAILED', 'SKIPPED', 'UNKNOWN'] as const;
export type MailStatus = (typeof mailStatuses)[number];

/** The reason for a mail: an event, for one user; or something that the owner of a workspace must know. */
export const MailSubject = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('event'), eventId: z.string(), event: z.string(), userId: z.string() }),
  z.object({
    kind: z.literal('endpointTrouble'),
    endpointId: z.string(),
    url: z.string(),
    /** The number of days with failures only; or `disabled` when the endpoint is disabled now. */
    stage: z.literal([...warningDays, 'disabled']),
    /** The first failure since the last success, epoch ms. */
    failingSince: z.number(),
  }),
  z.object({ kind: z.literal('providerTrouble'), reason: z.string() }),
]);
export type MailSubject = z.output<typeof MailSubject>;

/** A mail to one person. It contains neither address nor text: both are read at the moment of sending. Times are epoch ms. */
export const MailRecord = z.object({
  mailId: z.string(),
  about: MailSubject,
  status: z.enum(mailStatuses),
  /** Attempts so far. Throttled attempts do not count. */
  attempts: z.number(),
  /** Consecutive throttled attempts. */
  putOff: z.number(),
  /** The time of the next attempt; while READY. */
  nextAt: z.number().optional(),
  /** The time at which the sweeper looks at the mail; while READY or SENDING. */
  dueAt: z.number().optional(),
  /** How often the sweeper repeated the queue message of the next attempt. */
  sweeps: z.number(),
  /** No attempt begins later. */
  deadline: z.number(),
  /** The id of the worker's claim, and the end of its lease; while SENDING. */
  claim: z.string().optional(),
  leaseUntil: z.number().optional(),
  /** The provider's id of the mail; once SENT. */
  messageId: z.string().optional(),
  /** Why the mail was not sent, in a few words. */
  reason: z.string().optional(),
  createdAt: z.number(),
  shard: z.number(),
});
export type MailRecord = z.output<typeof MailRecord>;

export type ReadyMail = MailRecord & { readonly status: 'READY'; readonly nextAt: number; readonly dueAt: number };
/** A mail with a claim. The lease may have expired. */
export type SendingMail = MailRecord & {
  readonly status: 'SENDING';
  readonly claim: string;
  readonly leaseUntil: number;
};

/** The result of one attempt. */
export type MailResult =
  | { readonly outcome: 'sent'; readonly messageId: string }
  /** The provider accepts no more mails for now. */
  | { readonly outcome: 'throttled'; readonly reason: string; readonly retryAfterSeconds?: number | undefined }
  /** The provider rejected the mail. `retry`: a later attempt can succeed. */
  | { readonly outcome: 'failed'; readonly reason: string; readonly retry: boolean }
  /** The provider rejected the tenant's key or sender address. */
  | { readonly outcome: 'denied'; readonly reason: string }
  /** The request was sent, and no answer came. */
  | { readonly outcome: 'unknown'; readonly reason: string };

/** The end of an attempt. */
export interface AttemptEnd {
  readonly now: number;
  /** From 0 to 1. */
  readonly random: number;
  readonly timing: Timing;
}

/** Longer than a worker can run: a worker whose lease has expired has ended. */
const LEASE = 120_000;
const FIRST_PAUSE = 15_000;
const LONGEST_PAUSE = 10 * 60_000;

/** Returns a new mail. Its first attempt is due at once, unless the schedule begins with a pause. */
export function newMail(of: Pick<MailRecord, 'mailId' | 'about' | 'shard'>, now: number, timing: Timing): ReadyMail {
  const { schedule } = timing;
  return {
    ...of,
    attempts: 0,
    putOff: 0,
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

/** Returns the mail with a worker's claim. The attempt counts from now on, also when the worker crashes. */
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
 * Returns a mail that may have been sent. Providers have no idempotency key. So the mail of an event is not sent again: a missing mail is better than
 * two. The mail to an owner is sent again.
 */
export function resolveUnknown(mail: SendingMail, reason: string, end: AttemptEnd): MailRecord {
  return mail.about.kind === 'event' ? endMail(mail, 'UNKNOWN', reason) : retryMail(mail, reason, end);
}

/** Returns the mail with its next attempt in the schedule; FAILED when the schedule is exhausted. */
function retryMail(mail: SendingMail, reason: string, end: AttemptEnd): MailRecord {
  const { now, random, timing } = end;
  const nextAt = nextAttemptAt({ made: mail.attempts, now, deadline: mail.deadline, random }, timing.schedule);
  return nextAt === undefined
    ? endMail(mail, 'FAILED', reason)
    : { ...withoutClaim(mail), putOff: 0, reason, ...readyFields(nextAt, end) };
}

/** Returns a throttled mail: the same attempt after a pause, which doubles each time up to ten minutes; FAILED when that is after the deadline. */
function postponeMail(
  mail: SendingMail,
  { reason, retryAfterSeconds = 0 }: Extract<MailResult, { outcome: 'throttled' }>,
  end: AttemptEnd,
): MailRecord {
  const pause = FIRST_PAUSE * 2 ** Math.min(mail.putOff, 10) * (0.5 + end.random);
  const nextAt = Math.round(end.now + Math.min(Math.max(pause, retryAfterSeconds * 1000), LONGEST_PAUSE));
  if (nextAt > mail.deadline) return endMail(mail, 'FAILED', reason);
  const counters = { attempts: mail.attempts - 1, putOff: mail.putOff + 1 };
  return { ...withoutClaim(mail), ...counters, reason, ...readyFields(nextAt, end) };
}

/** Returns the mail in a final status. */
export function endMail(
  mail: MailRecord,
  status: Exclude<MailStatus, 'READY' | 'SENDING'>,
  reason?: string,
): MailRecord {
  const { nextAt: _nextAt, dueAt: _dueAt, reason: _reason, ...rest } = withoutClaim(mail);
  return { ...rest, status, sweeps: 0, ...(reason !== undefined && { reason }) };
}

/**
 * Returns a due mail after the sweeper sent its queue message again. The next sweep is twice as late each time: the message may be in a long queue
 * and not lost.
 */
export function rescheduleSweep<M extends ReadyMail | SendingMail>(mail: M, now: number, { marginMs }: Timing): M {
  const at = isReadyMail(mail) ? mail.nextAt : now;
  const sweeps = at <= now ? mail.sweeps + 1 : mail.sweeps;
  return { ...mail, sweeps, dueAt: Math.max(now, at) + marginAfter(sweeps, marginMs) };
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
  ...rest
}: MailRecord): Omit<MailRecord, 'claim' | 'leaseUntil'> {
  return rest;
}
