import { building, type Capability } from '../app/capability.ts';
import { distinct } from '../shared/collections.ts';
import { DocumentEntity, type DocumentReader, type PlacedDocument, readDocuments } from '../directory/documents.ts';
import type { Entity, Stored } from '../table/entity.ts';
import { type OrganizationScope, organizationScope } from '../directory/folders/folders.ts';
import { findOrganization } from '../directory/organizations.ts';
import type { QueryOptions, Table } from '../table/table.ts';
import type { DocumentScope } from './documentScope.ts';

/** Where a listing over documents stopped: in a document, after a sort key of its records, or behind all of them when there is none. */
export interface ListingPosition {
  /** The customer's id. */
  readonly documentId: string;
  readonly after?: string | undefined;
}

/** A record as it is to be shown, and the sort key to continue after. */
export interface ListedRecord<V> {
  readonly key: string;
  readonly value: V;
}

/** Some records of a document in their order; those that are not wanted are left out, so that there can be none. */
export interface RecordPage<V> {
  readonly records: readonly ListedRecord<V>[];
  /** The sort key that it was read up to; undefined at the end of the document. */
  readonly next: string | undefined;
  /** How much was read for it. */
  readonly bytes: number;
}

/** How far to read in a document: after a sort key, at most so many wanted records. */
export interface RecordPageOptions {
  readonly after: string | undefined;
  readonly limit: number;
}

/** A document that a listing comes to. */
export interface ListedDocument {
  /** The customer's id. */
  readonly documentId: string;
  readonly scope: DocumentScope;
}

/** The documents of a listing in their order. */
export interface DocumentSource {
  /** Those from `from` on, that one included while it is there; none at the end only. */
  list(from: string | undefined): Promise<{ readonly documents: readonly ListedDocument[]; readonly more: boolean }>;
}

export interface ListingOptions<V> {
  readonly documents: DocumentSource;
  /** Where the last page ended. */
  readonly from?: ListingPosition | undefined;
  /** How many records are asked for. */
  readonly limit: number;
  /** Reads on in a document, one query at a time. */
  readonly read: (document: ListedDocument, options: RecordPageOptions) => Promise<RecordPage<V>>;
}

/** The values of a page, and where the next one begins; undefined at the end. */
export interface ListingPage<V> {
  readonly values: V[];
  readonly next: ListingPosition | undefined;
}

/** A page ends early at this size of its values as JSON, so that an answer stays below the limit of 5 MB. */
const PAGE_BYTES = 4_000_000;
/** A page ends early after so many documents, and when so much was read for it. */
const MOST_DOCUMENTS = 500;
const MOST_BYTES = 32_000_000;
/** How many documents are listed, and at most read, at a time. */
const LISTED = 100;
const MOST_PARALLEL = 8;
/** How many records are looked at in one query where not all of them are wanted. */
const LOOKED_AT = 2_000;

/**
 * One page of the records of several documents, document by document. A page ends early at about 4 MB, or when much was read in vain,
 * then with fewer values, perhaps none, and a `next`. A record that is there through the whole listing is given exactly once,
 * whatever is written meanwhile: keys of records and ids of documents do not change.
 */
export async function listAcrossDocuments<V>({
  documents,
  from,
  limit,
  read,
}: ListingOptions<V>): Promise<ListingPage<V>> {
  const values: V[] = [];
  let position = from;
  let ahead: ListedDocument[] = [];
  let more = true;
  let [bytes, bytesRead, done, width] = [0, 0, 0, 1];

  while (done < MOST_DOCUMENTS && bytesRead < MOST_BYTES) {
    if (ahead.length === 0) {
      if (!more) return { values, next: undefined };
      const listed = await documents.list(position?.documentId);
      more = listed.more;
      ahead = listed.documents.filter(
        ({ documentId }) => documentId !== position?.documentId || position.after !== undefined,
      );
      continue;
    }
    const together = ahead.slice(0, width);
    // One more than asked for tells whether there is a next page, so that a last page never leads to an empty one.
    const share = Math.ceil((limit + 1 - values.length) / together.length);
    const stretches = await Promise.all(
      together.map((document) =>
        read(document, {
          after: document.documentId === position?.documentId ? position.after : undefined,
          limit: share,
        }),
      ),
    );
    bytesRead += stretches.reduce((sum, one) => sum + one.bytes, 0);
    for (const [index, { records, next }] of stretches.entries()) {
      const { documentId } = together[index] as ListedDocument;
      for (const { key, value } of records) {
        bytes += Buffer.byteLength(JSON.stringify(value));
        if (values.length === limit || (values.length > 0 && bytes > PAGE_BYTES)) return { values, next: position };
        values.push(value);
        position = { documentId, after: key };
      }
      position = { documentId, after: next };
      if (next !== undefined) break;
      ahead.shift();
      done += 1;
    }
    // Several at a time while there is little in them, so that nothing much is read in vain.
    width = position?.after === undefined ? Math.min(width * 2, MOST_PARALLEL) : 1;
  }
  return { values, next: position };
}

/** Every document of an organization, by id. */
export function allDocuments(
  reader: Pick<DocumentReader, 'named' | 'placed' | 'list'>,
  scope: OrganizationScope,
): DocumentSource {
  return {
    async list(from) {
      const [first, rest] = await Promise.all([
        from === undefined ? [] : findLiveDocuments(reader, scope, [from]).then((live) => [...live.values()]),
        listAfter(from === undefined ? undefined : DocumentEntity.key({ ...scope, documentId: from }).SK),
      ]);
      return {
        documents: [...first, ...rest.values].map(({ documentId, internalId }) => ({
          documentId,
          scope: { ...scope, documentKey: internalId },
        })),
        more: rest.next !== undefined,
      };
    },
  };

  /** A page is empty at the end only, and not because the folders of all its documents are gone. */
  async function listAfter(after: string | undefined): ReturnType<DocumentReader['list']> {
    const page = await reader.list(scope, { limit: LISTED, after });
    return page.values.length > 0 || page.next === undefined ? page : listAfter(page.next);
  }
}

/** Those of the documents that are there, by the customer's ids: a record whose document is gone is gone as well. */
export async function findLiveDocuments(
  reader: Pick<DocumentReader, 'named' | 'placed'>,
  scope: OrganizationScope,
  documentIds: readonly string[],
): Promise<ReadonlyMap<string, PlacedDocument>> {
  const documents = await reader.placed(scope, await reader.named(scope, distinct(documentIds)));
  return new Map(documents.flatMap((document) => (document ? [[document.documentId, document] as const] : [])));
}

/** Some documents, by id. */
export function givenDocuments(documents: readonly ListedDocument[]): DocumentSource {
  const sorted = documents.toSorted((a, b) => (a.documentId < b.documentId ? -1 : 1));
  return {
    list: async (from = '') => ({ documents: sorted.filter(({ documentId }) => documentId >= from), more: false }),
  };
}

/** What a request lists: the records of one document, or of every one of an organization. */
export interface Listing {
  readonly organization: OrganizationScope;
  /** When the request names one. */
  readonly document: ListedDocument | undefined;
  readonly documents: DocumentSource;
}

/** Find what to list: INVALID_ARGUMENT when the organization does not exist, NOT_FOUND when a document is named that does not. */
export const findListing: Capability<
  (
    tenant: string,
    named: { readonly organizationId: string; readonly documentId?: string | undefined },
  ) => Promise<Listing>
> = /* @__PURE__ */ building([findOrganization, readDocuments], {
  grants: [],
  env: [],
  open: (env) => {
    const [organizations, documents] = [findOrganization.open(env), readDocuments.open(env)];
    return async (tenant, { organizationId, documentId }) => {
      const organization = organizationScope(tenant, await organizations.require(tenant, organizationId));
      if (documentId === undefined)
        return { organization, document: undefined, documents: allDocuments(documents, organization) };
      const { internalId } = await documents.require(organization, documentId);
      const document = { documentId, scope: { ...organization, documentKey: internalId } };
      return { organization, document, documents: givenDocuments([document]) };
    };
  },
});

/** The cursor of a page token for a position, and back. */
export const listingCursor = {
  of: (position: ListingPosition | undefined): string | undefined =>
    position && JSON.stringify([position.documentId, position.after]),
  position(cursor: string | undefined): ListingPosition | undefined {
    if (cursor === undefined) return undefined;
    const [documentId, after] = JSON.parse(cursor) as [string, string | null];
    return { documentId, after: after ?? undefined };
  },
};

/**
 * A stretch of the records of one entity in a document: what `show` gives of each, those that are not `wanted` left out. One query of the
 * table, of about 4 MB at most.
 */
export async function readRecordPage<T extends K, P extends object, K, V>(
  table: Table,
  entity: Entity<T, P, K>,
  partition: P,
  options: RecordPageOptions & Pick<QueryOptions, 'descending'>,
  show: (value: Stored<T>) => V,
  wanted?: (value: Stored<T>) => boolean,
): Promise<RecordPage<V>> {
  const page = await table.query(entity, partition, { ...options, limit: wanted ? LOOKED_AT : options.limit });
  const records = page.values
    .filter((value) => wanted?.(value) ?? true)
    .map((value): ListedRecord<V> => ({ key: entity.key({ ...partition, ...value }).SK, value: show(value) }));
  const last = records[options.limit - 1];
  return records.length > options.limit && last
    ? { records: records.slice(0, options.limit), next: last.key, bytes: page.bytes }
    : { records, next: page.next, bytes: page.bytes };
}
