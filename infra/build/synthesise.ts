import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { type Built, buildFunctions, entriesOf, projectDir } from './build.ts';
import { fileText } from './files.ts';
import { registeredAssets, registeredRoutes, registeredWorkers } from './registry.ts';
import { readSettings, type Settings } from '../stacks/settings.ts';
import { Backend } from '../stacks/backend.ts';

/** The root stack's id and, unless the CLI is told otherwise, its name. */
export const STACK = 'CollaborationBackend';

/** Bundles the function of everything that is registered. */
export function buildRegistered(outdir: string): Promise<Built> {
  return buildFunctions({
    entries: entriesOf(registeredRoutes(), registeredWorkers()),
    assets: registeredAssets(),
    fileText,
    outdir,
  });
}

/** The settings that an app's context gives; throws for wrong ones and for names that are none, naming them. */
export function settingsOf(app: App): Settings {
  const context = app.node.getAllContext() as Readonly<Record<string, unknown>>;
  return readSettings((name) => context[name], Object.keys(context));
}

/** Puts the system into an app. */
export function addBackend(app: App, built: Built, settings: Settings): Backend {
  return new Backend(app, STACK, {
    endpoints: registeredRoutes(),
    workers: registeredWorkers(),
    code: (id) => Code.fromAsset(built.folder(id)),
    settings,
  });
}

/**
 * Bundles the functions, unless they are given, and writes the cloud assembly into `outdir`, without the CDK CLI: the same templates and
 * assets that `cdk deploy` would upload. `settings` win over cdk.json.
 */
export async function synthesise(options: {
  outdir: string;
  settings?: Partial<Settings>;
  built?: Built;
}): Promise<{ assemblyDir: string }> {
  const { context } = JSON.parse(await readFile(join(projectDir, 'cdk.json'), 'utf8')) as {
    context: Record<string, unknown>;
  };
  const app = new App({
    outdir: options.outdir,
    // Half of the time that this takes; `cdk synth` and the tests do validate.
    builtinCloudFormationValidation: false,
    // As the CLI does: resources name the asset that they use, so that a reader of the template finds the code.
    context: { 'aws:cdk:enable-asset-metadata': true, ...context, ...options.settings },
  });
  // Before the functions are bundled, which takes longer than to see what is wrong.
  const settings = settingsOf(app);
  const bundles = await mkdtemp(join(tmpdir(), 'functions-'));
  try {
    addBackend(app, options.built ?? (await buildRegistered(bundles)), settings);
    return { assemblyDir: app.synth().directory };
  } finally {
    await rm(bundles, { recursive: true, force: true });
  }
}
