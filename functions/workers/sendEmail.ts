import { defineWorker } from '../../lib/app/worker.ts';
import { chatComposer } from '../../lib/chat/chatComposer.ts';
import { mailComposer } from '../../lib/mail/mailComposer.ts';
import { MailMessage } from '../../lib/mail/mailMessage.ts';
import { isChatMessage } from '../../lib/mail/rules/mailRecord.ts';
import { type Composer, mailSending, sendMail } from '../../lib/mail/sendMail.ts';
import { toWorkerLambda } from '../../lib/workers/lambda.ts';

export const worker = defineWorker(
  {
    name: 'sendEmail',
    summary: 'Sends event mails and messages in Slack to users, and mails about failures to owners',
    on: { queue: 'mail', message: MailMessage },
    uses: { sendsMails: mailSending, mails: mailComposer, chat: chatComposer },
    impact: 'users and owners get no notification mails, and no messages in Slack',
    timeoutSeconds: 60,
  },
  async ({ deps: { sendsMails, mails, chat }, ...call }) => {
    const composer: Composer = {
      compose: (tenant, mailId, about) =>
        isChatMessage(about) ? chat.compose(tenant, about) : mails.compose(tenant, mailId, about),
    };
    await sendMail({ ...call, deps: { ...sendsMails, composer }, random: Math.random });
  },
);

export const handler = toWorkerLambda(worker);
