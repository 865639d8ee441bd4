/** In header names, such as `x-svc-api-key`. `npm run client` builds packages with the name of the deployment. */
export const SERVICE_NAME: string = 'svc';
