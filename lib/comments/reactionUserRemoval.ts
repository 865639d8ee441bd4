import type { DocumentScope } from '../content/documentScope.ts';
import { removeReadInvolvement } from '../content/involvements.ts';
import {
  type DocumentRemoval,
  type EraseHook,
  isDocumentDeleted,
  joinOps,
  type Outcome,
  recordsUpTo,
  type RemoveInvolved,
} from '../content/userRemoval.ts';
import { reactionDeletionOps, ReactionEntity } from '../reactions/reactions.ts';
import { eraseFromReaction, type Reaction, removeReactors } from '../reactions/rules.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { replace, type Table, type WriteOp } from '../table/table.ts';
import { CommentEntity } from './threads.ts';

/** Erases users from the reactions of a document, page by page. */
export const eraseReactions: EraseHook = {
  entities: [ReactionEntity],
  async erase(removal, after) {
    const { removedUsers } = removal;
    const page = await recordsUpTo(removal, ReactionEntity, after);
    // Reactions are changed one after another, because all reactions to a comment change the same comment.
    for (const reaction of page.values)
      if (eraseFromReaction(reaction, removedUsers) !== reaction)
        await retryOnConflict(() => changeReaction(removal, reaction));
    return page.next;
  },
};

/**
 * Removes users from the reaction that an involvement names, and deletes the involvement. It is the item which says that a user
 * reacted.
 */
export const removeReactor: RemoveInvolved = (removal, involvement) =>
  changeReaction(removal, { annotationId: involvement.id, createdAt: involvement.createdAt }, [
    removeReadInvolvement(removal.scope, involvement),
  ]);

/** Tries once to remove users from a reaction. If no user remains, deletes the reaction and the reference to it in its comment. */
async function changeReaction(
  removal: DocumentRemoval,
  key: { annotationId: string; createdAt: number },
  extraOps: readonly WriteOp[] = [],
): Promise<Outcome> {
  const { table, scope, removedUsers, mode } = removal;
  const reaction = await table.get(ReactionEntity, { ...scope, ...key });
  const removeUsers = mode === 'erase' ? eraseFromReaction : removeReactors;
  const remaining = reaction && removeUsers(reaction, removedUsers);
  if (!reaction || remaining === reaction) return table.tryWrite(extraOps);
  if (remaining) return table.tryWrite([replace(ReactionEntity, { ...scope, ...remaining }, reaction._r), ...extraOps]);
  if (await isDocumentDeleted(removal, reaction.documentId)) return table.tryWrite(extraOps);
  const ops = reactionDeletionOps(scope, reaction.documentId, [reaction]);
  return table.tryWrite([...joinOps(ops, extraOps), ...(await commentReferenceRemoval(table, scope, reaction))]);
}

/**
 * Returns the operation that removes the reference to a reaction from its comment. Returns none if the comment does not have it.
 */
export async function commentReferenceRemoval(
  table: Table,
  scope: DocumentScope,
  { annotationId, on }: Reaction,
): Promise<WriteOp[]> {
  const comment = on && (await table.get(CommentEntity, { ...scope, ...on }));
  if (!comment?.reactions?.some(({ id }) => id === annotationId)) return [];
  return [
    replace(
      CommentEntity,
      { ...scope, ...comment, reactions: comment.reactions.filter(({ id }) => id !== annotationId) },
      comment._r,
    ),
  ];
}
