/** What the CDK CLI runs (cdk.json): `npx cdk synth`, `npx cdk deploy`. */
import { App } from 'aws-cdk-lib';
import { addBackend, buildRegistered, settingsOf } from './synthesise.ts';

const app = new App();
const settings = settingsOf(app);
addBackend(app, await buildRegistered('dist/functions'), settings);
app.synth();
