import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Build, buildFunctions, bundleEntries } from '../../infra/build/build.ts';
import type { Endpoint } from '../../lib/app/endpoint.ts';

/** Bundles the functions of endpoints into a temporary folder, with the build settings of a deployment. */
export async function buildInTemporary(
  endpoints: readonly Endpoint[],
): Promise<{ built: Build; dir: string; remove(): Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), 'bench-'));
  const built = await buildFunctions({ entries: bundleEntries(endpoints), outdir: join(dir, 'functions') });
  return { built, dir, remove: () => rm(dir, { recursive: true, force: true }) };
}
