import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ConsoleState } from '../../infra/local/console/consoleState.ts';
import { startSystem, type System, until } from './system.ts';

describe('npm start with HEARTBEAT=on', () => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem({ env: { HEARTBEAT: 'on', SCHEDULE_SECONDS: '1' } });
  });
  afterAll(async () => {
    await system.stop();
  });

  const log = () => readFile(join(system.dataDir, 'functions.log'), 'utf8');

  const storedTime = async () => {
    const { body } = await system.post('/v2/organizations/get', { organizationIds: ['heartbeat'] });
    return Date.parse(body.result.data[0]?.organizationName ?? '');
  };

  const isAlarmActive = async () => {
    const { alarms } = (await (
      await fetch(`${system.baseUrl}/_local/dashboard.json?minutes=15`)
    ).json()) as ConsoleState;
    return alarms.some(({ name, active }) => name === 'HeartbeatFails' && active);
  };

  const turnTable = (running: boolean) =>
    fetch(`${system.baseUrl}/_local/parts/table`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ running }),
    });

  test('writes the time through the API, and logs no credentials', async () => {
    const startedAt = Date.now();
    await until(storedTime, (time) => time > startedAt, system.logs);
    expect(await log()).not.toContain('heartbeat failed');
    expect(await log()).not.toContain(system.credentials.authToken);
    expect(await isAlarmActive()).toBe(false);
  });

  test('activates the heartbeat alarm while the table is stopped, and writes again afterwards', async () => {
    await turnTable(false);
    await until(isAlarmActive, Boolean, system.logs);
    expect(await log()).toContain('heartbeat failed');
    expect(await log()).not.toContain(system.credentials.authToken);
    await turnTable(true);
    const restartedAt = Date.now();
    await until(
      () => storedTime().catch(() => NaN),
      (time) => time > restartedAt,
      system.logs,
    );
  });
});
