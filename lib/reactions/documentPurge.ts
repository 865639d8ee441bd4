import { involvementKeys, purgeRecords } from '../content/documentPurge.ts';
import { InvolvementEntity } from '../content/involvements.ts';
import { RecordIdEntity, recordIdKey } from '../content/recordIds.ts';
import { reactionDeletionOps, ReactionEntity } from './reactions.ts';

/** Purges the reactions of a deleted document. */
export const purgeReactions = purgeRecords(
  [ReactionEntity, InvolvementEntity, RecordIdEntity],
  ReactionEntity,
  (document, records) => ({
    recordIds: records.map(({ annotationId }) => recordIdKey('reaction', annotationId, document.documentId)),
    keys: involvementKeys(reactionDeletionOps(document, document.documentId, records)),
  }),
);
