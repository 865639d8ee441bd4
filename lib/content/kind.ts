import type * as z from 'zod';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import type { Entity, Stored } from '../table/entity.ts';
import type { PurgeBudget } from '../table/purgePartition.ts';
import type { Table, WriteOp } from '../table/table.ts';
import type { DeletedDocument, PurgeHook } from './documentPurge.ts';
import type { DocumentScope } from './documentScope.ts';
import type { Involvement } from './involvements.ts';
import type { RecordIds } from './recordIds.ts';
import type { ResponseNames } from './rules/eventMetadata.ts';
import type { KindHints, KindPushes } from './rules/hints.ts';
import type { Location, StoredLocation } from './rules/location.ts';
import type { RemovedUsers } from './rules/removedUsers.ts';
import type { RecordAccess } from './rules/threadAccess.ts';
import type { EraseHook, RemoveInvolved } from './userRemoval.ts';

interface InDocument {
  /** The id that the customer chose. */
  readonly documentId: string;
}

/** A record that exists, and the involvement that names it. */
export interface Involved<R> {
  readonly record: R;
  readonly involvement: Involvement;
}

/** How the data of a user lists the records in which the user is involved. */
export interface KindInvolvements<R extends InDocument = InDocument, V extends object = object> {
  /** The field of `/v2/users/data/get`. */
  readonly field: string;
  /** The schema of the field. A function, because most functions do not need it. */
  response(): z.ZodType<readonly V[]>;
  /** Returns the record of each involvement. The value is undefined for a deleted record. */
  read(
    table: Table,
    scope: OrganizationScope,
    involvements: readonly Involvement[],
  ): Promise<readonly (R | undefined)[]>;
  /** Returns the document of each involvement, if this is cheaper than `read`. */
  readDocuments?(
    table: Table,
    scope: OrganizationScope,
    involvements: readonly Involvement[],
  ): Promise<readonly (InDocument | undefined)[]>;
  toResponse(names: ResponseNames, record: R): V;
  /** Who may see a record that another user made. `none`: each involved user. */
  readonly access:
    | {
        /** Returns the rules of each record. The walker adds the document if the reader `needsDocumentAccess`. */
        read(
          table: Table,
          scope: OrganizationScope,
          organizationId: string,
          records: readonly Involved<R>[],
        ): Promise<readonly (RecordAccess & { readonly needsDocumentAccess: boolean })[]>;
      }
    | 'none';
}

/** A record with the keys of its document. */
export interface LocatedRecord<T> {
  readonly scope: DocumentScope;
  readonly record: Stored<T>;
}

/** A call that deletes all records at a location. */
export interface LocationDeletion {
  readonly table: Table;
  /** A result of `locationKey`. Records that another request moved in the meantime stay. */
  readonly key: string;
  /** Returns the time in epoch ms. Throws UNAVAILABLE after the deadline of the call. */
  readonly requireTime: () => number;
}

export interface WithLocation {
  readonly createdAt: number;
  readonly location?: string | undefined;
  readonly locationKey?: string | undefined;
}

/** The records of a kind that have a location. Their entity has the index `gsi2` of `locationIndex`. */
export interface KindLocations<T extends WithLocation = WithLocation> {
  readonly entity: Entity<T, DocumentScope, T>;
  /** Returns the record at another location, or undefined if it would be too large. */
  move(record: T, stored: StoredLocation, location: Location, now: number): T | undefined;
  readonly deletion:
    | {
        /** Returns the operations that delete a record. They can share a transaction with those of other records. */
        ops(scope: DocumentScope, record: Stored<T>): readonly WriteOp[];
      }
    | {
        /** Deletes records that change other records. Returns false if some remain because of concurrent writes. */
        run(deletion: LocationDeletion, records: readonly LocatedRecord<T>[]): Promise<boolean>;
      };
}

/** How the records of a kind go after a deletion. */
export interface KindPurge {
  readonly document: PurgeHook<DeletedDocument>;
  /** Runs instead of `document` after the deletion of an organization, if one partition has the records of all its documents. */
  readonly organization: PurgeHook<OrganizationScope> | 'none';
}

/** Removes users from all records of an organization, because one partition has those of all its documents. */
export interface OrganizationRemoval extends Pick<EraseHook, 'entities' | 'isEarly'> {
  /**
   * Stops when the budget is used up. Returns the position of the next call, or `done`. With `documents`, changes only records in
   * these documents. Throws ABORTED if other requests change a record during every try.
   */
  removeUsers(
    table: Table,
    scope: OrganizationScope,
    removed: RemovedUsers & { readonly documents?: ReadonlySet<string> | undefined },
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
  /** The ids with which customers name records. */
  readonly ids: RecordIds | 'none';
  /** The data of a user, and the documents that the user is involved in. */
  readonly involve: KindInvolvements | 'none';
  /** Reads, changes and deletes the records at a location. */
  readonly locate: KindLocations | 'none';
  /** The hints that connected clients get about a change. */
  readonly hint: KindHints | KindPushes | 'none';
  /** Purges what the kind stored in a deleted document or organization. */
  readonly purge: KindPurge | 'none';
  /** Removes users from the record that an involvement names. An erasure does this too. */
  readonly remove: RemoveInvolved | OrganizationRemoval | 'none';
  /** Erases users from all records, also from those without an involvement. */
  readonly erase: EraseHook | OrganizationRemoval | 'none';
}

export function defineContentKind<const K extends ContentKind>(kind: K): K {
  return kind;
}
