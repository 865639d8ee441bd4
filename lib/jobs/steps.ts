import { countAgentRunsStep, purgeAgentStep } from '../agents/agentJobs.ts';
import { combine } from '../app/capability.ts';
import { purgeLeftover } from '../comments/deleteThreads.ts';
import { eraseUsersStep } from '../deletion/eraseUsersStep.ts';
import { purgeDocumentsStep } from '../deletion/purgeDocuments.ts';
import { purgeFolders } from '../deletion/purgeFolders.ts';
import { purgeOrganizationStep } from '../deletion/purgeOrganizations.ts';
import { removeUsersStep } from '../deletion/removeUsersStep.ts';
import { changeFoldersStep } from '../directory/folders/changeFoldersStep.ts';
import { emitEditorUpdateStep } from '../editors/emitEditorUpdate.ts';
import { endPresenceStep } from '../presence/endPresenceStep.ts';
import { tableWith } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { recoverStep, runRecoveries } from '../webhooks/recover.ts';
import { releaseParked, releaseParkedStep } from '../webhooks/releaseParked.ts';
import * as sendTo from '../workers/sendTo.ts';
import { type StepResult, type StoredJob, updateJobs } from './jobStore.ts';
import type { RunJobDeps, Step } from './runJob.ts';

/** The steps, stores and queues for all jobs whose messages are in the queue `jobs`. */
export const runsJobs = /* @__PURE__ */ combine(
  {
    table: /* @__PURE__ */ tableWith(
      ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'DeleteItem', 'BatchWriteItem'],
      ['gsi1', 'gsi2'],
    ),
    jobs: updateJobs,
    queue: sendTo.jobs,
    recovery: runRecoveries,
    parking: releaseParked,
  },
  ({ table, jobs, queue, recovery, parking }): RunJobDeps => {
    const withTable =
      (step: (table: Table, job: StoredJob, clock: () => number) => Promise<StepResult>): Step =>
      (job, clock) =>
        step(table, job, clock);
    return {
      jobs,
      queue,
      steps: {
        async recoverDeliveries(job, clock) {
          const progress = await recoverStep(recovery, job, clock);
          return progress === 'done' ? 'done' : { progress };
        },
        releaseParked: (job, clock, call) => releaseParkedStep(parking, job, clock, call),
        async purgeLeftover({ tenant, data }) {
          await purgeLeftover(table, tenant, JSON.parse(data));
          return 'done';
        },
        purgeDocuments: withTable(purgeDocumentsStep),
        purgeOrganization: withTable(purgeOrganizationStep),
        changeFolders: (job, clock) => changeFoldersStep(table, job, clock, purgeFolders),
        removeUsers: withTable(removeUsersStep),
        eraseUsers: withTable(eraseUsersStep),
        emitEditorUpdate: withTable(emitEditorUpdateStep),
        endPresence: withTable(endPresenceStep),
        purgeAgent: withTable(purgeAgentStep),
        countAgentRuns: withTable(countAgentRunsStep),
      },
    };
  },
);
