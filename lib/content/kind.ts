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
  readonly documentId: string;
}

export interface Involved<R> {
  readonly record: R;
  readonly involvement: Involvement;
}

/** How the data of a user lists the records in which the user is involved. */
export interface KindInvolvements<R extends InDocument = InDocument, V extends object = object> {
  /** Of `/v2/users/data/get`. */
  readonly field: string;
  /** A function, because most functions do not need it. */
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
  /** Who may see a record that another user made. `none`: each involved user. */
  readonly access:
    | {
        /** The walker adds the document if the reader `needsDocumentAccess`. */
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
  /** A result of `locationKey`. Records that another request moved meanwhile stay. */
  readonly key: string;
  /** Epoch ms. Throws UNAVAILABLE after the deadline of the call. */
  readonly requireTime: () => number;
}

export interface WithLocation {
  readonly createdAt: number;
  readonly location?: string | undefined;
  readonly locationKey?: string | undefined;
}

/** The entity has the index `gsi2` of `locationIndex`. */
export interface KindLocations<T extends WithLocation = WithLocation> {
  readonly entity: Entity<T, DocumentScope, T>;
  /** Undefined if it would be too large. */
  move(record: T, stored: StoredLocation, location: Location, now: number): T | undefined;
  readonly deletion:
    | {
        /** They can share a transaction with those of other records. */
        ops(scope: DocumentScope, record: Stored<T>): readonly WriteOp[];
      }
    | {
        /** For records that change others. Returns false if some remain because of concurrent writes. */
        run(deletion: LocationDeletion, records: readonly LocatedRecord<T>[]): Promise<boolean>;
      };
}

export interface KindPurge {
  readonly document: PurgeHook<DeletedDocument>;
  /**
   * Instead of `document` after the deletion of an organization, if one partition has the records of all its documents.
   */
  readonly organization: PurgeHook<OrganizationScope> | 'none';
}

/** One partition has the records of all documents of the organization. */
export interface OrganizationRemoval extends Pick<EraseHook, 'entities' | 'isEarly'> {
  /**
   * Returns the position of the next call when the budget is used up, or `done`. With `documents`, changes only records
   * in these. Throws ABORTED if other requests change a record during every try.
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
 * What happens to the records of a kind when something around them changes. Each walker loops over the list in
 * `lib/kinds`. A member is `none` if the kind has nothing to do.
 */
export interface ContentKind {
  /** In the keys of involvements. */
  readonly name: string;
  /** With which customers name records. */
  readonly ids: RecordIds | 'none';
  /** The data of a user, and the documents that the user is involved in. */
  readonly involve: KindInvolvements | 'none';
  /** The records at a location. */
  readonly locate: KindLocations | 'none';
  /** What connected clients get about a change. */
  readonly hint: KindHints | KindPushes | 'none';
  /** After the deletion of a document or organization. */
  readonly purge: KindPurge | 'none';
  /** From the record that an involvement names. An erasure does this too. */
  readonly remove: RemoveInvolved | OrganizationRemoval | 'none';
  /** From all records, also those without an involvement. */
  readonly erase: EraseHook | OrganizationRemoval | 'none';
}

export function defineContentKind<const K extends ContentKind>(kind: K): K {
  return kind;
}
