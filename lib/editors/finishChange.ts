import { type Capability, combine } from '../app/capability.ts';
import type { Log } from '../app/endpoint.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { notifyJobs } from '../jobs/jobStore.ts';
import { tableWith } from '../table/storeCapability.ts';
import * as logMessages from '../observability/logMessages.ts';
import * as sendTo from '../workers/sendTo.ts';
import { compactLog } from './compaction.ts';
import type { Changed } from './editorLog.ts';
import { DEBOUNCE_MS } from './eventJob.ts';

/**
 * Sends the message of the event job and compacts a long log, after a change. Never throws: the sweeper finds a job without a message,
 * and the next change that doubles the log compacts it.
 */
export type FinishChange = (
  scope: DocumentScope,
  editorId: string,
  changed: Changed,
  now: number,
  log: Log,
) => Promise<void>;

export const finishChange: Capability<FinishChange> = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['Query', 'PutItem', 'BatchWriteItem']), jobs: sendTo.jobs },
  ({ table, jobs }) =>
    async (scope, editorId, { eventJob, isDueForCompaction }, now, log) => {
      await Promise.all([
        eventJob && notifyJobs(jobs, [eventJob], log, DEBOUNCE_MS / 1000),
        isDueForCompaction &&
          compactLog(table, scope, editorId, now).catch((error: unknown) => {
            log.error(logMessages.editorCompactionFailed, { error });
          }),
      ]);
    },
);
