import { countAgentRunsStep, purgeAgentStep } from '../../lib/agents/agentJobs.ts';
import { combine } from '../../lib/app/capability.ts';
import { defineWorker } from '../../lib/app/worker.ts';
import { findPauses } from '../../lib/chat/chatStore.ts';
import { purgeLeftover } from '../../lib/comments/deleteThreads.ts';
import { eraseUsersStep } from '../../lib/deletion/eraseUsersStep.ts';
import { purgeDocumentsStep } from '../../lib/deletion/purgeDocuments.ts';
import { purgeFolders } from '../../lib/deletion/purgeFolders.ts';
import { purgeOrganizationStep } from '../../lib/deletion/purgeOrganizations.ts';
import { removeUsersStep } from '../../lib/deletion/removeUsersStep.ts';
import { changeFoldersStep } from '../../lib/directory/folders/changeFoldersStep.ts';
import { emitEditorUpdateStep } from '../../lib/editors/emitEditorUpdate.ts';
import { keepVersionStep, versionMinute } from '../../lib/editors/versions/keepVersionStep.ts';
import { JobMessage, notifyJobs, type StepResult, type StoredJob, updateJobs } from '../../lib/jobs/jobStore.ts';
import { runJob, type RunJobDeps, type Step } from '../../lib/jobs/runJob.ts';
import { collectEntriesStep, collectsEntries } from '../../lib/mail/waiting/collectEntriesStep.ts';
import { migrateDocumentStep } from '../../lib/migration/migrateDocumentStep.ts';
import { endPresenceStep } from '../../lib/presence/endPresenceStep.ts';
import { MAX_DELAY_SECONDS } from '../../lib/shared/sqsLimits.ts';
import { tableWith } from '../../lib/table/storeCapability.ts';
import type { Table } from '../../lib/table/table.ts';
import { recoverStep, runRecoveries } from '../../lib/webhooks/recover.ts';
import { releaseParked, releaseParkedStep } from '../../lib/webhooks/releaseParked.ts';
import { toWorkerLambda } from '../../lib/workers/lambda.ts';
import * as sendTo from '../../lib/workers/sendTo.ts';

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
    minute: versionMinute,
    entries: collectsEntries,
    pausedUntil: findPauses,
  },
  ({ table, jobs, queue, recovery, parking, minute, entries, pausedUntil }): RunJobDeps => {
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
        migrateDocument: withTable(migrateDocumentStep),
        emitEditorUpdate: (job, clock, { log }) =>
          emitEditorUpdateStep(table, job, clock, {
            minute,
            notify: async ({ message, wait }) => {
              if (wait <= MAX_DELAY_SECONDS * 1_000) await notifyJobs(queue, [message], log, wait / 1_000);
            },
          }),
        keepEditorVersion: (job, clock, call) => keepVersionStep(table, job, clock, call),
        collectEntries: (job, _clock, call) => collectEntriesStep({ ...entries, pausedUntil }, job, call),
        endPresence: withTable(endPresenceStep),
        purgeAgent: withTable(purgeAgentStep),
        countAgentRuns: withTable(countAgentRunsStep),
      },
    };
  },
);

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
