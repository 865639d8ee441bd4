import { JobMessage } from '../../lib/jobs/jobStore.ts';
import { runJob } from '../../lib/jobs/runJob.ts';
import { runsJobs } from '../../lib/jobs/steps.ts';
import { toWorkerLambda } from '../../lib/workers/lambda.ts';
import { defineWorker } from '../../lib/app/worker.ts';

export const worker = defineWorker(
  {
    name: 'runJobs',
    summary: 'Does work that goes on after an answer: recovers messages, removes what is left of deleted things',
    on: { queue: 'jobs', message: JobMessage },
    uses: { runsJobs },
    impact: 'messages that customers recover are not sent, and what is left of deleted things stays',
    timeoutSeconds: 60,
  },
  async ({ deps, ...call }) => runJob(deps.runsJobs, call),
);

export const handler = toWorkerLambda(worker);
