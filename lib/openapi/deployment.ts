import type { Capability } from '../app/capability.ts';

export interface Deployment {
  /** Without a final slash. */
  readonly url: string;
  readonly serviceName: string;
}

export const deploymentNames: Capability<Deployment> = {
  grants: [],
  env: ['PUBLIC_URL', 'SERVICE_NAME'],
  open: (env) => ({ url: env.PUBLIC_URL, serviceName: env.SERVICE_NAME }),
};

/**
 * A bundle must not depend on settings. `withDeployment` replaces these placeholders when the document is served. No
 * other text of the document contains them.
 */
export const placeholders: Deployment = { url: 'https://url.invalid', serviceName: 'service-name.invalid' };

export function withDeployment(text: string, deployment: Deployment): string {
  return text
    .replaceAll(placeholders.url, () => inJson(deployment.url))
    .replaceAll(placeholders.serviceName, () => inJson(deployment.serviceName));
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
