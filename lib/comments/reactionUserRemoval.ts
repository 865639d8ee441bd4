import { removeReadInvolvement } from '../content/involvements.ts';
import {
  type DocumentRemoval,
  type EraseHook,
  isDocumentDeleted,
  type Outcome,
  recordsUpTo,
  type RemoveInvolved,
} from '../content/userRemoval.ts';
import { ReactionEntity } from '../reactions/reactions.ts';
import { eraseFromReaction, type Reaction, removeReactors } from '../reactions/rules.ts';
import type { Stored } from '../table/entity.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import type { Table, WriteOp } from '../table/table.ts';
import { type CommitTarget, commitThread } from './commitThread.ts';
import { withReaction } from './rules/decideReactions.ts';
import { CommentEntity } from './threads.ts';

export const eraseReactions: EraseHook = {
  entities: [ReactionEntity],
  async erase(removal, after) {
    const { removedUsers } = removal;
    const page = await recordsUpTo(removal, ReactionEntity, after);
    // One after another, because reactions on the same comment can change this comment.
    for (const reaction of page.values)
      if (eraseFromReaction(reaction, removedUsers) !== reaction)
        await retryOnConflict(() => changeReaction(removal, reaction));
    return page.next;
  },
};

/** Also deletes the involvement. */
export const removeReactor: RemoveInvolved = (removal, involvement) =>
  changeReaction(removal, { annotationId: involvement.id, createdAt: involvement.createdAt }, [
    removeReadInvolvement(removal.scope, involvement),
  ]);

/**
 * Tries once. Deletes a reaction that has no users left, unless its document is deleted: the purge of the document then
 * deletes the reaction.
 */
async function changeReaction(
  removal: DocumentRemoval,
  key: { annotationId: string; createdAt: number },
  extraOps: readonly WriteOp[] = [],
): Promise<Outcome> {
  const { table, scope, removedUsers, mode, clock } = removal;
  const reaction = await table.get(ReactionEntity, { ...scope, ...key });
  const removeUsers = mode === 'erase' ? eraseFromReaction : removeReactors;
  const remaining = reaction && removeUsers(reaction, removedUsers);
  if (!reaction || remaining === reaction) return table.tryWrite(extraOps);
  if (!remaining && (await isDocumentDeleted(removal, reaction.documentId))) return table.tryWrite(extraOps);
  return replaceReaction(table, { scope, now: clock() }, reaction, remaining, extraOps);
}

/** Tries once to replace a reaction, or to delete it with the reference in its comment. Emits no event. */
export async function replaceReaction(
  table: Table,
  target: CommitTarget,
  reaction: Stored<Reaction>,
  next: Reaction | undefined,
  ops: readonly WriteOp[] = [],
): Promise<Outcome> {
  const comment = !next && reaction.on && (await table.get(CommentEntity, { ...target.scope, ...reaction.on }));
  const before = { comments: comment ? [comment] : [], reactions: [reaction] };
  const changes = { after: withReaction(before, reaction, next), events: [], ops };
  return commitThread(table, target, before, changes);
}
