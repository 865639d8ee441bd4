import * as z from 'zod';
import { purgeRecords } from '../content/documentPurge.ts';
import { InvolvementEntity } from '../content/involvements.ts';
import { defineContentKind, type LocatedRecord, type LocationDeletion } from '../content/kind.ts';
import { renameRecords } from '../content/rename.ts';
import { hintForReaders, verbsOfWritten, type Written } from '../content/rules/hints.ts';
import { ReactionEntity, reactionIds, reactionInvolvements, readReactions } from '../reactions/reactions.ts';
import { type Reaction, ReactionResponse, toReactionResponse } from '../reactions/rules.ts';
import { inParallel } from '../shared/inParallel.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { eraseReactions, removeReactor, replaceReaction } from './reactionUserRemoval.ts';

const PARALLEL = 4;

/** Stands here because a reaction on a comment changes the comment. */
export const reactionKind = defineContentKind({
  name: 'reaction',
  ids: reactionIds,
  involve: {
    field: 'reactions',
    response: () => z.array(ReactionResponse).describe('The reactions of the user.'),
    read: readReactions,
    toResponse: (names, reaction: Reaction) => toReactionResponse(names, reaction),
    access: 'none',
  },
  locate: {
    entity: ReactionEntity,
    move: (reaction: Reaction, stored, _location, now) => ({ ...reaction, ...stored, lastUpdated: now }),
    deletion: { run: deleteAtLocation },
  },
  rename: [renameRecords(ReactionEntity, { ids: { of: reactionIds, idOf: ({ annotationId }) => annotationId } })],
  purge: {
    document: purgeRecords([ReactionEntity, InvolvementEntity], reactionIds, ReactionEntity, (document, records) => ({
      ids: records.map(({ annotationId }) => annotationId),
      keys: records
        .flatMap((reaction) => reactionInvolvements(document, reaction))
        .map((involvement) => InvolvementEntity.key({ ...document, ...involvement })),
    })),
    organization: 'none',
  },
  hint: {
    types: { 'reaction.add': 'reaction', 'reaction.update': 'reaction' },
    written: {
      Reaction(change: Written<Pick<Reaction, 'annotationId' | 'on'>>) {
        const { annotationId: reactionId, on } = change.item;
        const ids = on ? { annotationId: on.annotationId, commentId: on.commentId, reactionId } : { reactionId };
        return hintForReaders(change, `reaction.${verbsOfWritten[change.change]}`, ids);
      },
    },
    // The removal of a reaction on a comment also changes the comment, and that change has a hint.
    removed: {},
  },
  remove: removeReactor,
  erase: eraseReactions,
});

async function deleteAtLocation(
  { table, key, requireTime }: LocationDeletion,
  reactions: readonly LocatedRecord<Reaction>[],
): Promise<boolean> {
  // The deletion of a reaction on a comment changes the comment, so such reactions are deleted one after the other.
  const groups = Map.groupBy(reactions, ({ record: { on } }) => JSON.stringify(on));
  await inParallel([...groups.values()], PARALLEL, async (group) => {
    for (const { scope, record } of group) {
      const target = { scope, now: requireTime() };
      await retryOnConflict(async () => {
        const reaction = await table.get(ReactionEntity, { ...scope, ...record });
        if (reaction?.locationKey !== key) return 'done';
        return replaceReaction(table, target, reaction, undefined);
      });
    }
  });
  return true;
}
