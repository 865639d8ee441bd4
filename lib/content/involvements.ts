import * as z from 'zod';
import { isoTime } from '../shared/isoTime.ts';
import { defineEntity } from '../table/entity.ts';
import { type OrganizationScope, organizationPartition } from '../directory/folders/folders.ts';
import { remove, upsert, type WriteOp } from '../table/table.ts';
import type { DocumentScope } from './documentScope.ts';

/** The kinds of records that belong to a user's data. */
export const involvedKinds = ['comment', 'reaction', 'recording', 'notification'] as const;
export type InvolvedKind = (typeof involvedKinds)[number];

const Schema = z.object({
  /** The document's internal id. */
  documentKey: z.string(),
  /** The id of the annotation or notification. */
  id: z.string(),
  /** The creation time of the annotation or notification, epoch ms: a part of its sort key. */
  createdAt: z.number(),
  /** The id of a comment in its annotation. */
  commentId: z.number().optional(),
  /** Whether the user made the record. Otherwise the user is mentioned, assigned or notified. */
  made: z.boolean(),
});

/** A record that belongs to a user's data. */
export interface Involvement extends z.output<typeof Schema> {
  readonly userId: string;
  readonly kind: InvolvedKind;
  /** The creation time of the record, epoch ms. It never changes, so that paging neither loses nor repeats records. */
  readonly at: number;
}

/**
 * An involvement is in the user's partition of the organization, not in an index: an index would be eventually
 * consistent.
 */
export const InvolvementEntity = defineEntity({
  type: 'Involvement',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'The involvement of a user in a comment, reaction, recording or notification',
  schema: Schema.extend({ at: z.number() }),
  pk: (of: OrganizationScope & { userId: string }) => organizationPartition(of, 'USER', of.userId),
  sk: (key: { kind: InvolvedKind; at: number; documentKey: string; id: string; commentId?: number | undefined }) => [
    'DATA',
    key.kind,
    isoTime(key.at),
    key.documentKey,
    key.id,
    ...(key.commentId === undefined ? [] : [String(key.commentId)]),
  ],
});

/** Returns the operation that adds an involvement. Repeating it changes nothing. */
export function addInvolvement({ tenant, organizationKey }: OrganizationScope, involvement: Involvement): WriteOp {
  return upsert(InvolvementEntity, { tenant, organizationKey, ...involvement });
}

/** Returns the operation that removes an involvement. */
export function removeInvolvement(
  { tenant, organizationKey }: OrganizationScope,
  involvement: Omit<Involvement, 'made' | 'createdAt'>,
): WriteOp {
  return remove(InvolvementEntity, { tenant, organizationKey, ...involvement });
}

/** An annotation that an involvement names. */
export type InvolvedRecord = Pick<Involvement, 'documentKey' | 'id' | 'createdAt'>;

/** Returns the keys of the reactions or recordings of involvements. */
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

/** The user id of a notification for everybody. No user has this id. */
export const EVERYBODY = '\u0000everybody';

/** Returns the sort key of a record in its document: by creation time, then id. */
export function recordSortKey(createdAt: number, id: string): [string, string] {
  return [isoTime(createdAt), id];
}

/** Returns the partition of the records of a kind in a document. */
export function recordPartition(scope: DocumentScope, records: string): string[] {
  return organizationPartition(scope, 'DOCUMENT', scope.documentKey, records);
}

/** Returns the definition of `gsi2` for records with a location: by document and location, then organization. */
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
