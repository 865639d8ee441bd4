/** What the CDK CLI runs (cdk.json): `npx cdk synth`, `npx cdk deploy`. */
import { App } from 'aws-cdk-lib';
import { buildFunctions, entriesOf } from './build.ts';
import { addBackend, registeredRoutes } from './synthesise.ts';

const endpoints = registeredRoutes();
const built = await buildFunctions({ entries: entriesOf(endpoints), outdir: 'dist/functions' });
const app = new App();
addBackend(app, built, endpoints);
app.synth();
