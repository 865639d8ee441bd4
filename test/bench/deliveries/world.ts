import { documentClients, type TableClient } from '../../../lib/table/documentClient.ts';
import { type Engine, type EngineOptions, startEngine } from '../../support/engine.ts';
import { asDocumentClient, type Command } from '../../support/leanClient.ts';
import { MemoryTable } from '../../support/memoryTable.ts';
import type { Item } from '../../support/tableExpressions.ts';
import { newWebhookCustomer, paths } from '../../support/webhooks.ts';
import { Cloud } from './cloud.ts';
import { FunctionThreads } from './functionThreads.ts';
import { startReceiver } from './receivers.ts';

const organizationId = 'bench';
export const EVENT_TYPE = 'huddle.create';
/** An event type that no endpoint of a bench receives. */
export const OTHER_TYPE = 'huddle.join';

export const eventData = { topic: 'A text of some length. '.repeat(80) };

/**
 * Starts the workers on a table in memory, and a receiver. The test engine provides the secrets. `threads` is the number of threads
 * for each function that does not run in this thread.
 */
export async function startMemoryWorld({ threads }: { threads?: Readonly<Record<string, number>> } = {}) {
  const engine = await startEnvironment();
  const table = new MemoryTable().install();
  const cloud = new Cloud();
  table.onInsert = cloud.insert;
  if (threads)
    cloud.threads = new FunctionThreads(threads, {
      table: ({ name, input }) => table.send({ constructor: { name }, input }),
      sqs: (input) => cloud.answer(input as Parameters<typeof cloud.answer>[0]),
    });
  const receiver = await startReceiver();
  const stop = async () => void (await Promise.all([receiver.stop(), engine.stop()]));
  return { table, cloud, receiver, mails: engine.mails, stop };
}

/** Starts a receiver, and the workers on the test engine. They use the SDK client, as in a deployment. */
export async function startEngineWorld() {
  const engine = await startEnvironment();
  const cloud = new Cloud();
  const { open } = documentClients;
  documentClients.open = (client) => observed(open(client), cloud.insert);
  const receiver = await startReceiver();
  const stop = async () => void (await Promise.all([receiver.stop(), engine.stop()]));
  return { cloud, receiver, stop };
}

export async function startEnvironment(options: EngineOptions = { sdk: true }): Promise<Engine> {
  const engine = await startEngine(options);
  // Hides the warning of Powertools that metrics are disabled.
  console.warn = () => undefined;
  Object.assign(process.env, {
    ALLOW_LOOPBACK_DELIVERY: 'true',
    POWERTOOLS_METRICS_DISABLED: 'true',
    POWERTOOLS_DEV: 'true',
  });
  return engine;
}

/** Returns a client that calls `onInsert` for each new item, like the table's stream. */
export function observed(client: TableClient, onInsert: (item: Item) => void): TableClient {
  return asDocumentClient({
    async send(command: Command) {
      const answer: Item = await client.send(command);
      const { input } = command;
      for (const { Item: item, ConditionExpression } of [
        input,
        ...(input.TransactItems ?? []).map(({ Put = {} }) => Put),
      ])
        if (item && ConditionExpression?.startsWith('attribute_not_exists(PK)')) onInsert(item);
      return answer;
    },
  });
}

/**
 * Returns a customer with webhooks who publishes events of about two kilobytes. The API's endpoints run in this
 * process.
 */
export async function newPublisher() {
  const { apiKey, ok } = await newWebhookCustomer();
  await ok('/v2/organizations/add', { organizations: [{ organizationId, organizationName: 'Bench' }] });
  return {
    apiKey,
    /** Creates a webhook endpoint. Returns its id. */
    async subscribe(url: string, more: object = {}): Promise<string> {
      const { id } = (await ok(paths.create, { url, filterTypes: [EVENT_TYPE], ...more })) as { id: string };
      return id;
    },
    async unsubscribe(id: string): Promise<void> {
      await ok(paths.delete, { endpointId: id });
    },
    /** Publishes an event. Returns its id. */
    async publish(event = EVENT_TYPE): Promise<string> {
      const { eventId } = (await ok('/v2/events/publish', { event, organizationId, data: eventData })) as {
        eventId: string;
      };
      return eventId;
    },
  };
}
