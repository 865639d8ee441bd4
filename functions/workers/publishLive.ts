import { defineWorker } from '../../lib/app/worker.ts';
import {
  publishChanges,
  publishChangesCapability,
  publishedJobs,
  publishedRemovals,
  publishedTypes,
} from '../../lib/live/publishChanges.ts';
import { toWorkerLambda } from '../../lib/workers/lambda.ts';

export const worker = defineWorker(
  {
    name: 'publishLive',
    summary: 'Pushes changes of documents to the users who are connected',
    on: { changes: publishedTypes, newJobs: publishedJobs, removals: publishedRemovals },
    uses: { live: publishChangesCapability },
    impact: 'connected users see changes late, or only after a reload',
    timeoutSeconds: 60,
    requires: 'live',
  },
  ({ records, deps, ...call }) => publishChanges(deps.live, records, call),
);

export const handler = toWorkerLambda(worker);
