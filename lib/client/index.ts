/**
 * A client of the API: a typed method for every endpoint, safe retries, paging, live documents, and the verification of
 * webhooks.
 */
import { callSender, type CallSettings, methodTree } from './calls.ts';
import { type Methods, operations } from './methods.ts';
import { SERVICE_NAME } from './serviceName.ts';

export type { Methods } from './methods.ts';
export type { CallOptions } from './types.ts';
export { ServiceError } from './calls.ts';
export { pages } from './pages.ts';
export { createUserClient } from './userClient.ts';
export type { UserClient, UserClientOptions } from './userClient.ts';
export { readWebhook, WebhookNotGenuine } from './webhook.ts';
export type { EncodedWebhook, EncryptedWebhook, Webhook, Webhooks } from './webhookTypes.ts';

export interface ClientOptions extends CallSettings {
  readonly apiKey?: string;
  readonly authToken?: string;
  /** For endpoints that need workspace credentials. */
  readonly workspaceId?: string;
  readonly workspaceAuthToken?: string;
  /** The part of header names that names the service, as in `x-svc-api-key`. */
  readonly serviceName?: string;
}

/**
 * Returns a client for servers. Its methods throw ServiceError or the abort reason of their `signal`. They repeat calls
 * after temporary failures. All attempts of a write with credentials have the same idempotency key, so the write
 * happens at most once.
 */
export function createClient({ serviceName = SERVICE_NAME, ...options }: ClientOptions): Methods {
  const headers = credentialHeaders(`x-${serviceName}-`, options);
  return methodTree(
    operations,
    callSender(options, () => Promise.resolve(headers)),
  ) as Methods;
}

function credentialHeaders(
  prefix: string,
  { apiKey, authToken, workspaceId, workspaceAuthToken }: Partial<ClientOptions>,
): Record<string, string> {
  const credentials = {
    'api-key': apiKey,
    'auth-token': authToken,
    'workspace-id': workspaceId,
    'workspace-auth-token': workspaceAuthToken,
  };
  return Object.fromEntries(
    Object.entries(credentials).flatMap(([name, value]) => (value === undefined ? [] : [[prefix + name, value]])),
  );
}
