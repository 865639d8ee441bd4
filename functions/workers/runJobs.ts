import { defineWorker } from '../../lib/app/worker.ts';
import { JobMessage } from '../../lib/jobs/jobStore.ts';
import { runJob } from '../../lib/jobs/runJob.ts';
import { runsJobs } from '../../lib/jobs/steps.ts';
import { toWorkerLambda } from '../../lib/workers/lambda.ts';

export const worker = defineWorker(
  {
    name: 'runJobs',
    summary: 'Runs background jobs: recovers messages, releases parked deliveries, purges deleted data',
    on: { queue: 'jobs', message: JobMessage },
    uses: { runsJobs },
    impact:
      'recovered messages, and deliveries that waited for an endpoint, are not sent, and deleted data is not purged',
    timeoutSeconds: 60,
  },
  async ({ deps, ...call }) => runJob(deps.runsJobs, call),
);

export const handler = toWorkerLambda(worker);
