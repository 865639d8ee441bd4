import { type Capability, combine } from '../app/capability.ts';
import { distinct } from '../shared/collections.ts';
import { DocumentEntity, type DocumentReader, type DocumentWithFolder, readDocuments } from '../directory/documents.ts';
import type { Entity, Stored } from '../table/entity.ts';
import {
  type Folder,
  FolderEntryEntity,
  type OrganizationScope,
  organizationScope,
} from '../directory/folders/folders.ts';
import { findOrganization } from '../directory/organizations.ts';
import type { QueryPage, QueryOptions, Table } from '../table/table.ts';
import type { DocumentScope } from './documentScope.ts';

/** The end of a page: in a document after the sort key `after`, or after all records of the document. */
export interface ListingPosition {
  /** The customer's id. */
  readonly documentId: string;
  readonly after?: string | undefined;
}

/** A record of a listing, and the sort key to continue after. */
export interface ListedRecord<V> {
  readonly key: string;
  readonly value: V;
}

/** A page of the matching records of one document. It can be empty before the end. */
export interface RecordPage<V> {
  readonly records: readonly ListedRecord<V>[];
  /** The sort key to continue after; undefined at the end of the document. */
  readonly next: string | undefined;
  /** The size of all items that were read. */
  readonly bytes: number;
}

export interface RecordPageOptions {
  /** The sort key to continue after. */
  readonly after: string | undefined;
  /** The largest number of matching records. */
  readonly limit: number;
}

/** A document of a listing. */
export interface ListedDocument {
  /** The customer's id. */
  readonly documentId: string;
  readonly scope: DocumentScope;
}

/** The documents of a listing, by id. */
export interface DocumentSource {
  /** Returns the documents from the id `from` on, including that document. Empty only at the end. */
  list(from: string | undefined): Promise<{ readonly documents: readonly ListedDocument[]; readonly more: boolean }>;
}

export interface ListingOptions<V> {
  readonly documents: DocumentSource;
  /** The end of the previous page. */
  readonly from?: ListingPosition | undefined;
  readonly limit: number;
  /** Reads a page of one document, with one query. */
  readonly read: (document: ListedDocument, options: RecordPageOptions) => Promise<RecordPage<V>>;
}

export interface ListingPage<V> {
  readonly values: V[];
  /** The start of the next page; undefined at the end. */
  readonly next: ListingPosition | undefined;
}

/** The size of a page as JSON: a response stays below its limit of 5 MB. */
const PAGE_BYTES = 4_000_000;
/** A page ends early after this many documents, or when this much was read. */
const MAX_DOCUMENTS = 500;
const MAX_BYTES_READ = 32_000_000;
/** The documents that are listed, and at most read, at a time. */
const DOCUMENTS_PER_PAGE = 100;
const MAX_PARALLEL_DOCUMENTS = 8;
/** The records that one query reads when a filter applies. */
const FILTERED_RECORDS = 2_000;

/**
 * Returns a page of the records of several documents, document by document. A page ends early at about 4 MB, or after
 * many records without a match. Then it can be empty and have a `next`. Keys of records and ids of documents never
 * change, so a record that exists during the whole listing is returned exactly once.
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
  let [bytes, bytesRead, documentsDone, width] = [0, 0, 0, 1];

  while (documentsDone < MAX_DOCUMENTS && bytesRead < MAX_BYTES_READ) {
    if (ahead.length === 0) {
      if (!more) return { values, next: undefined };
      const documentsPage = await documents.list(position?.documentId);
      more = documentsPage.more;
      ahead = documentsPage.documents.filter(
        ({ documentId }) => documentId !== position?.documentId || position.after !== undefined,
      );
      continue;
    }
    const together = ahead.slice(0, width);
    // One record more than needed shows whether there is a next page.
    const share = Math.ceil((limit + 1 - values.length) / together.length);
    const pages = await Promise.all(
      together.map((document) => {
        const after = document.documentId === position?.documentId ? position.after : undefined;
        return read(document, { after, limit: share });
      }),
    );
    for (const page of pages) bytesRead += page.bytes;
    for (const [index, { records, next }] of pages.entries()) {
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
      documentsDone += 1;
    }
    // Documents with few records are read in parallel. A large one is read alone, so that little is read in vain.
    width = position?.after === undefined ? Math.min(width * 2, MAX_PARALLEL_DOCUMENTS) : 1;
  }
  return { values, next: position };
}

/** All documents of an organization. */
export function allDocuments(
  reader: Pick<DocumentReader, 'getByIds' | 'attachFolders' | 'list'>,
  scope: OrganizationScope,
): DocumentSource {
  return pagedDocuments(reader, scope, {
    keyOf: (documentId) => DocumentEntity.key({ ...scope, documentId }).SK,
    list: (after) => reader.list(scope, { limit: DOCUMENTS_PER_PAGE, after }),
    includes: () => true,
  });
}

/** The documents directly in a folder. */
export function documentsInFolder(
  reader: Pick<DocumentReader, 'getByIds' | 'attachFolders' | 'listInFolder'>,
  scope: OrganizationScope,
  folder: Stored<Folder>,
): DocumentSource {
  return pagedDocuments(reader, scope, {
    keyOf: (id) => FolderEntryEntity.key({ ...scope, folderKey: folder.internalId, kind: 'document', id }).SK,
    list: (after) => reader.listInFolder(scope, folder, { limit: DOCUMENTS_PER_PAGE, after }),
    includes: (document) => document.folder?.internalId === folder.internalId,
  });
}

/** The given documents. */
export function givenDocuments(documents: readonly ListedDocument[]): DocumentSource {
  const sorted = documents.toSorted((a, b) => (a.documentId < b.documentId ? -1 : 1));
  return {
    list: (from = '') =>
      Promise.resolve({ documents: sorted.filter(({ documentId }) => documentId >= from), more: false }),
  };
}

interface PagedDocuments {
  /** Returns the sort key of a document in the list. */
  readonly keyOf: (documentId: string) => string;
  readonly list: (after: string | undefined) => Promise<QueryPage<DocumentWithFolder>>;
  readonly includes: (document: DocumentWithFolder) => boolean;
}

function pagedDocuments(
  reader: Pick<DocumentReader, 'getByIds' | 'attachFolders'>,
  scope: OrganizationScope,
  { keyOf, list, includes }: PagedDocuments,
): DocumentSource {
  // A page can be empty because its documents are deleted. Only the last page may be.
  async function listAfter(after: string | undefined): Promise<QueryPage<DocumentWithFolder>> {
    const page = await list(after);
    return page.values.length > 0 || page.next === undefined ? page : listAfter(page.next);
  }
  return {
    async list(from) {
      const [first, rest] = await Promise.all([
        findLiveDocuments(reader, scope, from === undefined ? [] : [from]),
        listAfter(from === undefined ? undefined : keyOf(from)),
      ]);
      const documents = [...[...first.values()].filter(includes), ...rest.values];
      return { documents: documents.map((document) => toListed(scope, document)), more: rest.next !== undefined };
    },
  };
}

/** Returns a document as an entry of a listing. */
export function toListed(
  scope: OrganizationScope,
  { documentId, internalId }: { readonly documentId: string; readonly internalId: string },
): ListedDocument {
  return { documentId, scope: { ...scope, documentKey: internalId } };
}

/** Reads the existing documents by the customer's ids. Records of other documents count as deleted. */
export async function findLiveDocuments(
  reader: Pick<DocumentReader, 'getByIds' | 'attachFolders'>,
  scope: OrganizationScope,
  documentIds: readonly string[],
): Promise<ReadonlyMap<string, DocumentWithFolder>> {
  if (documentIds.length === 0) return new Map();
  const documents = await reader.attachFolders(scope, await reader.getByIds(scope, distinct(documentIds)));
  return new Map(documents.flatMap((document) => (document ? [[document.documentId, document] as const] : [])));
}

/** The scope of a request: the records of one document, or of all documents of an organization. */
export interface Listing {
  readonly organization: OrganizationScope;
  /** Undefined when the request names no document. */
  readonly document: ListedDocument | undefined;
  readonly documents: DocumentSource;
}

/**
 * Returns the listing of a request. Throws INVALID_ARGUMENT for an unknown organization, NOT_FOUND for an unknown
 * document.
 */
type FindListing = (
  tenant: string,
  request: { readonly organizationId: string; readonly documentId?: string | undefined },
) => Promise<Listing>;

export const findListing: Capability<FindListing> = /* @__PURE__ */ combine(
  { organizations: findOrganization, documents: readDocuments },
  ({ organizations, documents }): FindListing =>
    async (tenant, { organizationId, documentId }) => {
      const organization = organizationScope(tenant, await organizations.require(tenant, organizationId));
      if (documentId === undefined)
        return { organization, document: undefined, documents: allDocuments(documents, organization) };
      const document = toListed(organization, await documents.require(organization, documentId));
      return { organization, document, documents: givenDocuments([document]) };
    },
);

/** Converts positions to the cursors of page tokens and back. */
export const listingCursor = {
  of: (position: ListingPosition | undefined): string | undefined =>
    position && JSON.stringify([position.documentId, position.after]),
  position(cursor: string | undefined): ListingPosition | undefined {
    if (cursor === undefined) return undefined;
    const [documentId, after] = JSON.parse(cursor) as [string, string | null];
    return { documentId, after: after ?? undefined };
  },
};

interface RecordListing<T, V> extends Pick<ListingOptions<V>, 'documents' | 'from' | 'limit'> {
  readonly descending: boolean;
  readonly toResponse: (value: Stored<T>) => V;
  /** Filters the records. */
  readonly isWanted?: ((value: Stored<T>) => boolean) | undefined;
}

/** Reads a page of the records of one entity, document by document, in each by sort key. */
export async function listRecords<T extends K, K, V>(
  table: Table,
  entity: Entity<T, DocumentScope, K>,
  { descending, toResponse, isWanted, ...listing }: RecordListing<T, V>,
): Promise<ListingPage<V>> {
  return listAcrossDocuments({
    ...listing,
    read: ({ scope }, options) =>
      readRecordPage(table, entity, scope, { ...options, descending }, toResponse, isWanted),
  });
}

/** Reads a page of the records of one entity in a document. `isWanted` filters the records. One query, of about 4 MB at most. */
export async function readRecordPage<T extends K, P extends object, K, V>(
  table: Table,
  entity: Entity<T, P, K>,
  partition: P,
  options: RecordPageOptions & Pick<QueryOptions, 'descending'>,
  toResponse: (value: Stored<T>) => V,
  isWanted?: (value: Stored<T>) => boolean,
): Promise<RecordPage<V>> {
  const limit = isWanted ? FILTERED_RECORDS : options.limit;
  const { values, next, bytes } = await table.query(entity, partition, { ...options, limit });
  const records = values
    .filter((value) => isWanted?.(value) ?? true)
    .map((value): ListedRecord<V> => ({ key: entity.key({ ...partition, ...value }).SK, value: toResponse(value) }));
  const last = records[options.limit - 1];
  return records.length > options.limit && last
    ? { records: records.slice(0, options.limit), next: last.key, bytes }
    : { records, next, bytes };
}
