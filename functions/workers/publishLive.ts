import { defineWorker } from '../../lib/app/worker.ts';
import { liveHints } from '../../lib/kinds/liveHints.ts';
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
    on: {
      changes: publishedTypes(liveHints),
      newJobs: publishedJobs,
      removals: publishedRemovals(liveHints),
    },
    uses: { live: publishChangesCapability },
    impact: 'connected users see changes late, or only after a reload',
    timeoutSeconds: 60,
    requires: 'live',
  },
  ({ records, deps, ...call }) => publishChanges({ ...deps.live, hints: liveHints }, records, call),
);

export const handler = toWorkerLambda(worker);
