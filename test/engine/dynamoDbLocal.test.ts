import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findProcesses } from '../../infra/local/processes.ts';
import { enginePorts } from '../../infra/local/table/engineAddress.ts';
import { EngineConnections } from '../../infra/local/table/engineCall.ts';
import { openPorts } from '../e2e/openPorts.ts';
import { startSystem, type System } from '../e2e/system.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

let system: System;
const engines = () => findProcesses('-dbPath', join(dataDir, 'dynamodb-local'));
const start = () => startSystem({ dataDir, env: { DYNAMODB_ENGINE: 'dynamodb-local' } });

beforeAll(async () => {
  system = await start();
});
afterAll(() => system.stop());
const dataDir = temporaryFolder();

test('npm start runs on DynamoDB Local and logs that DynamoDB Local has no vector indexes', async () => {
  expect(system.logs()).toContain('DynamoDB Local has no vector indexes');
  expect(await engines()).toHaveLength(1);
});

test('POST /v2/memory/search returns UNAVAILABLE and names the missing vector search as the reason', async () => {
  await system.client.v2.organizations.add({ organizations: [{ organizationId: 'acme' }] });
  const { status, body } = await system.post('/v2/memory/search', { query: 'price', organizationId: 'acme' });
  expect({ status, body }).toEqual({
    status: 503,
    body: { error: { status: 'UNAVAILABLE', message: 'Vector search is not available on this table engine.' } },
  });
});

test('the table is in a database that only the access key id of the run opens, and browsers refuse its port', async () => {
  const engine = (await openPorts(system.pid)).find(({ port }) => enginePorts.includes(port))!;
  const connections = new EngineConnections(`http://127.0.0.1:${engine.port}`);
  expect(await connections.call('DynamoDB_20120810.ListTables', {})).toEqual({ TableNames: [] });
  connections.close();
});

test('written data is still stored after the local run was killed, and no engine process remains', async () => {
  await system.kill();
  while ((await engines()).length > 0) await delay(10);
  system = await start();
  expect(await acme()).toEqual([200, ['acme']]);
});

test('the table of an earlier version, in the shared database, is still stored', async () => {
  await system.stop();
  const folder = join(dataDir, 'dynamodb-local');
  for (const name of await readdir(folder))
    await rename(
      join(folder, name),
      join(folder, name.replace(/^LOCAL[0-9A-F]+_us-east-1\.db/, 'shared-local-instance.db')),
    );
  expect(await readdir(folder)).toContain('shared-local-instance.db');
  system = await start();
  expect(await acme()).toEqual([200, ['acme']]);
});

async function acme() {
  const { status, body } = await system.post('/v2/organizations/get', { organizationIds: ['acme'] });
  return [status, body.result.data.map(({ id }: { id: string }) => id)];
}
