import { involvementKeys, purgeRecords } from '../content/documentPurge.ts';
import { InvolvementEntity } from '../content/involvements.ts';
import { defineContentKind } from '../content/kind.ts';
import { RecordIdEntity, recordIdKey } from '../content/recordIds.ts';
import { reactionDeletionOps, ReactionEntity } from '../reactions/reactions.ts';
import { eraseReactions, removeReactor } from './reactionUserRemoval.ts';

/** Stands here because a reaction on a comment changes the comment. */
export const reactionKind = defineContentKind({
  name: 'reaction',
  purge: {
    document: purgeRecords(
      [ReactionEntity, InvolvementEntity, RecordIdEntity],
      ReactionEntity,
      (document, records) => ({
        recordIds: records.map(({ annotationId }) => recordIdKey('reaction', annotationId, document.documentId)),
        keys: involvementKeys(reactionDeletionOps(document, document.documentId, records)),
      }),
    ),
    organization: 'none',
  },
  remove: removeReactor,
  erase: eraseReactions,
});
