import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { documentClients } from '../../../lib/table/documentClient.ts';
import { Cloud } from '../../bench/deliveries/cloud.ts';
import { newPublisher } from '../../bench/deliveries/world.ts';
import { forAllTests } from '../../support/acmeWorld.ts';
import { startEngine } from '../../support/engine.ts';
import { WebhookReceiver } from '../../support/hooks.ts';
import { asDocumentClient, type Command, sdkDocumentClient } from '../../support/leanClient.ts';
import { MemoryTable } from '../../support/memoryTable.ts';
import type { Item } from '../../support/tableExpressions.ts';

const ENDPOINTS = 3;

forAllTests(() => startEngine({ sdk: true }));
const hooks = forAllTests(() => new WebhookReceiver().start());
let client: DynamoDBClient;
const memory = new MemoryTable();
const cloud = new Cloud();
/** The capacity units of each call, on the engine and on the table in memory. */
const consumed: { readonly call: string; readonly engine: number; readonly memory: number }[] = [];

/** Sends a command to both tables and records the units of both. Returns the answer of the engine. */
async function send(command: Command): Promise<Item> {
  const { name } = command.constructor;
  const before = { ...memory.consumed };
  const stored = memory.send(command).catch(() => undefined);
  const units = memory.consumed.read - before.read + memory.consumed.written - before.written;
  await stored;
  const answer: Item = await sdkDocumentClient(client, { ReturnConsumedCapacity: 'TOTAL' }).send(command);
  const capacities = [answer.ConsumedCapacity ?? []].flat() as { readonly CapacityUnits: number }[];
  consumed.push({
    call: name,
    engine: capacities.reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0),
    memory: units,
  });
  return answer;
}

beforeAll(() => {
  Object.assign(process.env, { ALLOW_LOOPBACK_DELIVERY: 'true', POWERTOOLS_DEV: 'true' });
  // Powertools warns about metrics that are disabled.
  jest.spyOn(console, 'warn').mockImplementation(() => undefined);
  client = new DynamoDBClient({});
  documentClients.open = () => asDocumentClient({ send });
  memory.onInsert = cloud.insert;
});
afterAll(() => {
  client.destroy();
});

test('the in-memory table counts the same units for each call as the engine', async () => {
  const { publish, subscribe } = await newPublisher();
  for (let n = 0; n < ENDPOINTS; n++) await subscribe(hooks.url('/a'));
  for (let n = 0; n < 3; n++) await publish();
  await cloud.drain();
  await cloud.tick();
  expect(hooks.received).toHaveLength(3 * ENDPOINTS);
  expect(cloud.failures).toBe(0);
  // The engine counts no unit for an empty page of an index. DynamoDB and the table in memory count half a unit.
  const isEmptyPage = ({ call, engine: units, memory: own }: (typeof consumed)[number]) =>
    call === 'QueryCommand' && units === 0 && own === 0.5;
  expect(consumed.filter((call) => call.engine !== call.memory && !isEmptyPage(call))).toEqual([]);
  expect(consumed.length).toBeGreaterThan(50);
});
