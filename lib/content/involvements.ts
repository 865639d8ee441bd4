import * as z from 'zod';
import { organizationPartition, type OrganizationScope } from '../directory/organizationScope.ts';
import { isoTime } from '../shared/isoTime.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { sortableNumber } from '../table/keys.ts';
import { remove, removeUnlessNewer, upsert, type WriteOp } from '../table/table.ts';
import type { DocumentScope } from './documentScope.ts';

const Schema = z.object({
  documentKey: z.string(),
  /** For a comment, the id of its thread. */
  id: z.string(),
  createdAt: z.number(),
  commentId: z.number().optional(),
  /** False if the user is mentioned, assigned or notified. */
  made: z.boolean(),
  /** When a change of an older record involved the user, epoch ms. */
  since: z.number().optional(),
});

export interface Involvement extends z.output<typeof Schema> {
  readonly userId: string;
  readonly kind: string;
  /** When the comment or other record was created, epoch ms. Never changes, so paging is exact. */
  readonly at: number;
}

/**
 * An involvement says that a record belongs to the data of a user. An index of records by user would be eventually
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
  sk: (key: { kind: string; at: number; documentKey: string; id: string; commentId?: number | undefined }) => [
    'DATA',
    key.kind,
    isoTime(key.at),
    key.documentKey,
    key.id,
    // Comments of one request have the same time.
    ...(key.commentId === undefined ? [] : [sortableNumber(key.commentId)]),
  ],
});

/** Idempotent. If a later request involves the user again, the revision grows. */
export function addInvolvement({ tenant, organizationKey }: OrganizationScope, involvement: Involvement): WriteOp {
  return upsert(InvolvementEntity, { tenant, organizationKey, ...involvement }, involvement.since);
}

export function removeInvolvement(
  { tenant, organizationKey }: OrganizationScope,
  involvement: Omit<Involvement, 'made' | 'createdAt' | 'since'>,
): WriteOp {
  return remove(InvolvementEntity, { tenant, organizationKey, ...involvement });
}

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

export const EVERYBODY = '\u0000everybody';

export function recordSortKey(createdAt: number, id: string): [string, string] {
  return [isoTime(createdAt), id];
}

export function recordPartition(scope: DocumentScope, records: string): string[] {
  return organizationPartition(scope, 'DOCUMENT', scope.documentKey, records);
}

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
