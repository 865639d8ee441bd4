import type { DocumentScope } from '../content/documentScope.ts';
import { recordPartition, recordSortKey } from '../content/involvements.ts';
import { organizationPartition, type OrganizationScope } from '../directory/organizationScope.ts';
import { defineEntity } from '../table/entity.ts';
import { Activity } from './rules.ts';

export const targetParts = (scope: OrganizationScope, targetEntityId: string) =>
  organizationPartition(scope, 'TARGET', targetEntityId);

export const activityIds = { kind: 'activity', uniqueIn: 'organization' } as const;

/**
 * Endpoints write an activity together with the item of its id (`RecordIdEntity`), which has the optimistic lock. An
 * activity can therefore be replaced without being read.
 */
export const ActivityEntity = defineEntity({
  type: 'Activity',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'An activity log record of a document',
  schema: Activity,
  pk: (of: DocumentScope) => recordPartition(of, 'ACTIVITIES'),
  sk: (key: { createdAt: number; id: string }) => recordSortKey(key.createdAt, key.id),
  indexes: {
    gsi1: {
      holds: 'activities of a target entity, by time',
      pk: ({ tenant, organizationKey, targetEntityId }) =>
        targetEntityId === undefined ? undefined : targetParts({ tenant, organizationKey }, targetEntityId),
      sk: ({ createdAt, id }) => recordSortKey(createdAt, id),
    },
  },
});
