import { outboxSweep } from '../../lib/events/sweepOutbox.ts';
import { jobSweep } from '../../lib/jobs/jobSweep.ts';
import { liveSessionSweep } from '../../lib/live/sweepSessions.ts';
import { mailSweep } from '../../lib/mail/mailSweep.ts';
import { presenceSweep } from '../../lib/presence/sweepPresence.ts';
import { deliverySweep, endpointHealthSweep } from '../../lib/webhooks/sweepDeliveries.ts';
import { runSweeps } from '../../lib/workers/sweep.ts';
import { toWorkerLambda } from '../../lib/workers/lambda.ts';
import { defineWorker } from '../../lib/app/worker.ts';

export const worker = defineWorker(
  {
    name: 'sweep',
    summary: 'Sends due deliveries, mails and jobs, and replaces lost queue messages',
    on: { every: 'minute' },
    uses: { deliverySweep, endpointHealthSweep, outboxSweep, jobSweep, mailSweep, presenceSweep, liveSessionSweep },
    impact: 'retries after pauses of more than 15 minutes are not made, and lost queue messages are not replaced',
    timeoutSeconds: 55,
  },
  async ({ deps, ...call }) => runSweeps(Object.values(deps), call),
);

export const handler = toWorkerLambda(worker);
