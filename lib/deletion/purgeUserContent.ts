import { removeReactor } from '../comments/reactionUserRemoval.ts';
import { removeCommentUser } from '../comments/userRemoval.ts';
import {
  involvedAt,
  type InvolvedKind,
  involvedKinds,
  type Involvement,
  InvolvementEntity,
} from '../content/involvements.ts';
import type { RemovedUsers } from '../content/rules/removedUsers.ts';
import type { DocumentRemoval, RemovalMode, RemoveInvolved } from '../content/userRemoval.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { removeNotifiedUser } from '../notifications/userRemoval.ts';
import { removeRecordingUser } from '../recordings/userRemoval.ts';
import { inParallel } from '../shared/inParallel.ts';
import { isoTime } from '../shared/isoTime.ts';
import type { Stored } from '../table/entity.ts';
import { keyAfter, keyPrefix } from '../table/keys.ts';
import type { PurgeBudget } from '../table/purgePartition.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import type { Table } from '../table/table.ts';

/** Selects which data of a user is purged. */
export interface UserContentPurge {
  /** When the user was removed, epoch ms. Data that was made later stays. */
  readonly removedAt: number;
  readonly mode: RemovalMode;
  /** Limits the purge to documents with these internal ids. If absent, purges the whole organization. */
  readonly documents?: ReadonlySet<string> | undefined;
  /** The position at which an earlier call stopped. */
  readonly after?: string | undefined;
}

/** The number of involvements in one page. An involvement refers from a user to a record that contains data of the user. */
const INVOLVEMENTS_PER_PAGE = 100;
const PARALLEL = 4;

/** For each kind of record, the function that removes a user from a record, and the involvement that refers to the record. */
const removeInvolved: Readonly<Record<InvolvedKind, RemoveInvolved>> = {
  comment: removeCommentUser,
  reaction: removeReactor,
  recording: removeRecordingUser,
  notification: removeNotifiedUser,
};

/**
 * Purges a user's data in the records to which the user's involvements in an organization refer:
 * - Threads that the user started are removed with all their comments. The user's recordings and reactions are removed too.
 * - The user's comments in threads of other users keep only the author's id (`remove`), or are removed (`erase`).
 * - The user is removed from notifications and subscriptions. `erase` also reduces mentions to the user's id.
 *
 * `eraseContent` erases data to which no involvement refers. Each involvement up to `removedAt` is removed in one transaction with
 * the change of its record. The transaction fails if the record has changed in the meantime. Emits no events. The call is
 * idempotent: it can run twice, in parallel, or from an older position.
 *
 * Returns `done` when nothing remains. When the budget is used up, stops at the end of a page and returns the position. The first
 * page with involvements is always processed, so that slow calls make progress too. Throws ABORTED if other requests keep changing
 * a record.
 */
export async function purgeUserContent(
  table: Table,
  scope: OrganizationScope,
  userId: string,
  { removedAt, mode, documents, after }: UserContentPurge,
  { clock, deadline }: PurgeBudget,
): Promise<{ after: string } | 'done'> {
  const removedUsers: RemovedUsers = { userIds: new Set([userId]), removedAt };
  // An erasure changes the record in any case, because it reads all content.
  const isSelected = (involvement: Involvement) => mode === 'erase' || involvedAt(involvement) <= removedAt;
  const readAgain = async (key: Involvement): Promise<Stored<Involvement> | undefined> => {
    const involvement = await table.get(InvolvementEntity, { ...scope, ...key });
    return involvement && { ...key, ...involvement };
  };
  // The position contains the current kind of involvement. All kinds before it are done.
  const firstKind =
    after === undefined ? 0 : involvedKinds.findIndex((kind) => after.startsWith(keyPrefix(['DATA', kind])));
  for (const [index, kind] of involvedKinds.entries()) {
    if (index < firstKind) continue;
    let from = index === firstKind ? after : undefined;
    do {
      const page = await table.query(
        InvolvementEntity,
        { ...scope, userId },
        { between: keysUpTo(kind, removedAt), limit: INVOLVEMENTS_PER_PAGE, after: from },
      );
      const involvements = page.values
        .filter(({ documentKey }) => documents?.has(documentKey) ?? true)
        .map((involvement): Stored<Involvement> => ({ ...involvement, userId, kind }))
        .filter(isSelected);
      // Removals in one group can change the same item, so they run one after the other.
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
          let current: Stored<Involvement> | undefined = involvement;
          await retryOnConflict(async () => {
            const outcome = current && isSelected(current) ? await removeInvolved[kind](removal, current) : 'done';
            // A request may have involved the user again, or another worker may have removed the involvement.
            if (outcome === 'conflict') current = await readAgain(involvement);
            return outcome;
          });
        }
      });
      from = page.next;
      const nextKind = involvedKinds[index + 1];
      const position = from ?? (nextKind && keyPrefix(['DATA', nextKind]));
      if (position !== undefined && page.values.length > 0 && clock() > deadline) return { after: position };
    } while (from !== undefined);
  }
  return 'done';
}

/** Returns the range of sort keys for a user's involvements of one kind up to `removedAt` (epoch ms). */
function keysUpTo(kind: InvolvedKind, removedAt: number): [string, string] {
  return [keyPrefix(['DATA', kind]), keyAfter(['DATA', kind, isoTime(removedAt)])];
}
