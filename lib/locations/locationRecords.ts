import type { DocumentScope } from '../content/documentScope.ts';
import type { ContentKind, KindLocations, LocatedRecord, WithLocation } from '../content/kind.ts';
import { DocumentEntity, refuseMigrating } from '../directory/documents.ts';
import { contentKinds } from '../kinds/contentKinds.ts';
import type { Key } from '../table/entity.ts';
import { keyAfter, keyPrefix } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

const RECORDS_PER_PAGE = 100;

/** `key` is a result of `locationKey`. */
export interface DocumentLocation {
  readonly tenant: string;
  readonly documentId: string;
  readonly key: string;
  /** Undefined: all organizations of the tenant. */
  readonly organizationKey?: string | undefined;
}

type Locating = ContentKind & { readonly locate: KindLocations };

export interface LocationRecords {
  readonly locate: KindLocations;
  readonly records: readonly LocatedRecord<WithLocation>[];
}

interface LocationPage {
  readonly kinds: readonly LocationRecords[];
  readonly next: string | undefined;
}

/** Leaves out records that have moved since, and those of a deleted document, whose id a new document can have. */
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
  refuseMigrating(documents);
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

/** Such as `#THREADS`. */
function partitionEnd({ entity }: KindLocations): string {
  const PK = entity.partition({ tenant: '', organizationKey: '', documentKey: '' });
  return PK.slice(PK.lastIndexOf('#'));
}

function scopeOfKey(tenant: string, { PK }: Key): DocumentScope {
  const [, , , organization = '', , document = ''] = PK.split('#');
  return { tenant, organizationKey: organization, documentKey: document };
}
