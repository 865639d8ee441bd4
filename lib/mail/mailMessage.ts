import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { parseSchedule, planAttempt, type Timing } from '../workers/rules/schedule.ts';
import type { QueueMessage } from '../workers/sender.ts';
import type { ReadyMail } from './rules/mailRecord.ts';

/** A queue message about a mail. It contains only ids, because the state is in the table. */
export const MailMessage = z.object({ tenant: z.string(), mailId: z.string() });
export type MailMessage = z.output<typeof MailMessage>;

/**
 * Returns the message about a mail's next attempt, delayed until `nextAt` (epoch ms). Returns no message if SQS cannot delay it
 * that long. The sweep, which runs every minute, then sends it later.
 */
export function mailMessage(
  { tenant, mailId, nextAt }: Pick<ReadyMail, 'nextAt'> & MailMessage,
  now: number,
): QueueMessage[] {
  const { delaySeconds } = planAttempt(nextAt, now, 0);
  const body: MailMessage = { tenant, mailId };
  return delaySeconds === undefined ? [] : [{ body, groupId: tenant, delaySeconds }];
}

/** The retry schedule of mails, and the margin after which a queue message counts as lost. */
export const mailTiming: Capability<Timing> = {
  grants: [],
  env: ['MAIL_RETRY_SCHEDULE', 'DUE_MARGIN_SECONDS'],
  open: (env) => ({
    schedule: parseSchedule(env.MAIL_RETRY_SCHEDULE),
    marginMs: Number(env.DUE_MARGIN_SECONDS) * 1000,
  }),
};
