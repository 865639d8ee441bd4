import type { DocumentScope } from '../content/documentScope.ts';
import {
  type InvolvedRecord,
  involvedRecordKeys,
  type Involvement,
  locationIndex,
  recordPartition,
  recordSortKey,
} from '../content/involvements.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import type { Table } from '../table/table.ts';
import { Reaction, type ReactionReference } from './rules.ts';

export const ReactionEntity = defineEntity({
  type: 'Reaction',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'A reaction on a comment or document, with its users',
  schema: Reaction,
  pk: (of: DocumentScope) => recordPartition(of, 'REACTIONS'),
  sk: (key: { createdAt: number; annotationId: string }) => recordSortKey(key.createdAt, key.annotationId),
  indexes: { gsi2: locationIndex('reaction', 'reactions with a location of their own') },
});

export const reactionIds = { kind: 'reaction', uniqueIn: 'document' } as const;

/** In the order of `involvements`. Undefined for a deleted reaction. One BatchGet per 100. */
export async function readReactions(
  table: Table,
  scope: OrganizationScope,
  involvements: readonly InvolvedRecord[],
): Promise<(Stored<Reaction> | undefined)[]> {
  return table.getMany(ReactionEntity, involvedRecordKeys(scope, involvements));
}

/** In the order of `references`. Undefined for a deleted reaction. One BatchGet per 100. */
export async function readCommentReactions(
  table: Table,
  scope: DocumentScope,
  references: readonly ReactionReference[],
): Promise<(Stored<Reaction> | undefined)[]> {
  return table.getMany(
    ReactionEntity,
    references.map(({ id, createdAt }) => ({ ...scope, annotationId: id, createdAt })),
  );
}

export function reactionInvolvements(
  { documentKey }: DocumentScope,
  { annotationId: id, createdAt, fromUsers }: Reaction,
): Involvement[] {
  return fromUsers.map(({ from: { userId }, lastUpdated: at }) => {
    return { kind: 'reaction', documentKey, id, createdAt, userId, made: true, at };
  });
}
