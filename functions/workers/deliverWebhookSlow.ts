import { deliver } from '../../lib/webhooks/attempt/deliver.ts';
import { delivers, deliveringWith } from '../../lib/webhooks/attempt/attemptContext.ts';
import { DeliveryMessage } from '../../lib/webhooks/deliveryMessage.ts';
import { sendTo } from '../../lib/workers/queues.ts';
import { toWorkerLambda } from '../../lib/workers/lambda.ts';
import { defineWorker } from '../../lib/app/worker.ts';

export const worker = defineWorker(
  {
    name: 'deliverWebhookSlow',
    summary: 'Makes further attempts to deliver webhooks, and those that somebody asked for',
    on: { queue: 'deliverSlow', message: DeliveryMessage },
    uses: { delivers, own: sendTo.deliverSlow },
    impact: 'webhooks that failed before are repeated late',
    timeoutSeconds: 30,
  },
  async (call) => deliver(deliveringWith(call, false)),
);

export const handler = toWorkerLambda(worker);
