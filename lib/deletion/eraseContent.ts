import * as z from 'zod';
import { eraseActivities } from '../activities/userRemoval.ts';
import { eraseReactions } from '../comments/reactionUserRemoval.ts';
import { eraseThreads } from '../comments/userRemoval.ts';
import type { RemovedUsers } from '../content/rules/removedUsers.ts';
import type { EraseHook } from '../content/userRemoval.ts';
import { DocumentEntity } from '../directory/documents.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { eraseLiveStates } from '../liveState/userRemoval.ts';
import { eraseNotifications } from '../notifications/userRemoval.ts';
import { erasePresence } from '../presence/userRemoval.ts';
import { eraseRecordings } from '../recordings/userRemoval.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { PurgeBudget } from '../table/purgePartition.ts';
import type { Table } from '../table/table.ts';

/** The position at which a pass over an organization's documents stopped. */
export const ContentPosition = z.object({
  /** The document id of the last document in which the pass has begun. */
  listed: z.string().optional(),
  /**
   * The documents in which the pass has begun and not ended. `part` is the index of the current hook in the list of hooks. `after`
   * is the last sort key that this hook has read.
   */
  open: z.array(z.object({ documentKey: z.string(), part: z.number(), after: z.string().optional() })),
});
export type ContentPosition = z.output<typeof ContentPosition>;
type UnfinishedDocument = ContentPosition['open'][number];

/** The number of documents that are read in parallel. */
const DOCUMENTS_AT_A_TIME = 8;

/**
 * The erase hooks of all features, in the order in which they run. Each hook erases users from the records of one feature.
 * Notifications come before the comments that they quote.
 */
export const eraseHooks: readonly EraseHook[] = [
  eraseNotifications,
  eraseActivities,
  eraseRecordings,
  eraseReactions,
  eraseThreads,
  erasePresence,
  eraseLiveStates,
];

/**
 * The erase hooks of the first pass, which starts at once. Presences end early, because other users see them. Notifications are
 * erased while the comments that they quote still exist. These comments say whose text a notification quotes.
 */
const earlyEraseHooks: readonly EraseHook[] = [erasePresence, eraseNotifications];

/** The records that a pass reads: those of the hooks of the first pass, or those of all hooks. */
export type ErasedRecords = 'early' | 'everything';

/**
 * Erases users from content to which no involvement refers. An involvement is an item that refers from a user to a record with data
 * of the user. This content is:
 * - activities, subscriptions and lists of readers
 * - comments that stayed after an earlier removal
 * - names, addresses and pictures in records of other users
 *
 * `lib/content/rules/removedUsers.ts` has the rules. Activities that customers cannot change are erased too, because GDPR requires
 * it.
 *
 * Reads all content of the organization once, several documents in parallel. Changes a record only if it still has the revision
 * that was read (optimistic lock). Returns the position at the end of the budget, or `done`. Throws ABORTED if other requests keep
 * changing a record.
 */
export async function eraseContent(
  table: Table,
  scope: OrganizationScope,
  removedUsers: RemovedUsers,
  { records, from }: { records: ErasedRecords; from?: ContentPosition | undefined },
  { clock, deadline }: PurgeBudget,
): Promise<ContentPosition | 'done'> {
  const hooks = records === 'early' ? earlyEraseHooks : eraseHooks;
  let [lastListed, open] = [from?.listed, [...(from?.open ?? [])]];
  for (;;) {
    if (open.length === 0) {
      const after = lastListed === undefined ? undefined : DocumentEntity.key({ ...scope, documentId: lastListed }).SK;
      const page = await table.query(DocumentEntity, scope, { limit: DOCUMENTS_AT_A_TIME, after });
      if (page.values.length === 0) return 'done';
      lastListed = page.values.at(-1)?.documentId;
      open = page.values.map(({ internalId }) => ({ documentKey: internalId, part: 0 }));
    }
    const unfinished: UnfinishedDocument[] = [];
    await inParallel(open, DOCUMENTS_AT_A_TIME, async (document) => {
      let position: UnfinishedDocument | undefined = document;
      while (position && clock() <= deadline) position = await continuePart(position);
      if (position) unfinished.push(position);
    });
    open = unfinished;
    if (clock() > deadline) return { listed: lastListed, open };
  }

  async function continuePart({
    documentKey,
    part,
    after,
  }: UnfinishedDocument): Promise<UnfinishedDocument | undefined> {
    const removal = { table, scope: { ...scope, documentKey }, removedUsers, mode: 'erase', clock } as const;
    const next = await hooks[part]?.erase(removal, after);
    if (next !== undefined) return { documentKey, part, after: next };
    return part + 1 < hooks.length ? { documentKey, part: part + 1 } : undefined;
  }
}
