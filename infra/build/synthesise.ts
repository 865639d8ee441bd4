import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { type Build, buildFunctions, bundleEntries, projectDir } from './build.ts';
import { fileText } from './files.ts';
import { registeredAssets, registeredRoutes, registeredWorkers } from './registry.ts';
import { readSettings, type Settings } from '../stacks/settings.ts';
import { Backend } from '../stacks/backend.ts';

/** The id of the root stack, and its default name. */
export const STACK = 'CollaborationBackend';

/** Bundles the functions of everything that is registered. */
export function buildRegistered(outdir: string): Promise<Build> {
  return buildFunctions({
    entries: bundleEntries(registeredRoutes(), registeredWorkers()),
    assets: registeredAssets(),
    fileText,
    outdir,
  });
}

/** Returns the settings in the context of an app. Throws an error that lists wrong settings and unknown names. */
export function settingsOf(app: App): Settings {
  const context = app.node.getAllContext() as Readonly<Record<string, unknown>>;
  return readSettings((name) => context[name], Object.keys(context));
}

/** Adds the backend to an app. */
export function addBackend(app: App, built: Build, settings: Settings): Backend {
  return new Backend(app, STACK, {
    endpoints: registeredRoutes(),
    workers: registeredWorkers(),
    code: (id) => Code.fromAsset(built.folder(id)),
    settings,
  });
}

/**
 * Writes the cloud assembly into `outdir` without the CDK CLI: the same templates and assets that `cdk deploy` uploads.
 * Bundles the functions unless `built` is given. `settings` override cdk.json.
 */
export async function synthesise(options: {
  outdir: string;
  settings?: Partial<Settings>;
  built?: Build;
}): Promise<{ assemblyDir: string }> {
  const { context } = JSON.parse(await readFile(join(projectDir, 'cdk.json'), 'utf8')) as {
    context: Record<string, unknown>;
  };
  const app = new App({
    outdir: options.outdir,
    // Validation takes half of the time. `cdk synth` and the tests do it.
    builtinCloudFormationValidation: false,
    // As the CLI does: each function names its asset, so that the local run finds the code.
    context: { 'aws:cdk:enable-asset-metadata': true, ...context, ...options.settings },
  });
  // Checked before bundling, which takes longer.
  const settings = settingsOf(app);
  const bundles = await mkdtemp(join(tmpdir(), 'functions-'));
  try {
    addBackend(app, options.built ?? (await buildRegistered(bundles)), settings);
    return { assemblyDir: app.synth().directory };
  } finally {
    await rm(bundles, { recursive: true, force: true });
  }
}
