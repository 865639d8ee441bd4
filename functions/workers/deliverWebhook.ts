import { defineWorker } from '../../lib/app/worker.ts';
import { attemptDelivery, attemptsFrom } from '../../lib/webhooks/attempt.ts';
import { DeliveryMessage } from '../../lib/webhooks/deliveryMessage.ts';
import { toWorkerLambda } from '../../lib/workers/lambda.ts';

export const worker = defineWorker(
  {
    name: 'deliverWebhook',
    summary: 'Makes first attempts to deliver webhooks',
    on: { queue: 'deliver', message: DeliveryMessage },
    uses: { attempts: attemptsFrom('deliver') },
    impact: 'customers get webhooks late',
    timeoutSeconds: 30,
  },
  async ({ deps, message, ...call }) => attemptDelivery(deps.attempts, message, call),
);

export const handler = toWorkerLambda(worker);
