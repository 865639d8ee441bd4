import { defineAsset } from '../lib/app/asset.ts';
import { toAsset } from '../lib/http/asset.ts';
import { deploymentNames, withDeployment } from '../lib/openapi/deployment.ts';

export const asset = defineAsset(
  {
    path: '/openapi.json',
    summary: 'The OpenAPI document of the service',
    files: ['openapi.json'],
    uses: { deployment: deploymentNames },
    impact: 'customers cannot read the API reference or generate clients from it',
  },
  (files, deps) => ({
    type: 'application/json; charset=utf-8',
    text: withDeployment(files['openapi.json'], deps.deployment),
  }),
);

export const handler = toAsset(asset, import.meta.dirname);
