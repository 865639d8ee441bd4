import { defineWorker } from '../../lib/app/worker.ts';
import { outboxIndex } from '../../lib/fanOut/sweepOutbox.ts';
import { dueJobIndex } from '../../lib/jobs/jobStore.ts';
import { liveSessionSweep } from '../../lib/live/sweepSessions.ts';
import { dueMailIndex } from '../../lib/mail/mailStore.ts';
import { presenceSweep } from '../../lib/presence/sweepPresence.ts';
import { dueDeliveryIndex } from '../../lib/webhooks/deliveries.ts';
import { dueGroupIndex } from '../../lib/webhooks/firstAttempts.ts';
import { endpointHealthSweep } from '../../lib/webhooks/sweepDeliveries.ts';
import { readDueIndexes, sendDueShards } from '../../lib/workers/dueShards.ts';
import { toWorkerLambda } from '../../lib/workers/lambda.ts';
import * as sendTo from '../../lib/workers/sendTo.ts';
import { runSweeps } from '../../lib/workers/sweep.ts';

const indexes = {
  deliveries: dueDeliveryIndex,
  firstAttempts: dueGroupIndex,
  mails: dueMailIndex,
  jobs: dueJobIndex,
};

export const worker = defineWorker(
  {
    name: 'sweep',
    summary: 'Finds the shards with due deliveries, mails and jobs, and ends expired presences and live sessions',
    on: { every: 'minute' },
    uses: {
      reader: readDueIndexes,
      queue: sendTo.sweep,
      events: outboxIndex,
      endpointHealthSweep,
      presenceSweep,
      liveSessionSweep,
    },
    impact:
      'retries after pauses of more than 15 minutes are not made, lost queue messages are not replaced, and expired presence and live access do not end',
    timeoutSeconds: 55,
  },
  async ({ deps: { reader, queue, events, ...sweeps }, ...call }) =>
    runSweeps([sendDueShards({ reader, queue, indexes: { ...indexes, events } }), ...Object.values(sweeps)], call),
);

export const handler = toWorkerLambda(worker);
