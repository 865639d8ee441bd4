import { involvementKeys, purgeRecords } from '../content/documentPurge.ts';
import { InvolvementEntity } from '../content/involvements.ts';
import { RecordIdEntity } from '../content/recordIds.ts';
import { reactionDeletionOps, ReactionEntity } from './reactions.ts';

/** Purges the reactions of a deleted document. */
export const purgeReactions = purgeRecords(
  [ReactionEntity, InvolvementEntity, RecordIdEntity],
  ReactionEntity,
  (document, records) => ({
    recordIds: records.map(({ annotationId }) => ({ kind: 'reaction', id: annotationId, within: document.documentId })),
    keys: involvementKeys(reactionDeletionOps(document, document.documentId, records)),
  }),
);
