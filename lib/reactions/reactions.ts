import { instantKey } from '../shared/times.ts';
import { Reaction, type ReactionReference } from './rules.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import type { OrganizationScope } from '../directory/folders/folders.ts';
import { remove, type Table, type WriteOp } from '../table/table.ts';
import { removeInvolvement, type Involvement, recordSortKey, recordPartition } from '../content/involvements.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { releaseRecordId } from '../content/recordIds.ts';

/** A reaction on a comment or on the document itself, with everybody who reacted that way. */
export const ReactionEntity = defineEntity({
  type: 'Reaction',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'A reaction on a comment or document, with who reacted',
  schema: Reaction,
  pk: (of: DocumentScope) => recordPartition(of, 'REACTIONS'),
  sk: (key: { createdAt: number; annotationId: string }) => recordSortKey(key.createdAt, key.annotationId),
  indexes: {
    gsi2: {
      holds: 'reactions with a location of their own',
      pk: ({ tenant, documentId, locationKey }) =>
        locationKey === undefined ? undefined : [tenant, 'LOCATION', documentId, locationKey],
      sk: ({ organizationKey, createdAt, annotationId }) => [
        organizationKey,
        'reaction',
        instantKey(createdAt),
        annotationId,
      ],
    },
  },
});

/** The reactions of a user's data, by the edges that lead to them, undefined where there is none any more. One BatchGet per 100. */
export async function readReactions(
  table: Table,
  { tenant, organizationKey }: OrganizationScope,
  edges: readonly Pick<Involvement, 'documentKey' | 'id' | 'createdAt'>[],
): Promise<(Stored<Reaction> | undefined)[]> {
  return table.getMany(
    ReactionEntity,
    edges.map(({ documentKey, id, createdAt }) => ({
      tenant,
      organizationKey,
      documentKey,
      annotationId: id,
      createdAt,
    })),
  );
}

/** The reactions that a comment names, undefined where there is none any more. One BatchGet per 100. */
export async function readCommentReactions(
  table: Table,
  scope: DocumentScope,
  references: readonly ReactionReference[],
): Promise<(Stored<Reaction> | undefined)[]> {
  return readReactions(
    table,
    scope,
    references.map((reference) => ({ documentKey: scope.documentKey, ...reference })),
  );
}

/**
 * The operations that remove reactions as they were read, with their ids and the edges of those who reacted: 3 to 52 for each. The
 * comment that one is on is the caller's business. `within` is the customer's id of the document.
 */
export function reactionDeletionOps(
  scope: DocumentScope,
  within: string,
  reactions: readonly Stored<Reaction>[],
): WriteOp[] {
  return reactions.flatMap((reaction) => [
    remove(
      ReactionEntity,
      { ...scope, annotationId: reaction.annotationId, createdAt: reaction.createdAt },
      reaction._r,
    ),
    releaseRecordId(scope, { kind: 'reaction', id: reaction.annotationId, within }),
    ...reaction.fromUsers.map(({ from, lastUpdated }) =>
      removeInvolvement(scope, { ...reactionInvolvement(scope, reaction), userId: from.userId, at: lastUpdated }),
    ),
  ]);
}

/** The edge between a reaction and one of its users, but for the user and the time. */
export function reactionInvolvement(
  { documentKey }: DocumentScope,
  { annotationId, createdAt }: Pick<Reaction, 'annotationId' | 'createdAt'>,
) {
  return { kind: 'reaction', documentKey, id: annotationId, createdAt } as const;
}
