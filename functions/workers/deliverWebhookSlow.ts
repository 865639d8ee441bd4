import { attemptDelivery, attemptsFrom } from '../../lib/webhooks/attempt.ts';
import { DeliveryMessage } from '../../lib/webhooks/deliveryMessage.ts';
import { toWorkerLambda } from '../../lib/workers/lambda.ts';
import { defineWorker } from '../../lib/app/worker.ts';

export const worker = defineWorker(
  {
    name: 'deliverWebhookSlow',
    summary: 'Makes further attempts to deliver webhooks, and those that somebody asked for',
    on: { queue: 'deliverSlow', message: DeliveryMessage },
    uses: { attempts: attemptsFrom('deliverSlow') },
    impact: 'webhooks that failed before are repeated late',
    timeoutSeconds: 30,
  },
  async ({ deps, message, ...call }) => attemptDelivery(deps.attempts, message, call),
);

export const handler = toWorkerLambda(worker);
