import { building, type Capability } from '../app/capability.ts';
import { notifyQueue } from '../webhooks/notifyQueue.ts';
import type { Log } from '../app/endpoint.ts';
import { sendTo } from '../workers/queues.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { jobMessage } from '../jobs/jobStore.ts';
import { openTable } from '../table/table.ts';
import { compact } from './compaction.ts';
import { DEBOUNCE_MS } from './debounce.ts';
import type { Changed } from './editorWriter.ts';
import * as logMessages from '../observability/logMessages.ts';

/**
 * Does what follows a change that is made: sends the message of the job that tells of it, and compacts the log when it has become long. Never
 * fails: the sweeper finds the job, and whoever makes the log as long again compacts it.
 */
export type FollowChange = (
  scope: DocumentScope,
  editorId: string,
  changed: Changed,
  now: number,
  log: Log,
) => Promise<void>;

export const followChange: Capability<FollowChange> = /* @__PURE__ */ building([sendTo.jobs], {
  grants: [{ resource: 'table', actions: ['Query', 'PutItem', 'BatchWriteItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => {
    const [table, jobs] = [openTable(env), sendTo.jobs.open(env)];
    return async (scope, editorId, { telling, compact: isDue }, now, log) => {
      await Promise.all([
        telling && notifyQueue(jobs, [jobMessage(telling, DEBOUNCE_MS / 1000)], log),
        isDue &&
          compact(table, scope, editorId, now).catch((error: unknown) =>
            log.error(logMessages.editorCompactionFailed, { error }),
          ),
      ]);
    };
  },
});
