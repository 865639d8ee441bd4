import { building, type Capability } from '../../app/capability.ts';
import { doJobs } from '../../jobs/jobStore.ts';
import { writesEmbeddings } from '../embeddings.ts';
import type { RunJobDeps } from '../../jobs/runJob.ts';
import { sendTo } from '../../workers/queues.ts';
import { embeds } from '../embedder.ts';
import { changeEmbeddingStep } from './changeEmbedding.ts';
import { embedJudgmentsStep } from './embedJudgments.ts';

/** Run the jobs that make vectors of judgments. */
export const runsEmbeddings: Capability<RunJobDeps<'embed'>> = /* @__PURE__ */ building(
  [doJobs, sendTo.embed, embeds, writesEmbeddings],
  {
    grants: [],
    env: [],
    open: (env) => {
      const deps = { store: writesEmbeddings.open(env), embedders: embeds.open(env) };
      return {
        jobs: doJobs.open(env),
        queue: sendTo.embed.open(env),
        steps: {
          embedJudgments: (job, clock) => embedJudgmentsStep(deps, job, clock),
          changeEmbedding: (job, clock) => changeEmbeddingStep(deps, job, clock),
        },
      };
    },
  },
);
