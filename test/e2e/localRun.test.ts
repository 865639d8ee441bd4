import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runLoad } from '../../infra/commands/load.ts';
import { findProcesses } from '../../infra/local/processes.ts';
import { limits } from '../../lib/shared/schema.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { times } from '../support/times.ts';
import { copyAssembly } from './assembly.ts';
import { startInVain, startSystem, type System, until } from './system.ts';

/** The search for a process reads a file of each process of the machine, so it is not repeated more often. */
const POLL_MILLISECONDS = 50;

// All tests share one data directory and three starts of the system, because a start takes a second. The tests run in
// this order.
describe('npm start', () => {
  let system: System;
  const acknowledged: string[] = [];
  const engines = () => findProcesses('--db-path', join(dataDir, 'table.db'));

  beforeAll(async () => {
    system = await startSystem({ dataDir });
  });

  afterAll(() => system.stop());
  const dataDir = temporaryFolder();

  test('prints its address, and a sample request that works when pasted', async () => {
    expect(system.logs()).toContain(`\nReady: ${system.baseUrl}\n`);
    const [, command = ''] = /Try it:\n\n([\s\S]*?)\n\nReady/.exec(system.logs()) ?? [];
    const headers = Object.fromEntries(
      [...command.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name, value]) => [name!, value!]),
    );
    const [, url = ''] = /curl (\S+)/.exec(command) ?? [];
    const [, body = ''] = /-d '([^']+)'/.exec(command) ?? [];
    const response = await fetch(url, { method: 'POST', headers, body });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ result: { status: 'success', data: [{ id: 'demo-organization' }] } });
  });

  test('writes the credentials of the demo workspace for its owner only', async () => {
    expect(Object.keys(system.credentials)).toEqual([
      'baseUrl',
      'headerPrefix',
      'ownerEmail',
      'workspaceId',
      'workspaceAuthToken',
      'apiKey',
      'authToken',
    ]);
    expect(system.credentials).toMatchObject({ baseUrl: system.baseUrl, headerPrefix: 'x-svc-' });
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
    for (const file of await readdir(dataDir, { recursive: true, withFileTypes: true })) {
      const { mode } = await stat(join(file.parentPath, file.name));
      expect([file.name, mode & 0o777]).toEqual([file.name, file.isDirectory() ? 0o700 : 0o600]);
    }
  });

  test('answers an unknown route with NOT_FOUND in the JSON envelope', async () => {
    const response = await fetch(`${system.baseUrl}/v2/organizations/get`);
    expect([response.status, response.headers.get('x-request-id')]).toEqual([404, expect.any(String)]);
    expect(await response.json()).toEqual({
      error: { status: 'NOT_FOUND', message: expect.stringContaining('/v2/organizations/get') },
    });
  });

  test('answers a short load of npm run load without errors. The command deletes its data, also if it is interrupted', async () => {
    const options = {
      baseUrl: system.baseUrl,
      credentialsFile: join(dataDir, 'credentials.json'),
      perSecond: 10,
      serviceName: 'svc',
    };
    const report = await runLoad({ ...options, minutes: 0.05 }, new AbortController().signal);
    expect(report).toMatch(/^30 calls in 0.05 minutes, 10 per second. 0 failed.$/m);
    expect(report).toMatch(/^\/v2\/commentannotations\/get +9 +\d+\.\d +\d+\.\d {2}-$/m);
    expect(report).toMatch(/^Cost of the calls at list prices: 0\.000\d dollars/m);
    await expect(runLoad({ ...options, minutes: 1 }, AbortSignal.timeout(500))).rejects.toThrow('aborted');
    const { body } = await system.post('/v2/organizations/get', {});
    expect(body.result.data.map(({ id }: { id: string }) => id)).toEqual(['demo-organization']);
  });

  test('survives input that is not HTTP', async () => {
    const socket = connect(Number(new URL(system.baseUrl).port), '127.0.0.1').end('NONSENSE\r\n\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toContain('400 Bad Request');
    expect((await system.post('/v2/organizations/get', {})).status).toBe(200);
  });

  test('refuses a second run on the same data directory', async () => {
    const { code, output } = await startInVain({ dataDir });
    expect(code).toBe(1);
    expect(output).toMatch(new RegExp(`^Another run \\(process \\d+\\) uses ${dataDir}\\.`));
    expect(output).not.toContain('    at ');
  });

  test('refuses a port that is in use', async () => {
    const { port } = new URL(system.baseUrl);
    expect(await startInVain({ env: { PORT: port } })).toEqual({
      code: 1,
      output: expect.stringMatching(new RegExp(`^Port ${port} is used by another program\\.[^\\n]*\\n$`)),
    });
  });

  test('keeps all acknowledged data when it is killed', async () => {
    const [killed, ...others] = await engines();
    expect(others).toEqual([]);
    const write = async (writer: number) => {
      for (let i = 0; ; i++) {
        const organizationId = `org-${writer}-${i}`;
        const { status } = await system.post('/v2/organizations/add', { organizations: [{ organizationId }] });
        expect(status).toBe(200);
        acknowledged.push(organizationId);
        if (acknowledged.length === 200) void system.kill();
      }
    };
    await Promise.allSettled([write(0), write(1), write(2), write(3)]);
    expect(acknowledged.length).toBeGreaterThanOrEqual(200);

    const credentials = system.credentials;
    system = await startSystem({ dataDir });
    expect({ ...system.credentials, baseUrl: '' }).toEqual({ ...credentials, baseUrl: '' });
    const storedIds: string[] = [];
    for (let i = 0; i < acknowledged.length; i += limits.readIds) {
      const { body } = await system.post('/v2/organizations/get', {
        organizationIds: acknowledged.slice(i, i + limits.readIds),
      });
      storedIds.push(...body.result.data.map(({ id }: { id: string }) => id));
    }
    expect(storedIds.sort()).toEqual(acknowledged.sort());

    const [engine, ...more] = await engines();
    expect(more).toEqual([]);
    expect(engine!.pid).not.toBe(killed!.pid);
  });

  test('lets running requests finish on SIGTERM, and stops the table engine', async () => {
    const headers = { 'content-type': 'application/json', ...system.headers, expect: '100-continue' };
    const underWay = request(`${system.baseUrl}/v2/organizations/get`, { method: 'POST', headers });
    underWay.flushHeaders();
    await once(underWay, 'continue');
    const code = system.stop();
    await system.printed(/^Stopping/m);
    underWay.end('{"data":{}}');
    const [response] = (await once(underWay, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    response.resume();
    expect(await code).toBe(0);
    expect(await engines()).toEqual([]);
  });

  test.each<[signal: NodeJS.Signals, whom: string]>([
    ['SIGTERM', 'npm'],
    ['SIGKILL', 'npm'],
    ['SIGKILL', 'its process group'],
  ])('%s to %s leaves no process of npm start behind', async (signal, whom) => {
    const npm = spawn('npm', ['start'], {
      cwd: resolve(import.meta.dirname, '../..'),
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, PORT: '0', DATA_DIR: dataDir },
    });
    let output = '';
    npm.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    while (!/^Ready: /m.test(output)) await once(npm.stdout, 'data');
    const pid = Number(await readFile(join(dataDir, 'lock.pid'), 'utf8'));
    expect(await engines()).toHaveLength(1);
    process.kill(whom === 'npm' ? npm.pid! : -npm.pid!, signal);
    while (isAlive(pid) || (await engines()).length > 0) await delay(POLL_MILLISECONDS);
    if (signal === 'SIGTERM') expect(output).toContain('Stopping …');
  });

  test('restarts a killed table engine without data loss. Calls meanwhile succeed or answer UNAVAILABLE', async () => {
    system = await startSystem({ dataDir });
    const [engine] = await engines();
    const answers: { id: string; status: number; body: any }[] = [];
    const add = async (id: string) =>
      answers.push({
        id,
        ...(await system.post('/v2/organizations/add', { organizations: [{ organizationId: id }] })),
      });
    const added = () => answers.flatMap(({ id, body }) => (body.result?.data[id].success ? [id] : []));
    await add('before');
    const during = times(20, (n) => add(`during-${n}`));
    process.kill(engine!.pid, 'SIGKILL');
    await Promise.all(during);
    await system.printed(/^The table engine ended unexpectedly and is started again/m);
    await until(
      () => add('after'),
      () => added().includes('after'),
    );
    expect((await engines()).map(({ pid }) => pid)).not.toContain(engine!.pid);
    for (const { status, body } of answers)
      expect(status === 200 ? body.result.status : body.error.status).toBe(status === 200 ? 'success' : 'UNAVAILABLE');
    expect(added()).toEqual(expect.arrayContaining(['before', 'after']));
    const { body } = await system.post('/v2/organizations/get', {});
    expect(body.result.data.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining(added()));
    await system.stop();
  });

  test('refuses calls that the role of a function forbids, and exits if the table engine keeps ending', async () => {
    const assembly = await assemblyWithout('POST /v2/users/add', 'dynamodb:PutItem');
    system = await startSystem({ dataDir, env: { ASSEMBLY_DIR: assembly } });
    const { status, body } = await system.post('/v2/users/add', {
      organizationId: 'demo-organization',
      users: [{ userId: 'u1', name: 'U', email: 'u@example.com' }],
    });
    expect({ status, body }).toEqual({
      status: 500,
      body: { error: { status: 'INTERNAL', message: expect.any(String) } },
    });
    expect(system.logs()).toMatch(
      /^AccessDenied: \S*V2Users-Add may not dynamodb:PutItem on arn:aws:dynamodb:\S*:table\/\S+$/m,
    );
    // The line of the log can come after the answer.
    await until(
      () => readFile(join(dataDir, 'functions.log'), 'utf8'),
      (log) => log.includes('AccessDeniedException'),
    );

    const ended = system.ended();
    let isOver = false as boolean;
    void ended.then(() => (isOver = true));
    const killed = new Set<number>();
    while (!isOver) {
      for (const { pid } of await engines()) {
        if (killed.has(pid)) continue;
        killed.add(pid);
        process.kill(pid, 'SIGKILL');
      }
      await delay(POLL_MILLISECONDS);
    }
    expect(await ended).toBe(1);
    expect(system.logs()).toContain('The table engine keeps ending');
    expect(killed.size).toBe(6);
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Returns the directory of a copied assembly. In the copy, the function of a route has no grant of `action`. */
async function assemblyWithout(route: string, action: string): Promise<string> {
  const { dir, changeTemplate } = await copyAssembly();
  await changeTemplate(({ Resources }) => {
    const target = Object.values(Resources).find(({ Properties }) => Properties?.Description?.startsWith(`${route}:`));
    if (!target) return false;
    const role = Resources[target.Properties.Role['Fn::GetAtt'][0]];
    const statements = role.Properties.Policies.flatMap(({ PolicyDocument }: any) => PolicyDocument.Statement) as {
      Action: string | string[];
    }[];
    const affected = statements.filter(({ Action }) => [Action].flat().includes(action));
    expect(affected).not.toEqual([]);
    for (const statement of affected) statement.Action = [statement.Action].flat().filter((each) => each !== action);
  });
  return dir;
}
