import * as z from 'zod';
import { defineEntity, type Stored } from '../table/entity.ts';
import { insertOrReplace, type Table, type WriteOp } from '../table/table.ts';

const WebhookSettings = z.object({ endpoints: z.number() });
export type WebhookSettings = z.output<typeof WebhookSettings>;

/**
 * Every change of an endpoint or of a webhook configuration writes this item in the same transaction. Its revision says
 * whether the settings that a process keeps are current.
 */
export const WebhookSettingsEntity = defineEntity({
  type: 'WebhookSettings',
  version: 1,
  scope: 'tenant',
  ownedBy: 'tenant',
  purpose:
    'How many advanced webhook endpoints an API key has; its revision changes with every webhook setting of the API key',
  schema: WebhookSettings,
  pk: (of: { tenant: string }) => [of.tenant, 'WEBHOOK_ENDPOINTS'],
  sk: (_key: unknown) => ['SETTINGS'],
});

/** `added`: the change in the number of endpoints. */
export function reviseSettings(tenant: string, stored: Stored<WebhookSettings> | undefined, added = 0): WriteOp {
  const value = { tenant, endpoints: (stored?.endpoints ?? 0) + added };
  return insertOrReplace(WebhookSettingsEntity, value, stored);
}

export async function settingsRevision(table: Pick<Table, 'get'>, tenant: string): Promise<WriteOp> {
  return reviseSettings(tenant, await table.get(WebhookSettingsEntity, { tenant }));
}
