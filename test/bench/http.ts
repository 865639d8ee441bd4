/**
 * Measures a read over HTTP through the whole local system. For comparison, measures the same read on the table engine
 * alone.
 */
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { OrganizationEntity } from '../../lib/directory/organizations.ts';
import { startSystem } from '../e2e/system.ts';
import { awsHeaders, engineOf } from './engine.ts';
import { printTable, quantile, ratio } from './report.ts';

const REQUESTS = 1_000;
const WARM_UP = 200;
const organizationId = 'bench';

const agent = new Agent({ keepAlive: true });
const system = await startSystem();
try {
  const {
    baseUrl,
    credentials: { headerPrefix, apiKey, authToken },
    dataDir,
  } = system;
  await system.post('/v2/organizations/add', { organizations: [{ organizationId, organizationName: 'Bench' }] });
  const headers = {
    'content-type': 'application/json',
    [`${headerPrefix}api-key`]: apiKey,
    [`${headerPrefix}auth-token`]: authToken,
  };
  const ours = call(`${baseUrl}/v2/organizations/get`, headers, { data: { organizationIds: [organizationId] } });

  const engine = await engineOf(dataDir);
  const {
    TableNames: [TableName],
  } = JSON.parse(await call(engine, awsHeaders('ListTables'), {})()) as { TableNames: [string] };
  const { PK, SK } = OrganizationEntity.key({ tenant: apiKey, organizationId });
  const theirs = call(engine, awsHeaders('GetItem'), {
    TableName,
    Key: { PK: { S: PK }, SK: { S: SK } },
    ConsistentRead: true,
  });

  for (const answer of [await ours(), await theirs()])
    if (!answer.includes('Bench')) throw new Error(`The answer is not the organization: ${answer}`);
  const times = { ours: [] as number[], theirs: [] as number[] };
  // The two reads take turns, so that other load on the machine slows both.
  for (let i = 0; i < WARM_UP + REQUESTS; i++) {
    const [oursTook, theirsTook] = [await milliseconds(ours), await milliseconds(theirs)];
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
  agent.destroy();
  await system.stop();
}

/**
 * Returns a function that sends a request on a connection that stays open. The function returns the body of a
 * successful answer.
 */
function call(url: string, headers: Record<string, string>, body: object): () => Promise<string> {
  const text = JSON.stringify(body);
  return async () => {
    const sent = request(url, {
      method: 'POST',
      agent,
      headers: { ...headers, 'content-length': Buffer.byteLength(text) },
    });
    sent.end(text);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const answer = (await buffer(response)).toString();
    if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}: ${answer}`);
    return answer;
  };
}

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
