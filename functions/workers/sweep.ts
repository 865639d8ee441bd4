import { mailSweep } from '../../lib/mail/mailSweep.ts';
import { sweep, sweeps } from '../../lib/webhooks/sweep.ts';
import { toWorkerLambda } from '../../lib/workers/lambda.ts';
import { defineWorker } from '../../lib/app/worker.ts';

export const worker = defineWorker(
  {
    name: 'sweep',
    summary: 'Sends what is due, and finds what got lost on its way',
    on: { every: 'minute' },
    uses: { sweeps, mails: mailSweep },
    impact: 'webhooks are not repeated after more than 15 minutes, and what got lost on its way stays lost',
    timeoutSeconds: 55,
  },
  async ({ deps, ...call }) => sweep(deps.sweeps, call, [deps.mails]),
);

export const handler = toWorkerLambda(worker);
