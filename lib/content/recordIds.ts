import * as z from 'zod';
import { defineEntity, type Stored } from '../table/entity.ts';
import { type OrganizationScope, organizationPartition } from '../directory/folders/folders.ts';
import { insert, remove, replace, type Table, type WriteOp } from '../table/table.ts';
import type { DocumentScope } from './documentScope.ts';

/**
 * The kinds of content. Ids of threads, reactions and recordings are unique in their document, the other ids in their
 * organization.
 */
export const recordKinds = ['thread', 'reaction', 'recording', 'notification', 'activity'] as const;
export type RecordKind = (typeof recordKinds)[number];

const Schema = z.object({
  /** The internal id of the record's document. */
  documentKey: z.string(),
  /** The creation time of the record, epoch ms: a part of its sort key. */
  createdAt: z.number(),
  /**
   * The customer's id of the document, for kinds whose ids are unique in the organization: it shows whether the
   * document exists.
   */
  documentId: z.string().optional(),
});
export type RecordPosition = z.output<typeof Schema>;

/**
 * The position of the record with a customer's id. Records themselves are sorted by creation time. A deleted document
 * can leave positions: they count as absent, because no document has their internal id.
 */
export const RecordIdEntity = defineEntity({
  type: 'RecordId',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'The position of the thread, reaction, recording, notification or activity with an id',
  schema: Schema,
  pk: (of: OrganizationScope & { kind: RecordKind; id: string }) => organizationPartition(of, 'RECORD', of.kind, of.id),
  // The customer's id of the document: so the position and the document can be read in parallel.
  sk: (key: { within: string }) => ['IN', key.within],
});

/**
 * The id of a record. `within` is the customer's id of its document, or empty for ids that are unique in the
 * organization.
 */
export interface RecordIdKey {
  readonly kind: RecordKind;
  readonly id: string;
  readonly within: string;
}

/**
 * Reads the positions of records, undefined where there is none, or not in the document of a document scope. One
 * BatchGet.
 */
export async function findRecordIds(
  table: Table,
  scope: OrganizationScope | DocumentScope,
  names: readonly RecordIdKey[],
): Promise<(Stored<RecordPosition> | undefined)[]> {
  const { tenant, organizationKey } = scope;
  const found = await table.getMany(
    RecordIdEntity,
    names.map((name) => ({ tenant, organizationKey, ...name })),
  );
  return 'documentKey' in scope
    ? found.map((one) => (one?.documentKey === scope.documentKey ? one : undefined))
    : found;
}

/**
 * Returns the operation that stores the position of a record. `stored` is the position that a deleted document left
 * under the id.
 */
export function claimRecordId(
  scope: DocumentScope,
  name: RecordIdKey & Pick<RecordPosition, 'documentId'>,
  createdAt: number,
  stored: Stored<RecordPosition> | undefined,
): WriteOp {
  const { tenant, organizationKey, documentKey } = scope;
  const value = { tenant, organizationKey, ...name, documentKey, createdAt };
  // The first revision is the creation time: a record that is deleted and added again has another revision.
  return stored ? replace(RecordIdEntity, value, stored._r) : insert(RecordIdEntity, value, createdAt);
}

/** Returns the operation that frees the id of a record, optionally only at the revision that was read. */
export function releaseRecordId(
  { tenant, organizationKey }: OrganizationScope,
  name: RecordIdKey,
  revision?: number,
): WriteOp {
  return remove(RecordIdEntity, { tenant, organizationKey, ...name }, revision);
}
