/** What the CDK CLI runs (cdk.json): `npx cdk synth`, `npx cdk deploy`. */
import { App } from 'aws-cdk-lib';
import type { Settings } from './stacks/settings.ts';
import { addBackend, buildRegistered, settingsOf } from './build/synthesise.ts';

const app = new App();
const settings = settingsOrEnd();
addBackend(app, await buildRegistered('dist/functions'), settings);
app.synth();

/** What is wrong with settings is said to the operator, without a stack trace that would hide it. */
function settingsOrEnd(): Settings {
  try {
    return settingsOf(app);
  } catch (error) {
    console.error((error as Error).message);
    return process.exit(1);
  }
}
