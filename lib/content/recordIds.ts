import * as z from 'zod';
import { organizationPartition, type OrganizationScope } from '../directory/organizationScope.ts';
import { readDefined } from '../shared/readDefined.ts';
import { defineEntity, type Entity, type Stored } from '../table/entity.ts';
import { insertOrReplace, remove, type Table, type WriteOp } from '../table/table.ts';
import type { DocumentScope } from './documentScope.ts';

export interface RecordIds {
  /** In the keys of positions. */
  readonly kind: string;
  readonly uniqueIn: 'document' | 'organization';
}

const Schema = z.object({
  documentKey: z.string(),
  /** Epoch ms. A part of the record's sort key. */
  createdAt: z.number(),
  /** Only of kinds whose ids are unique in the organization. Shows readers whether the document still exists. */
  documentId: z.string().optional(),
});
export type RecordPosition = z.output<typeof Schema>;

/**
 * Where the record with an id is stored. Keys of records begin with the creation time, so the id alone does not find
 * it. Positions in a deleted document can remain. Readers ignore them, because no document has their `documentKey`.
 */
export const RecordIdEntity = defineEntity({
  type: 'RecordId',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'Where the thread, reaction, recording, notification or activity with an id is stored',
  schema: Schema,
  pk: (of: OrganizationScope & { kind: string; id: string }) => organizationPartition(of, 'RECORD', of.kind, of.id),
  // The customer's document id, so a request can read position and document at the same time.
  sk: (key: { within: string }) => ['IN', key.within],
});

/** `within` is the customer's document id, or empty for kinds whose ids are unique in the organization. */
export interface RecordIdKey {
  readonly kind: string;
  readonly id: string;
  readonly within: string;
}

/** Leave out `documentId` for kinds whose ids are unique in the organization. */
export function recordIdKey(kind: string, id: string, documentId = ''): RecordIdKey {
  return { kind, id, within: documentId };
}

export function idKeyOf({ kind, uniqueIn }: RecordIds, id: string, documentId: string): RecordIdKey {
  return recordIdKey(kind, id, uniqueIn === 'document' ? documentId : '');
}

/**
 * In the order of `names`. Undefined if there is no such record, or none in the document `scope`. One BatchGet per 100.
 */
export async function findRecordIds(
  table: Table,
  scope: OrganizationScope | DocumentScope,
  names: readonly RecordIdKey[],
): Promise<(Stored<RecordPosition> | undefined)[]> {
  const { tenant, organizationKey } = scope;
  const positions = await table.getMany(
    RecordIdEntity,
    names.map((name) => ({ tenant, organizationKey, ...name })),
  );
  return 'documentKey' in scope
    ? positions.map((position) => (position?.documentKey === scope.documentKey ? position : undefined))
    : positions;
}

/** `documentId` is the customer's. */
interface NamedRecords {
  readonly kind: string;
  readonly documentId: string;
  readonly ids: readonly string[];
}

interface RecordKey {
  readonly annotationId: string;
  readonly createdAt: number;
}

/** In the order of the ids. Undefined if there is no such record. One BatchGet per 100. */
export async function findRecordKeys(
  table: Table,
  scope: DocumentScope,
  { kind, documentId, ids }: NamedRecords,
): Promise<(RecordKey | undefined)[]> {
  const positions = await findRecordIds(
    table,
    scope,
    ids.map((id) => recordIdKey(kind, id, documentId)),
  );
  return ids.map((annotationId, index) => {
    const position = positions[index];
    return position && { annotationId, createdAt: position.createdAt };
  });
}

/** In the order of the ids. Reads the keys, then the records. */
export async function findRecords<T>(
  table: Table,
  entity: Entity<T, DocumentScope, RecordKey>,
  scope: DocumentScope,
  named: NamedRecords,
): Promise<(Stored<T> | undefined)[]> {
  return readDefined(await findRecordKeys(table, scope, named), (keys) =>
    table.getMany(
      entity,
      keys.map((key) => ({ ...scope, ...key })),
    ),
  );
}

/**
 * `stored` is the position of a record with the same id in a deleted document. `firstRevision` is the time of the call,
 * so that a record that is deleted and created again gets another revision. Pass it if customers choose `createdAt`.
 */
export function claimRecordId(
  scope: DocumentScope,
  name: RecordIdKey & Pick<RecordPosition, 'documentId'>,
  createdAt: number,
  stored: Stored<RecordPosition> | undefined,
  firstRevision = createdAt,
): WriteOp {
  const { tenant, organizationKey, documentKey } = scope;
  const value = { tenant, organizationKey, ...name, documentKey, createdAt };
  return insertOrReplace(RecordIdEntity, value, stored, firstRevision);
}

/** With `revision`, conflicts if the position has another. */
export function releaseRecordId(
  { tenant, organizationKey }: OrganizationScope,
  name: RecordIdKey,
  revision?: number,
): WriteOp {
  return remove(RecordIdEntity, { tenant, organizationKey, ...name }, revision);
}
