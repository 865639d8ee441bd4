/**
 * Writes the cloud assembly of the local run into the folder that is the first argument. If the second argument is
 * `heartbeat`, the assembly contains the heartbeat worker, which calls the API every minute. `assemblyCache.ts` runs
 * this file in a child process.
 *
 * The bundler is a separate process. Bundling starts before this process loads the endpoints and the CDK, because
 * loading takes nearly two seconds.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildFunctions, findEntries } from '../../build/build.ts';
import { assemblySettings } from './assemblySettings.ts';

const [outdir, heartbeat] = process.argv.slice(2);
if (!outdir) throw new Error('Give the folder to write to');

const bundles = await mkdtemp(join(tmpdir(), 'functions-'));
try {
  const registry = Promise.withResolvers<typeof import('../../build/registry.ts')>();
  const bundling = buildFunctions({
    entries: findEntries(),
    assets: registry.promise.then(({ registeredAssets }) => registeredAssets()),
    fileText: async (name) => (await import('../../build/files.ts')).fileText(name),
    outdir: bundles,
  });
  registry.resolve(await import('../../build/registry.ts'));
  const { synthesise } = await import('../../build/synthesise.ts');
  const settings = assemblySettings({ hasHeartbeat: heartbeat === 'heartbeat' });
  await synthesise({ outdir, settings, built: await bundling });
} finally {
  await rm(bundles, { recursive: true, force: true });
}
