import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { buildFunctions, projectDir } from '../../infra/build/build.ts';
import { synthesise } from '../../infra/build/synthesise.ts';
import { DEFAULT_FUNCTION, pascal } from '../../infra/constructs/names.ts';
import { cachedAssembly } from '../../infra/local/assembly/assemblyCache.ts';
import { assemblySettings } from '../../infra/local/assembly/assemblySettings.ts';
import { loadAssembly } from '../../infra/local/assembly/cloudAssembly.ts';
import { modelOf } from '../../infra/local/assembly/model.ts';
import { workerFile, workerId } from '../../lib/app/worker.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { startSystem, type System, until } from './system.ts';

const folder = temporaryFolder();
let system: System;
beforeAll(async () => {
  await cacheAssembly();
  system = await startSystem({ env: { HEARTBEAT: 'on', SCHEDULE_SECONDS: '1' } });
});
afterAll(() => system.stop());

/**
 * Puts the assembly with the heartbeat into the cache. Its bundles are those of the assembly that all other tests use, and the one of the
 * heartbeat: `npm start` would bundle all functions again, which takes 14 s of CPU.
 */
async function cacheAssembly(): Promise<void> {
  const others = await cachedAssembly(() => undefined);
  const cached = `${others}-heartbeat`;
  if (existsSync(cached)) return;
  const heartbeat = workerId('heartbeat');
  const own = await buildFunctions({ entries: { [heartbeat]: workerFile('heartbeat') }, outdir: join(folder, 'own') });
  const url = 'http://127.0.0.1:9';
  const { functions } = modelOf(loadAssembly(others, { api: url, aws: url, live: url }));
  const folders = new Map(functions.map(({ name, codeDir }) => [name.replaceAll('-', ''), codeDir]));
  const folderOf = (id: string) => {
    const name = id === DEFAULT_FUNCTION ? 'Unmatched' : pascal(id.replace(/^worker\./, ''));
    const stacks = ['', 'Workers', 'Live', 'Reference'].map((stack) => `CollaborationBackend${stack}${name}`);
    return folders.get(stacks.find((each) => folders.has(each))!)!;
  };
  const built = {
    metafile: own.metafile,
    folder: (id: string) => (id === heartbeat ? own : { folder: folderOf }).folder(id),
  };
  const outdir = await mkdtemp(join(projectDir, 'dist/heartbeat-'));
  await synthesise({ outdir, settings: assemblySettings({ hasHeartbeat: true }), built });
  await rename(outdir, cached);
}

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
