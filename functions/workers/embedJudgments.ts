import { defineWorker } from '../../lib/app/worker.ts';
import { JobMessage } from '../../lib/jobs/jobStore.ts';
import { runJob } from '../../lib/jobs/runJob.ts';
import { runEmbeddingJobs } from '../../lib/memory/runEmbeddingJobs.ts';
import { toWorkerLambda } from '../../lib/workers/lambda.ts';

export const worker = defineWorker(
  {
    name: 'embedJudgments',
    summary: 'Computes vectors of judgments (review decisions) that have no vector of their embedding model yet',
    on: { queue: 'embed', message: JobMessage },
    uses: { runEmbeddingJobs },
    impact:
      'searches do not find judgments that were added while the embedding model did not answer, and changes of the embedding model are stalled',
    timeoutSeconds: 60,
  },
  async ({ deps, ...call }) => runJob<'embed'>(deps.runEmbeddingJobs, call),
);

export const handler = toWorkerLambda(worker);
