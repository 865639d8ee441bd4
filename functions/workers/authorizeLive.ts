import { defineWorker } from '../../lib/app/worker.ts';
import { authorizeLive } from '../../lib/live/authorize.ts';
import { toWorkerLambda } from '../../lib/workers/lambda.ts';

export const worker = defineWorker(
  {
    name: 'authorizeLive',
    summary: 'Decides for the push service who may connect, subscribe and publish',
    on: { authorizes: 'live' },
    uses: { authorizer: authorizeLive },
    impact: 'users cannot open live connections, and see changes only after a reload',
    // AppSync waits 10 s for the answer of an authorizer, so the function ends before that.
    timeoutSeconds: 9,
    requires: 'live',
  },
  ({ request, deps, clock }) => deps.authorizer.isAllowed(request, clock()),
);

export const handler = toWorkerLambda(worker);
