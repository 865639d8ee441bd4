import { purgeActivities } from '../activities/documentPurge.ts';
import { purgeThreads } from '../comments/documentPurge.ts';
import { type DeletedDocument, type PurgeHook, purgeItem, purgeItems } from '../content/documentPurge.ts';
import { purgeEditors } from '../editors/deleteEditors.ts';
import { LiveChannelEntity } from '../live/entities.ts';
import { LiveStateCountEntity, LiveStateEntity } from '../liveState/liveStates.ts';
import { purgeDocumentJudgments } from '../memory/purgeJudgments.ts';
import { purgeNotifications } from '../notifications/documentPurge.ts';
import { PresenceEntity } from '../presence/presences.ts';
import { purgeReactions } from '../reactions/documentPurge.ts';
import { purgeRecordings } from '../recordings/documentPurge.ts';
import { purgeResource, resourceEntities } from './purgeResource.ts';

const purgeAccess: PurgeHook<DeletedDocument> = {
  entities: resourceEntities,
  purge: (table, document, budget) => purgeResource(table, document, document.documentKey, budget),
};

/** Purges items in partitions that contain one document only. */
const ownPartitionPurges: readonly PurgeHook<DeletedDocument>[] = [
  purgeThreads,
  purgeReactions,
  purgeRecordings,
  purgeNotifications,
  purgeActivities,
  purgeEditors,
  purgeItems(PresenceEntity),
  purgeItems(LiveStateEntity),
  purgeItems(LiveStateCountEntity),
  purgeAccess,
];

/** Purges items in partitions that contain all documents of the organization. */
const sharedPartitionPurges: readonly PurgeHook<DeletedDocument>[] = [
  purgeDocumentJudgments,
  purgeItem(LiveChannelEntity),
];

/**
 * The purge hooks of all features for a deleted document. Each hook purges what one feature stored in the document. Each entity
 * with `ownedBy: 'document'` belongs to one of the hooks.
 */
export const documentPurges: readonly PurgeHook<DeletedDocument>[] = [...ownPartitionPurges, ...sharedPartitionPurges];

/** Returns the hooks that a document needs. The purge of an organization removes partitions of all its documents at once. */
export function documentPurgesFor({ withOrganization }: DeletedDocument): readonly PurgeHook<DeletedDocument>[] {
  return withOrganization ? ownPartitionPurges : documentPurges;
}
