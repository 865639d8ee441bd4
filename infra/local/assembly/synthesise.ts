/**
 * Writes templates and bundles into the folder of the first argument, with the heartbeat worker if the second one is
 * `heartbeat`. The bundler is another process. It runs while the endpoints and the CDK are loaded, which takes nearly
 * two seconds.
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
