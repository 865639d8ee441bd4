import { type Capability, combine } from '../app/capability.ts';
import { updateJobs } from '../jobs/jobStore.ts';
import type { RunJobDeps } from '../jobs/runJob.ts';
import * as sendTo from '../workers/sendTo.ts';
import { changeEmbeddingStep } from './changeEmbeddingStep.ts';
import { embedders } from './embedders.ts';
import { writeEmbeddings } from './embeddingStore.ts';
import { embedJudgmentsStep } from './embedJudgmentsStep.ts';

export const runEmbeddingJobs: Capability<RunJobDeps<'embed'>> = /* @__PURE__ */ combine(
  { jobs: updateJobs, queue: sendTo.embed, embedders, store: writeEmbeddings },
  ({ jobs, queue, embedders: models, store }): RunJobDeps<'embed'> => ({
    jobs,
    queue,
    steps: {
      embedJudgments: (job, clock) => embedJudgmentsStep(store, models, job, clock),
      changeEmbedding: (job, clock) => changeEmbeddingStep(store, models, job, clock),
    },
  }),
);
