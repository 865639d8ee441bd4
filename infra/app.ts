/** The CDK app of cdk.json. */
import { contextFromCli, requireValidSettings } from './build/checkSettings.ts';
import { deploymentRegion } from './build/projectContext.ts';

try {
  await requireValidSettings(contextFromCli(process.env), deploymentRegion());
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}

// The CDK takes seconds to load, so invalid settings are refused first.
const { App } = await import('aws-cdk-lib/core');
const { addBackend, buildRegistered, settingsOf } = await import('./build/synthesise.ts');

const app = new App();
const settings = settingsOf(app, deploymentRegion());
addBackend(app, await buildRegistered('dist/functions'), settings);
app.synth();
