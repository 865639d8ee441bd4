import { building, type Capability } from '../app/capability.ts';
import { findDueMails, type Kept, mailShards, type MailStore } from './mailStore.ts';
import type { Timing } from '../webhooks/rules/schedule.ts';
import { isReady, type ReadyMail, type SendingMail, swept } from './rules/mail.ts';
import { inParallel } from '../shared/inParallel.ts';
import { sendTo } from '../workers/queues.ts';
import type { QueueSender } from '../workers/sender.ts';
import { mailTiming, messageAboutMail } from './mailMessage.ts';
import { ofShards, type Sweep } from '../webhooks/sweep.ts';

export interface MailSweepDeps {
  readonly mails: Pick<MailStore, 'due' | 'replace'>;
  /** The queue of mails. */
  readonly queue: QueueSender;
  readonly timing: Timing;
}

/** Writes of a shard at a time. */
const PARALLEL = 8;

/**
 * Sends the messages of mails that are due: whose time comes or whose message was lost, and those whose worker ended while it sent them. Each is
 * put off first, by what was read of it, as deliveries are.
 */
export function sweepMails({ mails, queue, timing }: MailSweepDeps): Sweep {
  return async (call) => {
    const startedAt = call.clock();
    await ofShards(
      mailShards,
      call,
      async (shard, options) => {
        const { mails: values, next } = await mails.due(shard, startedAt, options);
        return { values, next };
      },
      async (values) => {
        const now = call.clock();
        const ours: Kept<ReadyMail | SendingMail>[] = [];
        await inParallel(values, PARALLEL, async (mail) => {
          const stored = await mails.replace(mail, swept(mail, now, timing));
          if (stored !== 'lost') ours.push(stored);
        });
        await queue.send(
          ours.flatMap((mail) => messageAboutMail({ ...mail, nextAt: isReady(mail) ? mail.nextAt : now }, now)),
        );
      },
    );
  };
}

/** Sweep mails. */
export const mailSweep: Capability<Sweep> = /* @__PURE__ */ building([findDueMails, sendTo.mail, mailTiming], {
  grants: [],
  env: [],
  open: (env) =>
    sweepMails({ mails: findDueMails.open(env), queue: sendTo.mail.open(env), timing: mailTiming.open(env) }),
});
