import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { App } from 'aws-cdk-lib/core';
import { readSettings, type Settings, STACK } from '../settings/settings.ts';
import { Backend } from '../stacks/backend.ts';
import { type Build, buildFunctions, bundleEntries } from './build.ts';
import { fileText } from './files.ts';
import { projectContext } from './projectContext.ts';
import { registeredAssets, registeredRoutes, registeredWorkers } from './registry.ts';

export function buildRegistered(outdir: string): Promise<Build> {
  return buildFunctions({
    entries: bundleEntries(registeredRoutes(), registeredWorkers()),
    assets: registeredAssets(),
    fileText,
    outdir,
  });
}

/** Throws an error that lists invalid and unknown settings. */
export function settingsOf(app: App, region?: string): Settings {
  const context = app.node.getAllContext() as Readonly<Record<string, unknown>>;
  return readSettings((name) => context[name], Object.keys(context), region);
}

export function addBackend(app: App, built: Build, settings: Settings): Backend {
  return new Backend(app, STACK, {
    endpoints: registeredRoutes(),
    workers: registeredWorkers(),
    code: (id) => Code.fromAsset(built.folder(id)),
    settings,
  });
}

/**
 * Writes the cloud assembly without the CDK CLI, and returns its folder. `settings` override those of cdk.json. Bundles
 * the functions unless `built` is given. The local run has no `region`.
 */
export async function synthesise(options: {
  outdir: string;
  settings?: Partial<Settings>;
  built?: Build;
  region?: string | undefined;
}): Promise<{ assemblyDir: string }> {
  const app = new App({
    outdir: options.outdir,
    // Validation would take half of the time. `cdk synth` and the tests already validate.
    builtinCloudFormationValidation: false,
    // Writing the tree of constructs, which nothing reads, takes a tenth of the time.
    treeMetadata: false,
    // The templates contain the file names of assets, as with the CLI. `npm run check:deploy` finds the templates of
    // nested stacks by these names.
    context: { 'aws:cdk:enable-asset-metadata': true, ...projectContext(), ...options.settings },
  });
  // Invalid settings fail before the functions are bundled.
  const settings = settingsOf(app, options.region);
  const bundles = await mkdtemp(join(tmpdir(), 'functions-'));
  try {
    addBackend(app, options.built ?? (await buildRegistered(bundles)), settings);
    return { assemblyDir: app.synth().directory };
  } finally {
    await rm(bundles, { recursive: true, force: true });
  }
}
