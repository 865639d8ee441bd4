import { defineWorker } from '../../lib/app/worker.ts';
import { MailMessage } from '../../lib/mail/mailMessage.ts';
import { mailSending, sendMail } from '../../lib/mail/sendMail.ts';
import { toWorkerLambda } from '../../lib/workers/lambda.ts';

export const worker = defineWorker(
  {
    name: 'sendEmail',
    summary: 'Sends event mails to users, and mails about failing endpoints to owners',
    on: { queue: 'mail', message: MailMessage },
    uses: { sendsMails: mailSending },
    impact: 'users and owners get no notification mails',
    timeoutSeconds: 60,
  },
  async ({ deps, ...call }) => sendMail({ ...call, deps: deps.sendsMails, random: Math.random }),
);

export const handler = toWorkerLambda(worker);
