import * as z from 'zod';
import { organizationPartition, type OrganizationScope } from '../directory/organizationScope.ts';
import { isoTime } from '../shared/isoTime.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { sortableNumber } from '../table/keys.ts';
import { remove, removeUnlessNewer, upsert, type WriteOp } from '../table/table.ts';
import type { DocumentScope } from './documentScope.ts';

const Schema = z.object({
  documentKey: z.string(),
  /** The id of the reaction, recording or notification. For a comment, the id of its thread. */
  id: z.string(),
  /** When the record with this id was created, in epoch ms. The sort key of that record contains this time. */
  createdAt: z.number(),
  /** The id of the comment. Undefined for other kinds. */
  commentId: z.number().optional(),
  /** True if the user made the record. False if the user is mentioned, assigned or notified. */
  made: z.boolean(),
  /**
   * When a change of an existing record involved the user, in epoch ms, such as an assignment to an older thread. Undefined if the
   * user is involved since the creation of the record.
   */
  since: z.number().optional(),
});

/** A user's involvement in a record, such as a comment that mentions the user. */
export interface Involvement extends z.output<typeof Schema> {
  readonly userId: string;
  /** The name of the kind of content. */
  readonly kind: string;
  /**
   * The creation time of the comment, reaction, recording or notification in epoch ms. It never changes, so paging neither loses
   * nor repeats records.
   */
  readonly at: number;
}

/** In a partition of the user: an index would be eventually consistent. */
export const InvolvementEntity = defineEntity({
  type: 'Involvement',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'The involvement of a user in a comment, reaction, recording or notification',
  schema: Schema.extend({ at: z.number() }),
  pk: (of: OrganizationScope & { userId: string }) => organizationPartition(of, 'USER', of.userId),
  sk: (key: { kind: string; at: number; documentKey: string; id: string; commentId?: number | undefined }) => [
    'DATA',
    key.kind,
    isoTime(key.at),
    key.documentKey,
    key.id,
    // Comments that one request adds have the same time. The zeros keep them in the order of their ids.
    ...(key.commentId === undefined ? [] : [sortableNumber(key.commentId)]),
  ],
});

/**
 * A second write changes nothing. If a later request involves the user again, the involvement gets a higher revision.
 */
export function addInvolvement({ tenant, organizationKey }: OrganizationScope, involvement: Involvement): WriteOp {
  return upsert(InvolvementEntity, { tenant, organizationKey, ...involvement }, involvement.since);
}

export function removeInvolvement(
  { tenant, organizationKey }: OrganizationScope,
  involvement: Omit<Involvement, 'made' | 'createdAt' | 'since'>,
): WriteOp {
  return remove(InvolvementEntity, { tenant, organizationKey, ...involvement });
}

/** Conflicts if a request has involved the user again since the read. */
export function removeReadInvolvement(
  { tenant, organizationKey }: OrganizationScope,
  involvement: Stored<Involvement>,
): WriteOp {
  return removeUnlessNewer(InvolvementEntity, { tenant, organizationKey, ...involvement }, involvement._r);
}

/** Epoch ms. After a removal of the user, only later involvements count. */
export function involvedAt({ at, since }: Pick<Involvement, 'at' | 'since'>): number {
  return since ?? at;
}

/** For a comment, its thread. */
export type InvolvedRecord = Pick<Involvement, 'documentKey' | 'id' | 'createdAt'>;

export function involvedRecordKeys(
  { tenant, organizationKey }: OrganizationScope,
  involvements: readonly InvolvedRecord[],
) {
  return involvements.map(({ documentKey, id, createdAt }) => ({
    tenant,
    organizationKey,
    documentKey,
    annotationId: id,
    createdAt,
  }));
}

/** Of a notification for everybody. No real user has this id. */
export const EVERYBODY = '\u0000everybody';

/** Creation time as ISO 8601, and id. */
export function recordSortKey(createdAt: number, id: string): [string, string] {
  return [isoTime(createdAt), id];
}

export function recordPartition(scope: DocumentScope, records: string): string[] {
  return organizationPartition(scope, 'DOCUMENT', scope.documentKey, records);
}

/** In gsi2. One partition has all records with the same document id and location, ordered by organization. */
export function locationIndex(kind: string, holds: string) {
  return {
    holds,
    pk: (of: { readonly tenant: string; readonly documentId: string; readonly locationKey?: string | undefined }) =>
      of.locationKey === undefined ? undefined : [of.tenant, 'LOCATION', of.documentId, of.locationKey],
    sk: (of: { readonly organizationKey: string; readonly createdAt: number; readonly annotationId: string }) => [
      of.organizationKey,
      kind,
      isoTime(of.createdAt),
      of.annotationId,
    ],
  };
}
