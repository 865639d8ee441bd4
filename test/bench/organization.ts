/**
 * Measures the deletion of a large organization: the time of the request, and the speed of its job. Compares the job
 * with deletes of known keys.
 */
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import type * as z from 'zod';
import { purgeOrganizationStep } from '../../lib/deletion/purgeOrganizations.ts';
import type { OrganizationPurge } from '../../lib/deletion/startPurge.ts';
import { REQUESTS_ENDED_MS } from '../../lib/jobs/jobStore.ts';
import { inParallel } from '../../lib/shared/inParallel.ts';
import { Table } from '../../lib/table/table.ts';
import { type Customer, newCustomer } from '../support/customer.ts';
import { startEngine, TABLE_NAME } from '../support/engine.ts';
import { type LargeOrganization, makeLargeOrganization } from '../support/largeOrganization.ts';
import { asDocumentClient, type Command, LeanClient } from '../support/leanClient.ts';
import { startQueues } from '../support/queues.ts';
import { type CpuTime, cpuTime } from './processUsage.ts';
import { batches, putAll } from './putAll.ts';
import { printTable, quantile, ratio, timed } from './report.ts';

const LARGE = { users: 10_000, documents: 2_500, folders: 100, contentEvery: 50 };
const EMPTY_ONES = 11;
/** The time limit of each measurement in milliseconds. The whole bench takes less than three minutes. */
const MAX_MILLISECONDS = 40_000;
const AT_A_TIME = 8;
const WRITES: ReadonlySet<string> = new Set([
  'BatchWriteCommand',
  'TransactWriteCommand',
  'PutCommand',
  'DeleteCommand',
  'UpdateCommand',
]);

/** A client that counts reads, the consumed write units, and the deleted items. */
class Meter {
  reads = 0;
  units = 0;
  removed = 0;
  readonly #client: LeanClient;

  constructor(client: LeanClient) {
    this.#client = client;
  }

  async send(command: Command): Promise<Record<string, any>> {
    if (!WRITES.has(command.constructor.name)) {
      this.reads += 1;
      return this.#client.send(command);
    }
    const {
      constructor: { name },
      input,
    } = command;
    const answer = await this.#client.send({
      constructor: { name },
      input: { ...input, ReturnConsumedCapacity: 'TOTAL' },
    });
    for (const { CapacityUnits = 0 } of [answer.ConsumedCapacity ?? []].flat()) this.units += Number(CapacityUnits);
    this.removed += name === 'BatchWriteCommand' ? (input.RequestItems[TABLE_NAME] as unknown[]).length : 1;
    return answer;
  }
}

interface Removed {
  readonly reads: number;
  /** CPU time per item in microseconds, of this process and of the table engine. */
  readonly cpu: CpuTime;
  readonly items: number;
  readonly perSecond: number;
  readonly units: number;
}

async function measured(client: LeanClient, work: (meter: Meter, until: number) => Promise<unknown>): Promise<Removed> {
  const meter = new Meter(client);
  const before = cpuTime(process.pid);
  const startedAt = performance.now();
  await work(meter, startedAt + MAX_MILLISECONDS);
  const seconds = (performance.now() - startedAt) / 1000;
  const after = cpuTime(process.pid);
  const { reads, removed: items } = meter;
  const perItem = (milliseconds: number) => (milliseconds * 1_000) / items;
  const cpu = { main: perItem(after.main - before.main), engine: perItem(after.engine - before.engine) };
  return { reads, items, perSecond: Math.round(items / seconds), units: meter.units / items, cpu };
}

/** Runs the steps of the purge job one after the other, as the worker does. */
function byJob({ apiKey: tenant }: Customer, { internalId }: LargeOrganization) {
  return async (meter: Meter, until: number) => {
    const table = new Table(asDocumentClient(meter), TABLE_NAME);
    const purge: z.output<typeof OrganizationPurge> = { organizationKey: internalId };
    while (performance.now() < until) {
      if (
        (await purgeOrganizationStep(
          table,
          { tenant, createdAt: Date.now() - REQUESTS_ENDED_MS, data: JSON.stringify(purge) },
          Date.now,
        )) === 'done'
      )
        return;
    }
  };
}

function byKeys(items: LargeOrganization['items']) {
  return async (meter: Meter, until: number) =>
    inParallel(batches(items), AT_A_TIME, async (batch) => {
      if (performance.now() < until)
        await meter.send(
          new BatchWriteCommand({
            RequestItems: { [TABLE_NAME]: batch.map(({ PK, SK }) => ({ DeleteRequest: { Key: { PK, SK } } })) },
          }),
        );
    });
}

const engine = await startEngine({ sdk: true });
const queues = await startQueues();
const client = new LeanClient();

/** Deletes an organization. Returns the milliseconds that the handler takes. */
function deletion(customer: Customer, organizationId: string): Promise<number> {
  return timed(() => customer.ok('/v2/organizations/delete', { organizationIds: [organizationId] }));
}

const customer = await newCustomer();
const empty: number[] = [];
for (let number = 0; number < EMPTY_ONES; number++) {
  await customer.ok('/v2/organizations/add', { organizations: [{ organizationId: `empty-${number}` }] });
  empty.push(await deletion(customer, `empty-${number}`));
}
const large = await makeLargeOrganization(engine, client, customer, 'acme', LARGE);
const answered = await deletion(customer, 'acme');
const ours = await measured(client, byJob(customer, large));
await putAll(client, large.items, AT_A_TIME);
const raw = await measured(client, byKeys(large.items));
client.destroy();
await queues.stop();
await engine.stop();

const row = (label: string, { reads, items, perSecond, units, cpu }: Removed) => [
  label,
  items,
  reads,
  perSecond,
  ratio(perSecond, raw.perSecond),
  units.toFixed(2),
  cpu.main.toFixed(0),
  cpu.engine.toFixed(0),
];
printTable(
  `The removal of an organization of ${LARGE.users} users and ${LARGE.documents} documents (${large.items.length} items), on the local engine
The answer of organizations/delete: ${answered.toFixed(1)} ms; that of an empty organization: ${quantile(empty, 0.5).toFixed(1)} ms (median of ${EMPTY_ONES}).
WRU per item: an item and each of its index entries, by the KB. CPU: microseconds per item, of this process and of the engine.`,
  ['how', 'items removed', 'reads', 'items per second', 'ratio', 'WRU per item', 'CPU', 'CPU of engine'],
  [row('the job', ours), row('BatchWriteItem of known keys', raw)],
);
