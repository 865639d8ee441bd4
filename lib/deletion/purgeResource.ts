import type { OrganizationScope } from '../directory/organizationScope.ts';
import { ContactEntity, GrantEntity, usersOfResource } from '../directory/users.ts';
import { InvitationEntity } from '../invitations/entities.ts';
import { NotificationSettingsEntity } from '../notifications/notificationSettings.ts';
import { arePurged, type PurgeBudget, purgeIndexPartition, purgePartition } from '../table/purgePartition.ts';
import type { Table } from '../table/table.ts';

export const resourceEntities = [ContactEntity, GrantEntity, InvitationEntity, NotificationSettingsEntity] as const;
const noLimit: PurgeBudget = { clock: () => 0, deadline: 1 };

/** Returns true when nothing remains. Call it when the index contains all grants, settings and invitations of the resource. */
export async function purgeResource(
  table: Table,
  scope: OrganizationScope,
  internalId: string,
  budget: PurgeBudget = noLimit,
): Promise<boolean> {
  return arePurged([
    purgePartition(table, ContactEntity.partition({ ...scope, resource: internalId }), budget),
    purgeIndexPartition(table, 'gsi2', usersOfResource(scope.tenant, internalId), budget),
  ]);
}
