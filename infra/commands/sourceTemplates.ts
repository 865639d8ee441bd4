import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { App } from 'aws-cdk-lib/core';
import { registeredRoutes, registeredWorkers } from '../build/registry.ts';
import { readSettings, type Settings, STACK } from '../settings/settings.ts';
import { Backend } from '../stacks/backend.ts';
import { synthesisedTemplates } from './synthesisedTemplates.ts';
import type { StackTemplates } from './templateChanges.ts';

/**
 * Returns the templates of the current source files. Does not bundle functions, which would take most of the time.
 * `changes` override the default settings and the address for alarms.
 */
export async function sourceTemplates(changes: Partial<Settings> = {}): Promise<StackTemplates> {
  const outdir = await mkdtemp(join(tmpdir(), 'templates-'));
  try {
    const app = new App({
      outdir,
      builtinCloudFormationValidation: false,
      context: { 'aws:cdk:disable-stack-trace': true, 'aws:cdk:enable-asset-metadata': true },
    });
    const given: Partial<Settings> = { alarmEmail: 'ops@example.com', ...changes };
    const settings = readSettings((name) => given[name]);
    new Backend(app, STACK, {
      endpoints: registeredRoutes(),
      workers: registeredWorkers(),
      code: (id) => Code.fromInline(id),
      settings,
    });
    app.synth();
    return await synthesisedTemplates(outdir);
  } finally {
    await rm(outdir, { recursive: true, force: true });
  }
}
