import { deliver } from '../../lib/webhooks/attempt/deliver.ts';
import { delivers, deliveringWith } from '../../lib/webhooks/attempt/attemptContext.ts';
import { DeliveryMessage } from '../../lib/webhooks/deliveryMessage.ts';
import { sendTo } from '../../lib/workers/queues.ts';
import { toWorkerLambda } from '../../lib/workers/lambda.ts';
import { defineWorker } from '../../lib/app/worker.ts';

export const worker = defineWorker(
  {
    name: 'deliverWebhook',
    summary: 'Makes first attempts to deliver webhooks',
    on: { queue: 'deliver', message: DeliveryMessage },
    uses: { delivers, own: sendTo.deliver },
    impact: 'customers get webhooks late',
    timeoutSeconds: 30,
  },
  async (call) => deliver(deliveringWith(call, true)),
);

export const handler = toWorkerLambda(worker);
