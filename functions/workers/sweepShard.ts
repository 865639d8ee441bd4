import { defineWorker } from '../../lib/app/worker.ts';
import { outboxSweep } from '../../lib/fanOut/sweepOutbox.ts';
import { jobSweep } from '../../lib/jobs/jobSweep.ts';
import { mailSweep } from '../../lib/mail/mailSweep.ts';
import { deliverySweep, firstAttemptSweep } from '../../lib/webhooks/sweepDeliveries.ts';
import { toWorkerLambda } from '../../lib/workers/lambda.ts';
import { SweepMessage, sweepShard } from '../../lib/workers/sweep.ts';

export const worker = defineWorker(
  {
    name: 'sweepShard',
    summary: 'Sends due deliveries, mails and jobs of a shard, and replaces lost queue messages',
    on: { queue: 'sweep', message: SweepMessage },
    uses: {
      deliveries: deliverySweep,
      firstAttempts: firstAttemptSweep,
      events: outboxSweep,
      mails: mailSweep,
      jobs: jobSweep,
    },
    impact: 'retries after pauses of more than 15 minutes are not made, and lost queue messages are not replaced',
    timeoutSeconds: 55,
  },
  async ({ deps, message, sentAt, ...call }) => sweepShard(deps, message, sentAt, call),
);

export const handler = toWorkerLambda(worker);
