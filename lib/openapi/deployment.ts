import type { Capability } from '../app/capability.ts';

/** The parts of the OpenAPI document that differ between deployments. */
export interface Deployment {
  /** The address of the service, without a final slash. */
  readonly url: string;
  /** The prefix of the header names. */
  readonly serviceName: string;
}

/** The URL and the name of the service. The OpenAPI document and the pages of the documentation contain them. */
export const deploymentNames: Capability<Deployment> = {
  grants: [],
  env: ['PUBLIC_URL', 'SERVICE_NAME'],
  open: (env) => ({ url: env.PUBLIC_URL, serviceName: env.SERVICE_NAME }),
};

/**
 * The values that the document has inside a bundle, because a bundle must not depend on settings. `withDeployment`
 * replaces these placeholders when the document is served. No other text of the document contains them.
 */
export const placeholders: Deployment = { url: 'https://url.invalid', serviceName: 'service-name.invalid' };

/** Returns the text of the document with the deployment's values in place of `placeholders`. */
export function withDeployment(text: string, deployment: Deployment): string {
  return text
    .replaceAll(placeholders.url, () => inJson(deployment.url))
    .replaceAll(placeholders.serviceName, () => inJson(deployment.serviceName));
}

/** Returns a text escaped for use inside a JSON string. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
