import type { OrganizationScope } from '../directory/organizationScope.ts';
import type { PurgeBudget } from '../table/purgePartition.ts';
import type { Table } from '../table/table.ts';
import type { DeletedDocument, PurgeHook } from './documentPurge.ts';
import type { RemovedUsers } from './rules/removedUsers.ts';
import type { EraseHook, RemoveInvolved } from './userRemoval.ts';

/** How the records of a kind go after a deletion. */
export interface KindPurge {
  readonly document: PurgeHook<DeletedDocument>;
  /** Runs instead of `document` after the deletion of an organization, if one partition has the records of all its documents. */
  readonly organization: PurgeHook<OrganizationScope> | 'none';
}

/** Erases users from all records of an organization, because one partition has those of all its documents. */
export interface OrganizationEraseHook {
  readonly entities: EraseHook['entities'];
  /**
   * Erases until the budget is used up. Returns the position of the next call, or `done`. Throws ABORTED if other requests change a
   * record during every try.
   */
  eraseOrganization(
    table: Table,
    scope: OrganizationScope,
    removedUsers: RemovedUsers,
    from: string | undefined,
    budget: PurgeBudget,
  ): Promise<{ readonly after: string } | 'done'>;
}

/**
 * A kind of content: what happens to its records when something around them changes. Each walker over content loops over the
 * list in `lib/kinds`. A member is `none` if the kind has nothing to do.
 */
export interface ContentKind {
  /** The name in the keys of involvements. */
  readonly name: string;
  /** Purges what the kind stored in a deleted document or organization. */
  readonly purge: KindPurge | 'none';
  /** Removes a user from the record that an involvement names. */
  readonly remove: RemoveInvolved | 'none';
  /** Erases users from all records, also from those without an involvement. */
  readonly erase: EraseHook | OrganizationEraseHook | 'none';
}

export function defineContentKind<const K extends ContentKind>(kind: K): K {
  return kind;
}
