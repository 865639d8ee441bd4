import { defineWorker } from '../../lib/app/worker.ts';
import { attemptDelivery, attemptsFrom } from '../../lib/webhooks/attempt.ts';
import { DeliveryMessage } from '../../lib/webhooks/deliveryMessage.ts';
import { toWorkerLambda } from '../../lib/workers/lambda.ts';

export const worker = defineWorker(
  {
    name: 'deliverWebhookSlow',
    summary: 'Makes retries and resends of webhooks',
    on: { queue: 'deliverSlow', message: DeliveryMessage },
    uses: { attempts: attemptsFrom('deliverSlow') },
    impact: 'customers get retries and resends of webhooks late',
    timeoutSeconds: 30,
  },
  async ({ deps, message, ...call }) => attemptDelivery(deps.attempts, message, call),
);

export const handler = toWorkerLambda(worker);
