import * as z from 'zod';
import { defineEntity, type Stored } from '../table/entity.ts';
import type { OrganizationScope } from '../directory/folders/folders.ts';
import { insert, remove, replace, type Table, type WriteOp } from '../table/table.ts';
import type { DocumentScope } from './documentScope.ts';

/** What content consists of. Threads, reactions and recordings have ids within their document, the others within their organization. */
export const recordKinds = ['thread', 'reaction', 'recording', 'notification', 'activity'] as const;
export type RecordKind = (typeof recordKinds)[number];

const Schema = z.object({
  /** The internal id of the document that the record lies in. */
  documentKey: z.string(),
  /** Where it stands there: a part of its sort key, epoch ms. */
  createdAt: z.number(),
  /** The document under the customer's id, for kinds whose ids are those of the organization: whether it is still there is looked up by it. */
  documentId: z.string().optional(),
});
export type RecordPosition = z.output<typeof Schema>;

/**
 * Where the record is that has an id of the customer's: records themselves are sorted by the time of their creation. It can be left
 * behind by a document that is gone, whose internal id then nobody has: that counts as absent.
 */
export const RecordIdEntity = defineEntity({
  type: 'RecordId',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'Where the thread, reaction, recording, notification or activity with an id is',
  schema: Schema,
  pk: (of: OrganizationScope & { kind: RecordKind; id: string }) => [
    of.tenant,
    'ORGANIZATION',
    of.organizationKey,
    'RECORD',
    of.kind,
    of.id,
  ],
  // The document under the customer's id, so that this and the document itself can be read at the same time.
  sk: (key: { within: string }) => ['IN', key.within],
});

/** A record's id: `within` is the id of its document, or empty for kinds whose ids are those of the organization. */
export interface RecordIdKey {
  readonly kind: RecordKind;
  readonly id: string;
  readonly within: string;
}

/** Where the named records are, undefined where there are none, or not in this document when one is given. One BatchGet. */
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
 * Gives a record its id: an insertion, or, over what a document that is gone left behind, a replacement. `stored` is what is under
 * the id now.
 */
export function claimRecordId(
  scope: DocumentScope,
  name: RecordIdKey & Pick<RecordPosition, 'documentId'>,
  createdAt: number,
  stored: Stored<RecordPosition> | undefined,
): WriteOp {
  const { tenant, organizationKey, documentKey } = scope;
  const value = { tenant, organizationKey, ...name, documentKey, createdAt };
  // The revision says which record it is as well: one that was removed and added again is not what somebody else has read.
  return stored ? replace(RecordIdEntity, value, stored._r) : insert(RecordIdEntity, value, createdAt);
}

/** Takes the id from a record, at the revision that was read when one is given. */
export function releaseRecordId(
  { tenant, organizationKey }: OrganizationScope,
  name: RecordIdKey,
  revision?: number,
): WriteOp {
  return remove(RecordIdEntity, { tenant, organizationKey, ...name }, revision);
}
