import { emit } from '../../lib/events/outbox.ts';
import { ApiKeyEntity } from '../../lib/http/entities.ts';
import { insert } from '../../lib/table/table.ts';
import { WebhookEndpointEntity } from '../../lib/webhooks/endpoints.ts';
import { initialAdvancedConfig } from '../../lib/webhooks/rules/advancedConfig.ts';
import type { WebhookEndpoint } from '../../lib/webhooks/rules/endpoints.ts';
import { createSigningSecret } from '../../lib/webhooks/signingSecrets.ts';
import { AdvancedWebhookConfigEntity } from '../../lib/webhooks/webhookConfigs.ts';
import type { Cloud } from './cloud.ts';
import type { Trial } from './crashes.ts';

type NewEndpoint = Pick<WebhookEndpoint, 'endpointId' | 'url'> & Partial<WebhookEndpoint>;

/** Writes the items of a tenant with these advanced webhook endpoints, without the requests that create them. */
export async function addWebhookTenant(cloud: Cloud, tenant: string, endpoints: readonly NewEndpoint[]): Promise<void> {
  const now = cloud.now;
  const stored = await Promise.all(
    endpoints.map(async (endpoint) => {
      const secret = await createSigningSecret(cloud.box, tenant, endpoint.endpointId, now);
      const written = { disabled: false, secrets: [secret.stored], createdAt: now, updatedAt: now };
      return insert(WebhookEndpointEntity, { tenant, ...written, ...endpoint });
    }),
  );
  for (let i = 0; i < stored.length; i += 90) await cloud.table.write(stored.slice(i, i + 90));
  const pageKey = new Uint8Array(1);
  await cloud.table.write([
    insert(ApiKeyEntity, { apiKey: tenant, workspaceId: 'ws', tokenHashes: [], pageKey, createdAt: now }),
    insert(AdvancedWebhookConfigEntity, { tenant, ...initialAdvancedConfig, isEnabled: true }),
  ]);
}

let causes = 0;

/** Writes an event `huddle.create`, whose AWS calls the trial records. Returns the id of the event. */
export async function writeHuddleEvent(cloud: Cloud, tenant: string, trial?: Trial, at = cloud.now): Promise<string> {
  const cause = { type: 'Test', id: String(causes++), revision: 1 };
  const payload = { source: 'huddle' as const, data: { metadata: { apiKey: tenant } } };
  const ops = emit(tenant, { event: 'huddle.create', cause, payload }, at);
  const { eventId } = (ops[0] as { put: { eventId: string } }).put;
  if (trial) cloud.watch(eventId, trial);
  await cloud.table.write(ops);
  return eventId;
}
