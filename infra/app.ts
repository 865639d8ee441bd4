/** The CDK app (see cdk.json) of `npm run synth` and `npm run deploy`. */
import { App } from 'aws-cdk-lib/core';
import { addBackend, buildRegistered, deploymentRegion, settingsOf } from './build/synthesise.ts';
import type { Settings } from './stacks/settings.ts';

const app = new App();
const settings = settingsOrExit();
addBackend(app, await buildRegistered('dist/functions'), settings);
app.synth();

/** Returns the settings. If they are invalid, prints the problems without a stack trace and exits. */
function settingsOrExit(): Settings {
  try {
    return settingsOf(app, deploymentRegion());
  } catch (error) {
    console.error((error as Error).message);
    return process.exit(1);
  }
}
