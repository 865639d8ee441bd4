import { type Capability, combine } from '../app/capability.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { Timing } from '../workers/rules/schedule.ts';
import type { QueueSender } from '../workers/sender.ts';
import * as sendTo from '../workers/sendTo.ts';
import { type ShardSweep, sweepPages } from '../workers/sweep.ts';
import { mailMessage, mailTiming } from './mailMessage.ts';
import { findDueMails, type MailStore, type StoredMail } from './mailStore.ts';
import { isReadyMail, type ReadyMail, rescheduleSweep, type SendingMail } from './rules/mailRecord.ts';

export interface MailSweepDeps {
  readonly mails: Pick<MailStore, 'listDue' | 'replace'>;
  readonly queue: QueueSender;
  readonly timing: Timing;
}

const PARALLEL = 8;

/** Repeats the messages of due mails after a conditional write, so one of several simultaneous sweeps sends each. */
export function sweepMails({ mails, queue, timing }: MailSweepDeps): ShardSweep {
  return async (shard, call) => {
    const startedAt = call.clock();
    await sweepPages(
      call,
      (options) => mails.listDue(shard, startedAt, options),
      async (values) => {
        const now = call.clock();
        const rescheduled: StoredMail<ReadyMail | SendingMail>[] = [];
        await inParallel(values, PARALLEL, async (mail) => {
          const stored = await mails.replace(mail, rescheduleSweep(mail, now, timing));
          if (stored !== 'lost') rescheduled.push(stored);
        });
        await queue.send(
          rescheduled.flatMap((mail) => mailMessage({ ...mail, nextAt: isReadyMail(mail) ? mail.nextAt : now }, now)),
        );
      },
    );
  };
}

export const mailSweep: Capability<ShardSweep> = /* @__PURE__ */ combine(
  { mails: findDueMails, queue: sendTo.mail, timing: mailTiming },
  sweepMails,
);
