import { NotificationSettingsEntity } from '../notifications/notificationSettings.ts';
import type { OrganizationScope } from '../directory/folders/folders.ts';
import type { Table } from '../table/table.ts';
import { ContactEntity, GrantEntity } from '../directory/users.ts';
import { type PurgeBudget, purgeIndexPartition, purgePartition } from '../table/purgePartition.ts';

/** What belongs to an organization, folder or document as a resource. */
export const resourceEntities = [ContactEntity, GrantEntity, NotificationSettingsEntity] as const;

/**
 * Removes the contact list of an organization, folder or document that is gone, by its internal id, what was granted on it, and the notification
 * settings for it. Grants and settings are found through an index: whoever calls has waited until it shows the last of them. With a budget it can
 * end earlier; gives whether nothing is left.
 */
export async function removeResource(
  table: Table,
  scope: OrganizationScope,
  internalId: string,
  budget: PurgeBudget = { clock: () => 0, until: 1 },
): Promise<boolean> {
  const complete = await Promise.all([
    purgePartition(table, ContactEntity.partition({ ...scope, resource: internalId }), budget),
    ...['GRANTS', 'SETTINGS'].map((list) =>
      purgeIndexPartition(table, 'gsi2', [scope.tenant, list, internalId], budget),
    ),
  ]);
  return !complete.includes(false);
}
