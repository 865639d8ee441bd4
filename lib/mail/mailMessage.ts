import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { parseSchedule, planAttempt, type Timing } from '../workers/rules/schedule.ts';
import type { QueueMessage } from '../workers/sender.ts';
import type { ReadyMail } from './rules/mailRecord.ts';

export const MailMessage = z.object({ tenant: z.string(), mailId: z.string() });
export type MailMessage = z.output<typeof MailMessage>;

/** Empty if SQS cannot delay the message that long. The sweep then sends it. */
export function mailMessage(
  { tenant, mailId, nextAt }: Pick<ReadyMail, 'nextAt'> & MailMessage,
  now: number,
): QueueMessage[] {
  const { delaySeconds } = planAttempt(nextAt, now, 0);
  const body: MailMessage = { tenant, mailId };
  return delaySeconds === undefined ? [] : [{ body, groupId: tenant, delaySeconds }];
}

export const mailTiming: Capability<Timing> = {
  grants: [],
  env: ['MAIL_RETRY_SCHEDULE', 'DUE_MARGIN_SECONDS'],
  open: (env) => ({
    schedule: parseSchedule(env.MAIL_RETRY_SCHEDULE),
    marginMs: Number(env.DUE_MARGIN_SECONDS) * 1000,
  }),
};
