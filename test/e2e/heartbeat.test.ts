import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startSystem, type System, until } from './system.ts';

let system: System;
beforeAll(async () => {
  system = await startSystem({ env: { HEARTBEAT: 'on', SCHEDULE_SECONDS: '1' } });
});
afterAll(() => system.stop());

test('npm start with HEARTBEAT=on writes the time through the API, and logs no credentials', async () => {
  const startedAt = Date.now();
  await until(
    () => system.ok('/v2/organizations/get', { organizationIds: ['heartbeat'] }),
    ([stored]) => Date.parse(stored?.organizationName) > startedAt,
    system.logs,
  );
  const log = await readFile(join(system.dataDir, 'functions.log'), 'utf8');
  for (const text of ['heartbeat failed', system.credentials.authToken]) expect(log).not.toContain(text);
});
