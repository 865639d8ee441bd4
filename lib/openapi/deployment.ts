/** What the OpenAPI document says of a deployment. */
export interface Deployment {
  /** Where the service is reached, without a slash at the end. */
  readonly url: string;
  /** What its headers are named after. */
  readonly serviceName: string;
}

/** What stands in the document for them until the deployment is known: bundles must not depend on settings. No text of the document has these. */
export const placeholders: Deployment = { url: 'https://url.invalid', serviceName: 'service-name.invalid' };

/** The text of the document, made for `unplaced`, with what is known of the deployment. */
export function withDeployment(text: string, place: Deployment): string {
  return text
    .replaceAll(placeholders.url, () => inJson(place.url))
    .replaceAll(placeholders.serviceName, () => inJson(place.serviceName));
}

/** A text as it stands within one of JSON. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
