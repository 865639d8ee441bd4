import * as z from 'zod';
import { organizationPartition, type OrganizationScope } from '../directory/organizationScope.ts';
import { readDefined } from '../shared/readDefined.ts';
import { defineEntity, type Entity, type Stored } from '../table/entity.ts';
import { insertOrReplace, remove, type Table, type WriteOp } from '../table/table.ts';
import type { DocumentScope } from './documentScope.ts';

/** The ids of one kind of records. */
export interface RecordIds {
  /** The name in the keys of positions. */
  readonly kind: string;
  readonly uniqueIn: 'document' | 'organization';
}

const Schema = z.object({
  /** The internal id of the record's document. */
  documentKey: z.string(),
  /** The creation time of the record in epoch ms. The sort key of the record contains this time. */
  createdAt: z.number(),
  /**
   * The document id that the customer chose. Only kinds whose ids are unique in the organization store it. Readers need it to
   * check whether the document still exists.
   */
  documentId: z.string().optional(),
});
export type RecordPosition = z.output<typeof Schema>;

/**
 * The position of a record: where the record with a given id is stored. The id alone does not find a record, because the keys of
 * records begin with the creation time. The positions of records in a deleted document can remain. Readers ignore them, because
 * no document has their `documentKey`.
 */
export const RecordIdEntity = defineEntity({
  type: 'RecordId',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'Where the thread, reaction, recording, notification or activity with an id is stored',
  schema: Schema,
  pk: (of: OrganizationScope & { kind: string; id: string }) => organizationPartition(of, 'RECORD', of.kind, of.id),
  // The key has the document id that the customer chose, so a request can read the position and the document at the same time.
  sk: (key: { within: string }) => ['IN', key.within],
});

/**
 * The id of a record. `within` is the document id that the customer chose. For kinds whose ids are unique in the organization,
 * `within` is empty.
 */
export interface RecordIdKey {
  readonly kind: string;
  readonly id: string;
  readonly within: string;
}

/** Returns the key of a record's id. Leave out `documentId` for kinds whose ids are unique in the organization. */
export function recordIdKey(kind: string, id: string, documentId = ''): RecordIdKey {
  return { kind, id, within: documentId };
}

/** Returns the key of an id. `documentId` is the id that the customer chose. */
export function idKeyOf({ kind, uniqueIn }: RecordIds, id: string, documentId: string): RecordIdKey {
  return recordIdKey(kind, id, uniqueIn === 'document' ? documentId : '');
}

/**
 * Returns the position of each record in `names`, in the same order. The value is undefined if there is no such record. If
 * `scope` is a document, it is also undefined for a record of another document. Sends one BatchGet per 100 records.
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

/** Records whose ids are unique in their document. `documentId` is the id that the customer chose. */
interface NamedRecords {
  readonly kind: string;
  readonly documentId: string;
  readonly ids: readonly string[];
}

interface RecordKey {
  readonly annotationId: string;
  readonly createdAt: number;
}

/**
 * Returns the key of each record in `named`, in the order of the ids. The key is undefined if there is no such record. Sends one
 * BatchGet per 100 ids.
 */
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

/** Returns each record in `named`, in the order of the ids. Reads the keys like `findRecordKeys`, and then the records. */
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
 * Returns the operation that stores the position of a new record. `stored` is the position of a record with the same id in a
 * deleted document, if there is one. `firstRevision` must be the time of the call, so that a record that is deleted and created
 * again gets another revision. Pass it if customers choose `createdAt`.
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

/**
 * Returns the operation that frees the id of a record. With `revision`, the operation fails if the position has another revision.
 */
export function releaseRecordId(
  { tenant, organizationKey }: OrganizationScope,
  name: RecordIdKey,
  revision?: number,
): WriteOp {
  return remove(RecordIdEntity, { tenant, organizationKey, ...name }, revision);
}
