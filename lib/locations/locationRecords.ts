import type { Thread } from '../comments/rules/threads.ts';
import { ThreadEntity } from '../comments/threads.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { DocumentEntity } from '../directory/documents.ts';
import { NotificationEntity } from '../notifications/notifications.ts';
import type { Notification } from '../notifications/rules.ts';
import { ReactionEntity } from '../reactions/reactions.ts';
import type { Reaction } from '../reactions/rules.ts';
import { RecordingEntity } from '../recordings/recordings.ts';
import type { Recording } from '../recordings/rules.ts';
import type { Entity, Key, Stored } from '../table/entity.ts';
import { keyAfter, keyPrefix } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/** The largest number of records on one page. */
const RECORDS_PER_PAGE = 100;

/** A location in a document. `key` is a result of `locationKey`. `documentId` is the id that the customer chose. */
export interface DocumentLocation {
  readonly tenant: string;
  readonly documentId: string;
  readonly key: string;
  /** The internal id of the organization to read. If undefined, all organizations of the tenant are read. */
  readonly organizationKey?: string | undefined;
}

/** A record with the keys of its document. */
export interface LocatedRecord<T> {
  readonly scope: DocumentScope;
  readonly record: Stored<T>;
}

/** The records at a location, by kind. */
export interface LocationRecords {
  readonly threads: readonly LocatedRecord<Thread>[];
  readonly reactions: readonly LocatedRecord<Reaction>[];
  readonly recordings: readonly LocatedRecord<Recording>[];
  readonly notifications: readonly LocatedRecord<Notification>[];
  /** The position at which the next page starts. Undefined on the last page. */
  readonly next: string | undefined;
}

/**
 * Returns a page of the records at a location. Reads their keys from an index, and the records from the table. Leaves out records
 * that have another location by now. Leaves out records of a deleted document, because a new document can have the same document
 * id.
 */
export async function readLocationRecords(
  table: Table,
  location: DocumentLocation,
  after: string | undefined,
): Promise<LocationRecords> {
  const { tenant, documentId, key, organizationKey } = location;
  const between =
    organizationKey === undefined ? undefined : ([keyPrefix([organizationKey]), keyAfter([organizationKey])] as const);
  const { keys, next } = await table.queryIndex('gsi2', [tenant, 'LOCATION', documentId, key], {
    limit: RECORDS_PER_PAGE,
    after,
    between,
  });
  const scoped = keys.map((record) => ({ record, scope: scopeOfKey(tenant, record) }));
  const documents = await table.getMany(
    DocumentEntity,
    scoped.map(({ scope }) => ({ tenant, organizationKey: scope.organizationKey, documentId })),
  );
  const existing = scoped.filter(({ scope }, index) => documents[index]?.internalId === scope.documentKey);
  const read = async <T extends { locationKey?: string | undefined }, P, K>(
    entity: Entity<T, P, K>,
    kind: string,
  ): Promise<LocatedRecord<T>[]> => {
    const ofKind = existing.filter(({ record: { PK } }) => PK.endsWith(`#${kind}`));
    const records = await table.getByKeys(
      entity,
      ofKind.map(({ record }) => record),
    );
    return ofKind.flatMap(({ scope }, index) => {
      const record = records[index];
      return record?.locationKey === key ? [{ scope, record }] : [];
    });
  };
  const [threads, reactions, recordings, notifications] = await Promise.all([
    read(ThreadEntity, 'THREADS'),
    read(ReactionEntity, 'REACTIONS'),
    read(RecordingEntity, 'RECORDINGS'),
    read(NotificationEntity, 'NOTIFICATIONS'),
  ]);
  return { threads, reactions, recordings, notifications, next };
}

/** Returns the scope of a record's document, which is read from the partition key of the record. */
function scopeOfKey(tenant: string, { PK }: Key): DocumentScope {
  const [, , , organization = '', , document = ''] = PK.split('#');
  return { tenant, organizationKey: organization, documentKey: document };
}
