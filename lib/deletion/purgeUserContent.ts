import { removeCommentUser } from '../comments/userRemoval.ts';
import { type InvolvedKind, involvedKinds, type Involvement, InvolvementEntity } from '../content/involvements.ts';
import type { RemovedUsers } from '../content/rules/removedUsers.ts';
import type { DocumentRemoval, RemovalMode, RemoveInvolved } from '../content/userRemoval.ts';
import type { OrganizationScope } from '../directory/folders/folders.ts';
import { removeNotifiedUser } from '../notifications/userRemoval.ts';
import { removeReactor } from '../reactions/userRemoval.ts';
import { removeRecordingUser } from '../recordings/userRemoval.ts';
import { inParallel } from '../shared/inParallel.ts';
import { isoTime } from '../shared/isoTime.ts';
import { keyPrefix } from '../table/keys.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import type { Table } from '../table/table.ts';

/** Selects the data of a user to purge. */
export interface UserContentPurge {
  /** The time of the removal, epoch ms. Data that was made later stays. */
  readonly removedAt: number;
  readonly mode: RemovalMode;
  /** Limits the purge to documents with these internal ids. If absent, purges the data in the whole organization. */
  readonly documents?: ReadonlySet<string> | undefined;
  /** The position where an earlier call stopped. */
  readonly after?: string | undefined;
}

/** The number of involvements in one page. */
const INVOLVEMENTS_PER_PAGE = 100;
const PARALLEL = 4;

/** The functions that remove an involvement and the user's part in its record, by kind. */
const removeInvolved: Readonly<Record<InvolvedKind, RemoveInvolved>> = {
  comment: removeCommentUser,
  reaction: removeReactor,
  recording: removeRecordingUser,
  notification: removeNotifiedUser,
};

/**
 * Purges a user's data in an organization, if it can be found through the user's involvements:
 *
 * - Threads that the user started are removed with all comments. The user's recordings and reactions are removed too.
 * - Comments in threads of other users keep only the author's id (`remove`), or are removed (`erase`).
 * - The user is removed from notifications and subscriptions. `erase` also reduces mentions to the id.
 *
 * `eraseContent` handles data without involvements. Each involvement up to `removedAt` is removed in one transaction with the
 * change of its record, on the condition that the record has not changed. Emits no events. The call is idempotent: it can run
 * twice, at the same time, or from an older position.
 *
 * Returns the position at `deadline` (epoch ms), or `done`. Throws ABORTED if other requests keep changing a record.
 */
export async function purgeUserContent(
  table: Table,
  scope: OrganizationScope,
  userId: string,
  { removedAt, mode, documents, after }: UserContentPurge,
  clock: () => number,
  deadline: number,
): Promise<{ after: string } | 'done'> {
  const removedUsers: RemovedUsers = { userIds: new Set([userId]), removedAt };
  // The sort key of the position contains the current kind. All kinds before this kind are done.
  const firstKind =
    after === undefined ? 0 : involvedKinds.findIndex((kind) => after.startsWith(keyPrefix(['DATA', kind])));
  for (const [index, kind] of involvedKinds.entries()) {
    if (index < firstKind) continue;
    let from = index === firstKind ? after : undefined;
    do {
      if (clock() > deadline) return { after: from ?? keyPrefix(['DATA', kind]) };
      const page = await table.query(
        InvolvementEntity,
        { ...scope, userId },
        { between: keysUpTo(kind, removedAt), limit: INVOLVEMENTS_PER_PAGE, after: from },
      );
      const involvements = page.values
        .filter(({ documentKey }) => documents?.has(documentKey) ?? true)
        .map((involvement): Involvement => ({ ...involvement, userId, kind }));
      // The involvements of one group change the same records, so they are removed one after the other.
      const groups = Map.groupBy(involvements, ({ documentKey, id }) =>
        JSON.stringify([documentKey, kind === 'reaction' ? undefined : id]),
      );
      await inParallel([...groups.values()], PARALLEL, async (group) => {
        for (const involvement of group) {
          const removal: DocumentRemoval = {
            table,
            scope: { ...scope, documentKey: involvement.documentKey },
            removedUsers,
            mode,
            clock,
          };
          await retryOnConflict(() => removeInvolved[kind](removal, involvement));
        }
      });
      from = page.next;
    } while (from !== undefined);
  }
  return 'done';
}

/** Returns the range of the sort keys of all involvements of a kind up to a time. */
function keysUpTo(kind: InvolvedKind, removedAt: number): [string, string] {
  // The upper bound ends with the character after the separator `#`. The range therefore includes all keys that start with the
  // time.
  return [keyPrefix(['DATA', kind]), `${keyPrefix(['DATA', kind, isoTime(removedAt)]).slice(0, -1)}$`];
}
