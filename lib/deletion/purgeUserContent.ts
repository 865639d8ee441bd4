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

/** Which data of a user to purge. */
export interface UserContentPurge {
  /** Epoch ms. Data that was made later stays. */
  readonly removedAt: number;
  readonly mode: RemovalMode;
  /** Limits the purge to these documents (internal ids). The whole organization if left out. */
  readonly documents?: ReadonlySet<string> | undefined;
  /** The position where an earlier call stopped. */
  readonly after?: string | undefined;
}

/** Involvements per page. */
const INVOLVEMENTS_PER_PAGE = 100;
const PARALLEL = 4;

/** Removes an involvement and the user's part in its record, by kind. */
const removeInvolved: Readonly<Record<InvolvedKind, RemoveInvolved>> = {
  comment: removeCommentUser,
  reaction: removeReactor,
  recording: removeRecordingUser,
  notification: removeNotifiedUser,
};

/**
 * Purges a user's data in an organization, as far as the user's involvements lead to it:
 * - Threads that the user started are removed with all comments. So are the user's recordings and reactions.
 * - Comments in threads of other users keep only the author's id (`remove`), or are removed (`erase`).
 * - The user is removed from notifications and subscriptions. `erase` also reduces mentions to the id.
 *
 * `eraseContent` handles data without involvements. Each involvement up to `removedAt` is removed in one transaction with its record,
 * on the condition that the record has not changed. Emits no events. Idempotent: a call may run twice, concurrently or
 * from an older position.
 *
 * Returns the position at `deadline` (epoch ms). Throws ABORTED if other requests keep changing a record.
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
  // The sort key contains the kind. Kinds before it are done.
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
        { between: upTo(kind, removedAt), limit: INVOLVEMENTS_PER_PAGE, after: from },
      );
      const involvements = page.values
        .filter(({ documentKey }) => documents?.has(documentKey) ?? true)
        .map((involvement): Involvement => ({ ...involvement, userId, kind }));
      // Sequential within a group: involvements of one thread, or reactions, change the same records.
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

/** Returns the range of sort keys of a kind of involvements up to a time. */
function upTo(kind: InvolvedKind, removedAt: number): [string, string] {
  // The upper bound is the separator plus one. It includes all keys that start with the time.
  return [keyPrefix(['DATA', kind]), `${keyPrefix(['DATA', kind, isoTime(removedAt)]).slice(0, -1)}$`];
}
