import type * as z from 'zod';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import type { Entity, Stored } from '../table/entity.ts';
import type { PurgeBudget } from '../table/purgePartition.ts';
import type { Table, WriteOp } from '../table/table.ts';
import type { DeletedDocument, PurgeHook } from './documentPurge.ts';
import type { DocumentScope } from './documentScope.ts';
import type { Involvement } from './involvements.ts';
import type { RecordIds } from './recordIds.ts';
import type { RenameHook } from './rename.ts';
import type { ResponseNames } from './rules/eventMetadata.ts';
import type { KindHints, KindPushes } from './rules/hints.ts';
import type { Location, StoredLocation } from './rules/location.ts';
import type { RemovedUsers } from './rules/removedUsers.ts';
import type { RecordAccess } from './rules/threadAccess.ts';
import type { EraseHook, RemoveInvolved } from './userRemoval.ts';

interface InDocument {
  readonly documentId: string;
}

export interface Involved<R> {
  readonly record: R;
  readonly involvement: Involvement;
}

export interface KindInvolvements<R extends InDocument = InDocument, V extends object = object> {
  /** The field of `/v2/users/data/get`. */
  readonly field: string;
  response(): z.ZodType<readonly V[]>;
  /** Undefined for a deleted record. */
  read(
    table: Table,
    scope: OrganizationScope,
    involvements: readonly Involvement[],
  ): Promise<readonly (R | undefined)[]>;
  /** The document of each involvement, if this is cheaper than `read`. */
  readDocuments?(
    table: Table,
    scope: OrganizationScope,
    involvements: readonly Involvement[],
  ): Promise<readonly (InDocument | undefined)[]>;
  toResponse(names: ResponseNames, record: R): V;
  /** Which of the involved users may see a record that another user made. `none`: no rule, all of them. */
  readonly access:
    | {
        read(
          table: Table,
          scope: OrganizationScope,
          organizationId: string,
          records: readonly Involved<R>[],
        ): Promise<readonly (RecordAccess & { readonly needsDocumentAccess: boolean })[]>;
      }
    | 'none';
}

export interface LocatedRecord<T> {
  readonly scope: DocumentScope;
  readonly record: Stored<T>;
}

export interface LocationDeletion {
  readonly table: Table;
  /**
   * The key of the location. A record whose stored key differs was moved by another request and must not be deleted.
   */
  readonly key: string;
  /** Epoch ms. Throws UNAVAILABLE after the deadline. */
  readonly requireTime: () => number;
}

export interface WithLocation {
  readonly createdAt: number;
  readonly location?: string | undefined;
  readonly locationKey?: string | undefined;
}

export interface KindLocations<T extends WithLocation = WithLocation> {
  readonly entity: Entity<T, DocumentScope, T>;
  /** Undefined if the moved record would be too large. */
  move(record: T, stored: StoredLocation, location: Location, now: number): T | undefined;
  readonly deletion:
    | {
        ops(scope: DocumentScope, record: Stored<T>): readonly WriteOp[];
      }
    | {
        /** For records whose deletion changes other records. Returns false if some remain. */
        run(deletion: LocationDeletion, records: readonly LocatedRecord<T>[]): Promise<boolean>;
      };
}

export interface KindPurge {
  readonly document: PurgeHook<DeletedDocument>;
  /** When an organization is deleted, replaces `document` if one partition has the records of all documents. */
  readonly organization: PurgeHook<OrganizationScope> | 'none';
}

export interface OrganizationRemoval extends Pick<EraseHook, 'entities' | 'isEarly'> {
  /**
   * Changes only records in `documents`, if this is given. Returns the position at the end of the budget, or `done`.
   * Throws ABORTED if others keep changing a record.
   */
  removeUsers(
    table: Table,
    scope: OrganizationScope,
    removed: RemovedUsers & {
      readonly documents?: ReadonlySet<string> | undefined;
      /** Hashes of the users' addresses (`recipientOf`). Only an erasure has them. */
      readonly recipients?: ReadonlySet<string> | undefined;
    },
    from: string | undefined,
    budget: PurgeBudget,
  ): Promise<{ readonly after: string } | 'done'>;
}

/**
 * What happens to the records of a kind when something around them changes. Walkers loop over the list in `lib/kinds`.
 * A member is `none` if the kind has nothing to do.
 */
export interface ContentKind {
  readonly name: string;
  readonly ids: RecordIds | 'none';
  /** For the listings of a user's data and of the documents that involve the user. */
  readonly involve: KindInvolvements | 'none';
  readonly locate: KindLocations | 'none';
  /** Writes the new id of a migrated document into its records. */
  readonly rename: readonly RenameHook[] | 'none';
  readonly hint: KindHints | KindPushes | 'none';
  readonly purge: KindPurge | 'none';
  /** A function removes a user from the record of an involvement, in an erasure too. */
  readonly remove: RemoveInvolved | OrganizationRemoval | 'none';
  /** Erases users from all records, also those without an involvement. */
  readonly erase: EraseHook | OrganizationRemoval | 'none';
}

export function defineContentKind<const K extends ContentKind>(kind: K): K {
  return kind;
}
