import * as z from 'zod';
import { warningDays } from '../../events/rules/endpointFailures.ts';
import { InvitationRecord } from '../../invitations/rules.ts';
import {
  deliveryLifetime,
  marginAfter,
  nextAttemptAt,
  planAttempt,
  type Timing,
} from '../../workers/rules/schedule.ts';

/**
 * READY mails wait for an attempt. A worker has claimed a SENDING one. The others are final. The provider may have
 * accepted an UNKNOWN mail, and another attempt could send it twice. For a COLLECTED one there is an entry, and then a
 * digest.
 */
const mailStatuses = ['READY', 'SENDING', 'SENT', 'FAILED', 'SKIPPED', 'UNKNOWN', 'COLLECTED'] as const;
export type MailStatus = (typeof mailStatuses)[number];

export const messageChannels = ['email', 'slack'] as const;
export type MessageChannel = (typeof messageChannels)[number];
/** E-mail if it is absent. */
const Channel = z.enum(messageChannels).optional();

/** Direct messages, and posts in a channel, have credentials of their own. */
export const chatParts = ['direct', 'channel'] as const;
export type ChatPart = (typeof chatParts)[number];

/**
 * Internal ids of users by their ids, as they were when an activity happened: the recipient and those who acted. Another
 * person can get the id of an erased user.
 */
export const People = z.record(z.string(), z.string());
export type People = z.output<typeof People>;

export const MailSubject = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('event'), eventId: z.string(), event: z.string(), userId: z.string(), channel: Channel }),
  z.object({
    kind: z.literal('digest'),
    organizationId: z.string(),
    organizationKey: z.string(),
    userId: z.string(),
    channel: Channel,
    eventIds: z.array(z.string()),
    people: People.optional(),
  }),
  z.object({
    kind: z.literal('endpointFailure'),
    endpointId: z.string(),
    url: z.string(),
    /** Days without a success, or `disabled` if the endpoint has just been disabled. */
    stage: z.literal([...warningDays, 'disabled']),
    failingSince: z.number(),
  }),
  z.object({ kind: z.literal('providerFailure'), reason: z.string() }),
  z.object({ kind: z.literal('chatFailure'), part: z.enum(chatParts), reason: z.string() }),
  z.object({ kind: z.literal('channelPost'), eventId: z.string(), event: z.string() }),
  z.object({
    kind: z.literal('invitation'),
    organizationId: z.string(),
    organizationKey: z.string(),
    ...InvitationRecord.pick({ type: true, resourceKey: true, recipient: true }).shape,
  }),
]);
export type MailSubject = z.output<typeof MailSubject>;
export type OwnerSubject = Extract<MailSubject, { kind: 'endpointFailure' | 'providerFailure' | 'chatFailure' }>;
export type ChannelPostSubject = Extract<MailSubject, { kind: 'channelPost' }>;
export type EventSubject = Extract<MailSubject, { kind: 'event' }>;
export type DigestSubject = Extract<MailSubject, { kind: 'digest' }>;
export type InvitationSubject = Extract<MailSubject, { kind: 'invitation' }>;

/** Address and text are not stored, but composed at the moment of sending. Times are epoch ms. */
export const MailRecord = z.object({
  mailId: z.string(),
  about: MailSubject,
  status: z.enum(mailStatuses),
  attempts: z.number(),
  throttledAttempts: z.number(),
  nextAt: z.number().optional(),
  /** When the sweep repeats the message of a READY or SENDING mail, unless a worker changes the mail before. */
  dueAt: z.number().optional(),
  sweeps: z.number(),
  deadline: z.number(),
  /** Claim and lease belong to the worker of a SENDING mail. */
  claim: z.string().optional(),
  leaseUntil: z.number().optional(),
  /** The id that the provider gave a SENT mail. */
  messageId: z.string().optional(),
  reason: z.string().optional(),
  createdAt: z.number(),
  shard: z.number(),
});
export type MailRecord = z.output<typeof MailRecord>;

export type ReadyMail = MailRecord & { readonly status: 'READY'; readonly nextAt: number; readonly dueAt: number };
export type SendingMail = MailRecord & {
  readonly status: 'SENDING';
  readonly claim: string;
  readonly leaseUntil: number;
};

export type MailResult =
  | { readonly outcome: 'sent'; readonly messageId: string }
  | { readonly outcome: 'throttled'; readonly reason: string; readonly retryAfterSeconds?: number | undefined }
  | { readonly outcome: 'failed'; readonly reason: string; readonly retry: boolean }
  | { readonly outcome: 'denied'; readonly reason: string }
  | { readonly outcome: 'unknown'; readonly reason: string };

export interface AttemptEnd {
  readonly now: number;
  readonly random: number;
  readonly timing: Timing;
}

/** Workers run for less time, so the worker of an expired lease has ended. */
const LEASE = 120_000;
const FIRST_PAUSE = 15_000;
const MAX_PAUSE_MILLISECONDS = 10 * 60_000;

/** The first attempt is due at once, unless the schedule begins with a pause. */
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

/** `deadline` is the `joinsAt` of the waiting entry, which its key contains. Nothing is sent about it, except in a digest. */
export function collectedMail(
  of: Pick<MailRecord, 'mailId' | 'about' | 'shard'>,
  joinsAt: number,
  now: number,
): MailRecord {
  return {
    ...of,
    status: 'COLLECTED',
    attempts: 0,
    throttledAttempts: 0,
    sweeps: 0,
    deadline: joinsAt,
    createdAt: now,
  };
}

const ownerKinds: readonly string[] = [
  'endpointFailure',
  'providerFailure',
  'chatFailure',
] satisfies OwnerSubject['kind'][];

function isToOwner(about: MailSubject): about is OwnerSubject {
  return ownerKinds.includes(about.kind);
}

/** What is sent to Slack. */
export type ChatSubject = EventSubject | DigestSubject | ChannelPostSubject;

export function isChatMessage(about: MailSubject): about is ChatSubject {
  return about.kind === 'channelPost' || ('channel' in about && about.channel === 'slack');
}

export function isReadyMail(mail: MailRecord): mail is ReadyMail {
  return mail.status === 'READY';
}

export function isSendingMail(mail: MailRecord): mail is SendingMail {
  return mail.status === 'SENDING';
}

/** The attempt counts from now on, even if the worker crashes. */
export function claimMail({ nextAt: _, ...mail }: ReadyMail, claim: string, now: number): SendingMail {
  const leaseUntil = now + LEASE;
  return { ...mail, status: 'SENDING', attempts: mail.attempts + 1, sweeps: 0, claim, leaseUntil, dueAt: leaseUntil };
}

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

/** A mail to an owner is sent again: a second copy of a report does less harm than a lost one. */
export function resolveUnknown(mail: SendingMail, reason: string, end: AttemptEnd): MailRecord {
  return isToOwner(mail.about) ? retryMail(mail, reason, end) : endMail(mail, 'UNKNOWN', reason);
}

function retryMail(mail: SendingMail, reason: string, end: AttemptEnd): MailRecord {
  const { now, random, timing } = end;
  const nextAt = nextAttemptAt({ made: mail.attempts, now, deadline: mail.deadline, random }, timing.schedule);
  return nextAt === undefined
    ? endMail(mail, 'FAILED', reason)
    : { ...withoutClaim(mail), throttledAttempts: 0, reason, ...readyFields(nextAt, end) };
}

function postponeMail(
  mail: SendingMail,
  { reason, retryAfterSeconds = 0 }: Extract<MailResult, { outcome: 'throttled' }>,
  end: AttemptEnd,
): MailRecord {
  const pause = FIRST_PAUSE * 2 ** Math.min(mail.throttledAttempts, 10) * (0.5 + end.random);
  const nextAt = Math.round(end.now + Math.max(Math.min(pause, MAX_PAUSE_MILLISECONDS), retryAfterSeconds * 1000));
  if (nextAt > mail.deadline) return endMail(mail, 'FAILED', reason);
  const counters = { attempts: mail.attempts - 1, throttledAttempts: mail.throttledAttempts + 1 };
  return { ...withoutClaim(mail), ...counters, reason, ...readyFields(nextAt, end) };
}

export function endMail(
  mail: MailRecord,
  status: Exclude<MailStatus, 'READY' | 'SENDING'>,
  reason?: string,
): MailRecord {
  const { nextAt: _nextAt, dueAt: _dueAt, reason: _reason, ...ended } = withoutClaim(mail);
  return { ...ended, status, sweeps: 0, ...(reason !== undefined && { reason }) };
}

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
