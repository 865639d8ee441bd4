import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { parseSchedule, plan, type Timing } from '../webhooks/rules/schedule.ts';
import type { ReadyMail } from './rules/mail.ts';
import type { QueueMessage } from '../workers/sender.ts';

/** What a message about a mail says: which one. A hint; what is to be done, the stored mail says. */
export const MailMessage = z.object({ tenant: z.string(), mailId: z.string() });
export type MailMessage = z.output<typeof MailMessage>;

/** The message about a mail's next attempt, delayed until then; none when that is further away than SQS can delay. */
export function messageAboutMail(
  { tenant, mailId, nextAt }: Pick<ReadyMail, 'nextAt'> & MailMessage,
  now: number,
): QueueMessage[] {
  const { delaySeconds } = plan(nextAt, now, 0);
  return delaySeconds === undefined
    ? []
    : [{ body: { tenant, mailId } satisfies MailMessage, groupId: tenant, delaySeconds }];
}

/** When mails are attempted again, and when a message about one counts as lost. */
export const mailTiming: Capability<Timing> = {
  grants: [],
  env: ['MAIL_RETRY_SCHEDULE', 'DUE_MARGIN_SECONDS'],
  open: (env) => ({
    schedule: parseSchedule(env.MAIL_RETRY_SCHEDULE),
    marginMs: Number(env.DUE_MARGIN_SECONDS) * 1000,
  }),
};
