import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findProcesses } from '../../infra/local/processes.ts';
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

test('written data is still stored after the local run was killed, and no engine process remains', async () => {
  await system.kill();
  while ((await engines()).length > 0) await delay(10);
  system = await start();
  const { status, body } = await system.post('/v2/organizations/get', { organizationIds: ['acme'] });
  expect([status, body.result.data.map(({ id }: { id: string }) => id)]).toEqual([200, ['acme']]);
});
