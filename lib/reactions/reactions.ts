import type { DocumentScope } from '../content/documentScope.ts';
import {
  type InvolvedRecord,
  involvedRecordKeys,
  locationIndex,
  recordPartition,
  recordSortKey,
  removeInvolvement,
} from '../content/involvements.ts';
import { idKeyOf, releaseRecordId } from '../content/recordIds.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { remove, replace, type Table, type WriteOp } from '../table/table.ts';
import { Reaction, type ReactionReference } from './rules.ts';

/** A reaction on a comment or on the document, with all users who reacted. */
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

/**
 * Returns one reaction per involvement (the item which says that a user reacted), in the order of `involvements`. The value is
 * undefined if the reaction is deleted. Sends one BatchGet per 100 involvements.
 */
export async function readReactions(
  table: Table,
  scope: OrganizationScope,
  involvements: readonly InvolvedRecord[],
): Promise<(Stored<Reaction> | undefined)[]> {
  return table.getMany(ReactionEntity, involvedRecordKeys(scope, involvements));
}

/**
 * Returns one reaction per reference in a comment, in the order of `references`. The value is undefined if the reaction is
 * deleted. Sends one BatchGet per 100 references.
 */
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

/**
 * Returns the operations that delete reactions with their ids and involvements, 3 to 52 operations per reaction. They do not
 * change the comments of the reactions. `documentId` is the id that the customer chose.
 */
export function reactionDeletionOps(
  scope: DocumentScope,
  documentId: string,
  reactions: readonly (Stored<Reaction> | undefined)[],
): WriteOp[] {
  return reactions.flatMap((reaction) =>
    reaction
      ? [
          remove(ReactionEntity, { ...scope, ...reaction }, reaction._r),
          releaseRecordId(scope, idKeyOf(reactionIds, reaction.annotationId, documentId)),
          ...involvementRemovals(scope, reaction, reaction.fromUsers),
        ]
      : [],
  );
}

/** Returns the operations that remove some of a reaction's users. The reaction must have other users too. */
export function reactionUserRemovalOps(
  scope: DocumentScope,
  reaction: Stored<Reaction>,
  removed: Reaction['fromUsers'],
  now: number,
): WriteOp[] {
  const fromUsers = reaction.fromUsers.filter((user) => !removed.includes(user));
  return [
    replace(ReactionEntity, { ...scope, ...reaction, fromUsers, lastUpdated: now }, reaction._r),
    ...involvementRemovals(scope, reaction, removed),
  ];
}

function involvementRemovals(scope: DocumentScope, reaction: Reaction, users: Reaction['fromUsers']): WriteOp[] {
  const involvement = reactionInvolvement(scope, reaction);
  return users.map(({ from, lastUpdated }) =>
    removeInvolvement(scope, { ...involvement, userId: from.userId, at: lastUpdated }),
  );
}

/** Returns the fields that are the same in the involvements of all users in a reaction. */
export function reactionInvolvement(
  { documentKey }: DocumentScope,
  { annotationId, createdAt }: Pick<Reaction, 'annotationId' | 'createdAt'>,
) {
  return { kind: 'reaction', documentKey, id: annotationId, createdAt } as const;
}
