import * as z from 'zod';
import { warningDays } from '../../webhooks/rules/autoDisable.ts';
import { lifetime, marginOf, nextAttempt, plan, type Timing } from '../../webhooks/rules/schedule.ts';

/**
 * What becomes of a mail. READY until it is sent, and again when an attempt failed that is made once more; SENDING in the hands of a worker;
 * then SENT, FAILED, SKIPPED because it is not to be sent any more, or UNKNOWN: the provider may have taken it or not, and it is not sent twice.
 */
export const mailStatuses = ['READY', 'SENDING', 'SENT', 'FAILED', 'SKIPPED', 'UNKNOWN'] as const;
export type MailStatus = (typeof mailStatuses)[number];

/** What a mail is about: an event, for one user; or what the owner of a workspace has to know. */
export const MailSubject = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('event'), eventId: z.string(), event: z.string(), userId: z.string() }),
  z.object({
    kind: z.literal('endpointTrouble'),
    endpointId: z.string(),
    url: z.string(),
    /** After how many days of failures the owner is warned; or that the endpoint is disabled now. */
    stage: z.literal([...warningDays, 'disabled']),
    /** The first failure that no success followed, epoch ms. */
    failingSince: z.number(),
  }),
  z.object({ kind: z.literal('providerTrouble'), reason: z.string() }),
]);
export type MailSubject = z.output<typeof MailSubject>;

/** A mail to one person: the truth of which messages are only hints. It has no address and no text: both are read when it is sent. Times are epoch ms. */
export const MailRecord = z.object({
  mailId: z.string(),
  about: MailSubject,
  status: z.enum(mailStatuses),
  /** How many attempts were begun; one that the provider put off does not count. */
  attempts: z.number(),
  /** How often the provider put it off, one time after the other. */
  putOff: z.number(),
  /** When the next attempt is to be made; while READY. */
  nextAt: z.number().optional(),
  /** When the sweeper looks after it; while READY or SENDING. */
  dueAt: z.number().optional(),
  /** How often the message for the next attempt seemed lost. */
  sweeps: z.number(),
  /** No attempt begins later than this. */
  deadline: z.number(),
  /** Who is at it, and until when nobody else touches it; while SENDING. */
  claim: z.string().optional(),
  leaseUntil: z.number().optional(),
  /** The provider's id of it, once that has taken it. */
  messageId: z.string().optional(),
  /** Why it was not sent, in a few words of ours. */
  reason: z.string().optional(),
  createdAt: z.number(),
  shard: z.number(),
});
export type MailRecord = z.output<typeof MailRecord>;

/** A mail that is to be sent. */
export type ReadyMail = MailRecord & { readonly status: 'READY'; readonly nextAt: number; readonly dueAt: number };
/** A mail that somebody is at, or was at and has ended. */
export type SendingMail = MailRecord & {
  readonly status: 'SENDING';
  readonly claim: string;
  readonly leaseUntil: number;
};

/** What came of an attempt. */
export type MailResult =
  | { readonly outcome: 'sent'; readonly messageId: string }
  /** The provider takes no more for now. */
  | { readonly outcome: 'putOff'; readonly reason: string; readonly retryAfterSeconds?: number | undefined }
  /** It was not taken; `again` when that can change by itself. */
  | { readonly outcome: 'failed'; readonly reason: string; readonly again: boolean }
  /** The provider does not take the tenant's key, or mails from the tenant's address. */
  | { readonly outcome: 'denied'; readonly reason: string }
  /** It was handed over, and then there was no answer. */
  | { readonly outcome: 'unknown'; readonly reason: string };

/** Longer than a worker lives, so that one whose lease is over has ended. */
const LEASE = 120_000;
const FIRST_PUT_OFF = 15_000;
const LONGEST_PUT_OFF = 10 * 60_000;

/** A new mail, whose first message is sent with it. */
export function newMail(of: Pick<MailRecord, 'mailId' | 'about' | 'shard'>, now: number, timing: Timing): ReadyMail {
  const { schedule } = timing;
  return {
    ...of,
    attempts: 0,
    putOff: 0,
    sweeps: 0,
    deadline: now + lifetime(schedule),
    createdAt: now,
    ...readyAt(now + (schedule[0] ?? 0), now, timing),
  };
}

export function isReady(mail: MailRecord): mail is ReadyMail {
  return mail.status === 'READY';
}

export function isSending(mail: MailRecord): mail is SendingMail {
  return mail.status === 'SENDING';
}

/** The mail in the hands of the one who sends it. The attempt counts from here on: one that ends its worker counts too. */
export function claimed(mail: ReadyMail, claim: string, now: number): SendingMail {
  const { nextAt: _nextAt, ...rest } = mail;
  const leaseUntil = now + LEASE;
  return { ...rest, status: 'SENDING', attempts: mail.attempts + 1, sweeps: 0, claim, leaseUntil, dueAt: leaseUntil };
}

/** The mail after an attempt that ended at `now`. `random` is from 0 to 1. */
export function afterSending(
  mail: SendingMail,
  result: MailResult,
  now: number,
  random: number,
  timing: Timing,
): MailRecord {
  switch (result.outcome) {
    case 'sent':
      return { ...ended(mail, 'SENT'), messageId: result.messageId };
    case 'putOff':
      return putOff(mail, result, now, random, timing);
    case 'failed':
      return result.again ? again(mail, result.reason, now, random, timing) : ended(mail, 'FAILED', result.reason);
    case 'denied':
      return ended(mail, 'FAILED', result.reason);
    case 'unknown':
      return ambiguous(mail, result.reason, now, random, timing);
  }
}

/** The mail of a worker that ended without a word, once its lease is over. */
export function abandoned(mail: SendingMail, now: number, random: number, timing: Timing): MailRecord {
  return ambiguous(mail, 'the worker ended while it was being sent', now, random, timing);
}

/**
 * A mail that may have been sent: providers have no way to say "once" (deliveries 2.12). About an event a mail too few is better than two of
 * them; what an owner has to know is better said twice.
 */
function ambiguous(mail: SendingMail, reason: string, now: number, random: number, timing: Timing): MailRecord {
  return mail.about.kind === 'event' ? ended(mail, 'UNKNOWN', reason) : again(mail, reason, now, random, timing);
}

/** The mail with its next attempt by the schedule; failed when there is none. */
function again(mail: SendingMail, reason: string, now: number, random: number, timing: Timing): MailRecord {
  const nextAt = nextAttempt({ made: mail.attempts, now, deadline: mail.deadline, random }, timing.schedule);
  return nextAt === undefined
    ? ended(mail, 'FAILED', reason)
    : { ...released(mail), putOff: 0, reason, ...readyAt(nextAt, now, timing) };
}

/** The mail with the same attempt later, up to ten minutes, each time twice as long; failed when its time is over by then. */
function putOff(
  mail: SendingMail,
  { reason, retryAfterSeconds = 0 }: Extract<MailResult, { outcome: 'putOff' }>,
  now: number,
  random: number,
  timing: Timing,
): MailRecord {
  const pause = FIRST_PUT_OFF * 2 ** Math.min(mail.putOff, 10) * (0.5 + random);
  const nextAt = Math.round(now + Math.min(Math.max(pause, retryAfterSeconds * 1000), LONGEST_PUT_OFF));
  if (nextAt > mail.deadline) return ended(mail, 'FAILED', reason);
  return {
    ...released(mail),
    attempts: mail.attempts - 1,
    putOff: mail.putOff + 1,
    reason,
    ...readyAt(nextAt, now, timing),
  };
}

/** The mail at its end. */
export function ended(mail: MailRecord, status: Exclude<MailStatus, 'READY' | 'SENDING'>, reason?: string): MailRecord {
  const { nextAt: _nextAt, dueAt: _dueAt, reason: _reason, ...rest } = released(mail);
  return { ...rest, status, sweeps: 0, ...(reason !== undefined && { reason }) };
}

/**
 * The mail after the sweeper found it due and sent its message. Each time that one seems lost the next look is twice as far away, as for
 * deliveries: it may wait in a long queue.
 */
export function swept<M extends ReadyMail | SendingMail>(mail: M, now: number, { marginMs }: Timing): M {
  const at = isReady(mail) ? mail.nextAt : now;
  const sweeps = at <= now ? mail.sweeps + 1 : mail.sweeps;
  return { ...mail, sweeps, dueAt: Math.max(now, at) + marginOf(sweeps, marginMs) };
}

function readyAt(nextAt: number, now: number, { marginMs }: Timing): Pick<ReadyMail, 'status' | 'nextAt' | 'dueAt'> {
  return { status: 'READY', nextAt, dueAt: plan(nextAt, now, marginMs).dueAt };
}

function released({
  claim: _claim,
  leaseUntil: _leaseUntil,
  ...rest
}: MailRecord): Omit<MailRecord, 'claim' | 'leaseUntil'> {
  return rest;
}
