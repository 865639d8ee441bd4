import * as z from 'zod';
import { organizationPartition, type OrganizationScope } from '../directory/organizationScope.ts';
import { readDefined } from '../shared/readDefined.ts';
import { BatchReader } from '../table/batchReader.ts';
import { defineEntity, type Entity, type Stored } from '../table/entity.ts';
import { insertOrReplace, remove, type Table, type WriteOp } from '../table/table.ts';
import type { DocumentScope } from './documentScope.ts';

export interface RecordIds {
  readonly kind: string;
  readonly uniqueIn: 'document' | 'organization';
}

const Schema = z.object({
  documentKey: z.string(),
  createdAt: z.number(),
  /** Only ids that are unique in the organization have the document id, to check that the document still exists. */
  documentId: z.string().optional(),
});
export type RecordPosition = z.output<typeof Schema>;

/**
 * The position of the record with an id. Keys of records begin with the creation time, so the id alone does not find a
 * record. Positions of a deleted document can remain; no document has their `documentKey`.
 */
export const RecordIdEntity = defineEntity({
  type: 'RecordId',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'Where the thread, reaction, recording, notification or activity with an id is stored',
  schema: Schema,
  pk: (of: OrganizationScope & { kind: string; id: string }) => organizationPartition(of, 'RECORD', of.kind, of.id),
  sk: (key: { within: string }) => ['IN', key.within],
});

/** `within` is the customer's document id, or empty if ids are unique in the organization. */
export interface RecordIdKey {
  readonly kind: string;
  readonly id: string;
  readonly within: string;
}

export function recordIdKey(kind: string, id: string, documentId = ''): RecordIdKey {
  return { kind, id, within: documentId };
}

export function idKeyOf({ kind, uniqueIn }: RecordIds, id: string, documentId: string): RecordIdKey {
  return recordIdKey(kind, id, uniqueIn === 'document' ? documentId : '');
}

/** In the order of `names`. Undefined if there is no such record, or if it is in another document than `scope`. */
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
  if (!('documentKey' in scope)) return positions;
  return Promise.all(names.map(async (name, index) => inDocument(table, scope, name, positions[index])));
}

/**
 * Returns the position of a record in the document of `scope`. `found` is what was read under `name`. While the
 * document is migrated, the position can stand under the new document id instead. The new id is read second, so a
 * record that is renamed in between is found.
 */
export async function inDocument(
  table: Table,
  { tenant, organizationKey, documentKey, renamedTo }: DocumentScope,
  name: RecordIdKey,
  found: Stored<RecordPosition> | undefined,
): Promise<Stored<RecordPosition> | undefined> {
  if (found?.documentKey === documentKey) return found;
  if (renamedTo === undefined || name.within === '') return undefined;
  const key = { tenant, organizationKey, ...name, within: renamedTo };
  const renamed = await BatchReader.of(table).get(RecordIdEntity, key);
  return renamed?.documentKey === documentKey ? renamed : undefined;
}

interface NamedRecords {
  readonly kind: string;
  readonly documentId: string;
  readonly ids: readonly string[];
}

interface RecordKey {
  readonly annotationId: string;
  readonly createdAt: number;
}

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
 * `stored` is the item that the write replaces, such as the position of a record with this id in a deleted document.
 * Pass the time of the call as `firstRevision` if customers choose `createdAt`, so that a record that is deleted and
 * created again gets another revision.
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

export function releaseRecordId(
  { tenant, organizationKey }: OrganizationScope,
  name: RecordIdKey,
  revision?: number,
): WriteOp {
  return remove(RecordIdEntity, { tenant, organizationKey, ...name }, revision);
}
