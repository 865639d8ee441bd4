/** What the CDK CLI runs (cdk.json): `npx cdk synth`, `npx cdk deploy`. */
import { App } from 'aws-cdk-lib';
import { addBackend, buildRegistered } from './synthesise.ts';

const built = await buildRegistered('dist/functions');
const app = new App();
addBackend(app, built);
app.synth();
