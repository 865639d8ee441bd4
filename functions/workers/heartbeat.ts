import { defineWorker } from '../../lib/app/worker.ts';
import { heartbeat } from '../../lib/heartbeat/heartbeat.ts';
import * as logMessages from '../../lib/observability/logMessages.ts';
import { toWorkerLambda } from '../../lib/workers/lambda.ts';

export const worker = defineWorker(
  {
    name: 'heartbeat',
    summary: 'Writes and reads an organization through the public URL',
    on: { every: 'minute' },
    uses: { heartbeat },
    impact: 'an outage of the API is found only when calls of customers fail',
    timeoutSeconds: 30,
    requires: 'heartbeat',
  },
  async ({ deps, clock, log, measures }) => {
    try {
      await deps.heartbeat.check(clock());
    } catch (error) {
      // A failed check usually means that the API failed, so the run of this worker counts as successful. A separate
      // alarm watches the metric `HeartbeatsFailed`.
      measures.count('HeartbeatsFailed');
      log.error(logMessages.heartbeatFailed, { error });
    }
  },
);

export const handler = toWorkerLambda(worker);
