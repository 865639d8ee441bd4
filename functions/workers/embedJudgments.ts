import { JobMessage } from '../../lib/jobs/jobStore.ts';
import { runJob } from '../../lib/jobs/runJob.ts';
import { runsEmbeddings } from '../../lib/memory/jobs/steps.ts';
import { toWorkerLambda } from '../../lib/workers/lambda.ts';
import { defineWorker } from '../../lib/app/worker.ts';

export const worker = defineWorker(
  {
    name: 'embedJudgments',
    summary: 'Makes vectors of judgments whose model did not answer, or that a model has none of yet',
    on: { queue: 'embed', message: JobMessage },
    uses: { runsEmbeddings },
    impact:
      'judgments that came while the embedding model did not answer are not found by their meaning, and a change of model does not get on',
    timeoutSeconds: 60,
  },
  async ({ deps, ...call }) => runJob<'embed'>(deps.runsEmbeddings, call),
);

export const handler = toWorkerLambda(worker);
