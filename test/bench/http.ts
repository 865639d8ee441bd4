/**
 * Measures a read over HTTP through the whole local system. For comparison, measures the same read on the table engine
 * alone.
 */
import { OrganizationEntity } from '../../lib/directory/organizations.ts';
import { startSystem } from '../e2e/system.ts';
import { callEngine, engineOf, postJson } from './engine.ts';
import { printTable, quantile, ratio, timed } from './report.ts';

const REQUESTS = 1_000;
const WARM_UP = 200;
const organizationId = 'bench';

const system = await startSystem();
try {
  const { baseUrl, credentials, dataDir } = system;
  await system.post('/v2/organizations/add', { organizations: [{ organizationId, organizationName: 'Bench' }] });
  const headers = { 'content-type': 'application/json', ...system.headers };
  const data = { organizationIds: [organizationId] };
  const ours = () => postJson(`${baseUrl}/v2/organizations/get`, headers, { data });

  const engine = await engineOf(dataDir);
  const { TableNames } = await callEngine(engine, 'ListTables', {});
  const { PK, SK } = OrganizationEntity.key({ tenant: credentials.apiKey, organizationId });
  const read = { TableName: TableNames[0], Key: { PK: { S: PK }, SK: { S: SK } }, ConsistentRead: true };
  const theirs = () => callEngine(engine, 'GetItem', read);

  for (const answer of [await ours(), await theirs()])
    if (!JSON.stringify(answer).includes('Bench'))
      throw new Error(`The answer is not the organization: ${JSON.stringify(answer)}`);
  const times = { ours: [] as number[], theirs: [] as number[] };
  // The two reads take turns, so that other load on the machine slows both.
  for (let i = 0; i < WARM_UP + REQUESTS; i++) {
    const [oursTook, theirsTook] = [await timed(ours), await timed(theirs)];
    if (i < WARM_UP) continue;
    times.ours.push(oursTook);
    times.theirs.push(theirsTook);
  }
  printTable(
    `/v2/organizations/get by id over HTTP, and GetItem on the engine, in ms, ${REQUESTS} requests one after the other (no goal)`,
    ['quantile', 'ours', 'engine', 'ratio'],
    (
      [
        ['p50', 0.5],
        ['p99', 0.99],
      ] as const
    ).map(([name, part]) => {
      const [own, engines] = [quantile(times.ours, part), quantile(times.theirs, part)];
      return [name, own.toFixed(2), engines.toFixed(2), ratio(own, engines)];
    }),
  );
} finally {
  await system.stop();
}
