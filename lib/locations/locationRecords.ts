import type { DocumentScope } from '../content/documentScope.ts';
import type { ContentKind, KindLocations, LocatedRecord, WithLocation } from '../content/kind.ts';
import { DocumentEntity } from '../directory/documents.ts';
import { contentKinds } from '../kinds/contentKinds.ts';
import type { Key } from '../table/entity.ts';
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

type Locating = ContentKind & { readonly locate: KindLocations };

/** The records of one kind at a location. */
export interface LocationRecords {
  readonly locate: KindLocations;
  readonly records: readonly LocatedRecord<WithLocation>[];
}

interface LocationPage {
  readonly kinds: readonly LocationRecords[];
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
  kinds: readonly ContentKind[] = contentKinds,
): Promise<LocationPage> {
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
  const read = async ({ locate }: Locating): Promise<LocationRecords> => {
    const ofKind = existing.filter(({ record: { PK } }) => PK.endsWith(partitionEnd(locate)));
    const records = await table.getByKeys(
      locate.entity,
      ofKind.map(({ record }) => record),
    );
    return {
      locate,
      records: ofKind.flatMap(({ scope }, index) => {
        const record = records[index];
        return record?.locationKey === key ? [{ scope, record }] : [];
      }),
    };
  };
  const locating = kinds.filter((kind): kind is Locating => kind.locate !== 'none');
  return { kinds: await Promise.all(locating.map(read)), next };
}

/** Returns the end of the partition keys of a kind, such as `#THREADS`. */
function partitionEnd({ entity }: KindLocations): string {
  const PK = entity.partition({ tenant: '', organizationKey: '', documentKey: '' });
  return PK.slice(PK.lastIndexOf('#'));
}

/** Returns the scope of a record's document, which is read from the partition key of the record. */
function scopeOfKey(tenant: string, { PK }: Key): DocumentScope {
  const [, , , organization = '', , document = ''] = PK.split('#');
  return { tenant, organizationKey: organization, documentKey: document };
}
