import { defineWorker } from '../../lib/app/worker.ts';
import { EventEntity, toInsertedEvent } from '../../lib/events/outbox.ts';
import { fanOut, fanOutCapability } from '../../lib/fanOut/fanOut.ts';
import { toWorkerLambda } from '../../lib/workers/lambda.ts';

export const worker = defineWorker(
  {
    name: 'fanOutEvents',
    summary: 'Finds the receivers of new events and starts their first attempts',
    on: { inserts: [EventEntity.type] },
    uses: { fanOut: fanOutCapability },
    impact: 'customers get webhooks, mails and notifications minutes late',
    timeoutSeconds: 60,
  },
  async ({ records, deps, ...call }) => {
    const events = records.flatMap(({ id, item }) => {
      const event = toInsertedEvent(item, call.clock());
      return event ? [{ id, event }] : [];
    });
    const failedIds = await fanOut(
      deps.fanOut,
      events.map(({ event }) => event),
      call,
    );
    return events.filter(({ event }) => failedIds.has(event.eventId)).map(({ id }) => id);
  },
);

export const handler = toWorkerLambda(worker);
