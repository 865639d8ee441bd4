import { building, type Capability } from '../app/capability.ts';
import { countAgentRunsStep, purgeAgentStep } from '../agents/agentJobs.ts';
import { purgeLeftover } from '../comments/deleteThreads.ts';
import { emitEditorUpdateStep } from '../editors/emitEditorUpdate.ts';
import { eraseUsersStep } from '../deletion/eraseUsersStep.ts';
import { changeFoldersStep } from '../directory/folders/changeFoldersStep.ts';
import { doJobs, type StepResult, type StoredJob } from './jobStore.ts';
import { purgeDocumentsStep } from '../deletion/purgeDocuments.ts';
import { purgeOrganizationStep } from '../deletion/purgeOrganizations.ts';
import { openTable, type Table } from '../table/table.ts';
import { removeUsersStep } from '../deletion/removeUsersStep.ts';
import { runRecoveries, recoverStep } from '../webhooks/recover.ts';
import { sendTo } from '../workers/queues.ts';
import type { RunJobDeps, Step } from './runJob.ts';

/** Run jobs of every kind. */
export const runsJobs: Capability<RunJobDeps> = /* @__PURE__ */ building([doJobs, sendTo.jobs, runRecoveries], {
  // What removals, changes of folders, tellings of editors and counts of agents take.
  grants: [
    { resource: 'table', actions: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'DeleteItem', 'BatchWriteItem'] },
    { resource: 'index/gsi1', actions: ['Query'] },
    { resource: 'index/gsi2', actions: ['Query'] },
  ],
  env: ['TABLE_NAME'],
  open: (env) => {
    const [table, recovery] = [openTable(env), runRecoveries.open(env)];
    const on =
      (step: (table: Table, job: StoredJob, clock: () => number) => Promise<StepResult>): Step =>
      (job, clock) =>
        step(table, job, clock);
    return {
      jobs: doJobs.open(env),
      queue: sendTo.jobs.open(env),
      steps: {
        async recoverDeliveries(job, clock) {
          const reached = await recoverStep(recovery, job, clock);
          return reached === 'done' ? 'done' : { progress: reached };
        },
        async removeRecords({ tenant, data }) {
          await purgeLeftover(table, tenant, JSON.parse(data));
          return 'done';
        },
        removeDocuments: on(purgeDocumentsStep),
        removeOrganization: on(purgeOrganizationStep),
        changeFolders: on(changeFoldersStep),
        removeUsers: on(removeUsersStep),
        eraseUsers: on(eraseUsersStep),
        emitEditorUpdate: on(emitEditorUpdateStep),
        removeAgent: on(purgeAgentStep),
        countAgentRuns: on(countAgentRunsStep),
      },
    };
  },
});
