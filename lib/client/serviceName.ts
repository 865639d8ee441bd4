/** The name of the service in header names. `npm run client` builds packages with the name of the deployment. */
export const SERVICE_NAME: string = 'svc';
