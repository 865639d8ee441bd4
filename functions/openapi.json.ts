import { defineAsset } from '../lib/app/asset.ts';
import type { Capability } from '../lib/app/capability.ts';
import { toAsset } from '../lib/http/asset.ts';
import { type Deployment, withDeployment } from '../lib/openapi/deployment.ts';

/** The URL and the name of the service. The OpenAPI document contains them. */
const deployment: Capability<Deployment> = {
  grants: [],
  env: ['PUBLIC_URL', 'SERVICE_NAME'],
  open: (env) => ({ url: env.PUBLIC_URL, serviceName: env.SERVICE_NAME }),
};

export const asset = defineAsset(
  {
    path: '/openapi.json',
    summary: 'The OpenAPI document of the service',
    files: ['openapi.json'],
    uses: { deployment },
    impact: 'customers cannot read the API reference or generate clients from it',
  },
  (files, deps) => ({
    type: 'application/json; charset=utf-8',
    text: withDeployment(files['openapi.json'], deps.deployment),
  }),
);

export const handler = toAsset(asset, import.meta.dirname);
