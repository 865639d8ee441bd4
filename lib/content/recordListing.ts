import { type Capability, combine } from '../app/capability.ts';
import {
  DocumentEntity,
  type DocumentPage,
  type DocumentReader,
  type DocumentWithFolder,
  readDocuments,
} from '../directory/documents.ts';
import { type Folder, FolderEntryEntity } from '../directory/folders/folders.ts';
import { findOrganization } from '../directory/organizations.ts';
import { type OrganizationScope, organizationScope } from '../directory/organizationScope.ts';
import { jsonBytes } from '../shared/bytes.ts';
import { distinct } from '../shared/collections.ts';
import type { Entity, Stored } from '../table/entity.ts';
import type { ListedRecord, RecordPage } from '../table/recordPage.ts';
import type { QueryOptions, Table } from '../table/table.ts';
import type { DocumentScope } from './documentScope.ts';

/**
 * The position at which a page ended: in the document `documentId`, after the sort key `after`. If `after` is undefined, at the
 * end of that document.
 */
export interface ListingPosition {
  /** The document id that the customer chose. */
  readonly documentId: string;
  readonly after?: string | undefined;
}

export interface RecordPageOptions {
  /** The sort key after which the page starts. Undefined for the first page. */
  readonly after: string | undefined;
  /** The largest number of matching records on the page. */
  readonly limit: number;
}

export interface ListedDocument {
  /** The document id that the customer chose. */
  readonly documentId: string;
  readonly scope: DocumentScope;
  /** The folder that contains the document directly. */
  readonly folder?: { readonly folderId: string } | undefined;
}

/** The documents of a listing, ordered by document id. */
export interface DocumentSource {
  /**
   * Returns the next documents of the list, beginning with the id `from`. Without `from`, begins at the start of the list. The
   * result can have no documents although more follow. The list then continues after `lastId`.
   */
  list(from: string | undefined): Promise<{
    readonly documents: readonly ListedDocument[];
    readonly more: boolean;
    readonly lastId?: string | undefined;
  }>;
}

export interface ListingOptions<V> {
  readonly documents: DocumentSource;
  /** The `next` of the previous page. Undefined for the first page. */
  readonly from?: ListingPosition | undefined;
  readonly limit: number;
  /** Reads a page of the records of one document. Sends one query. */
  readonly read: (document: ListedDocument, options: RecordPageOptions) => Promise<RecordPage<V>>;
}

export interface ListingPage<V> {
  readonly values: V[];
  /** The position at which the next page starts. Undefined on the last page. */
  readonly next: ListingPosition | undefined;
}

/** The largest size of a page as JSON, in bytes. A response must stay below 5 MB. */
const PAGE_BYTES = 4_000_000;
/** A page ends early after it has read this many documents, or this many bytes. */
const MAX_DOCUMENTS = 500;
const MAX_BYTES_READ = 32_000_000;
/** The number of documents that one query of the document list returns. */
const DOCUMENTS_PER_PAGE = 100;
/**
 * A query that returns only documents of a deleted folder counts as this many documents. The folder can have any number of them, and
 * a job needs some minutes to purge them.
 */
const EMPTY_PAGE_DOCUMENTS = 10;
/** The largest number of documents whose records are read in parallel. */
const MAX_PARALLEL_DOCUMENTS = 8;
/** A page is read in steps. This is the number of documents that the first step reads in parallel. */
const FIRST_PARALLEL_DOCUMENTS = 4;
/**
 * The number of records that the first step of a page reads of each document except the first. The first document often fills the
 * page. The records of the other documents are then not used.
 */
const PROBED_RECORDS = 10;
/** The number of records that one query reads if records are filtered. */
const FILTERED_RECORDS = 2_000;

/**
 * Returns a page of the records of several documents, document by document. A page ends early at about 4 MB, after many records that
 * do not match, or after many documents that are deleted. Such a page can be empty and still have a `next`. Sort keys and document
 * ids never change, so a record that exists during the whole listing is returned exactly once.
 */
export async function listAcrossDocuments<V>({
  documents,
  from,
  limit,
  read,
}: ListingOptions<V>): Promise<ListingPage<V>> {
  const values: V[] = [];
  let position = from;
  let waiting: ListedDocument[] = [];
  let hasMoreDocuments = true;
  let [bytes, bytesRead, documentsDone] = [0, 0, 0];
  let parallel = from?.after === undefined ? FIRST_PARALLEL_DOCUMENTS : 1;
  let isFirstStep = true;

  while (documentsDone < MAX_DOCUMENTS && bytesRead < MAX_BYTES_READ) {
    if (waiting.length === 0) {
      if (!hasMoreDocuments) return { values, next: undefined };
      const documentsPage = await documents.list(position?.documentId);
      hasMoreDocuments = documentsPage.more;
      waiting = documentsPage.documents.filter(
        ({ documentId }) => documentId !== position?.documentId || position.after !== undefined,
      );
      if (waiting.length === 0 && documentsPage.lastId !== undefined) {
        position = { documentId: documentsPage.lastId };
        documentsDone += EMPTY_PAGE_DOCUMENTS;
      }
      continue;
    }
    const batch = waiting.slice(0, parallel);
    // Reads one record more than the page can have. That record shows whether there is a next page.
    const remaining = limit + 1 - values.length;
    const share = Math.ceil(remaining / batch.length);
    const limits = batch.map((_document, index) => {
      if (!isFirstStep) return share;
      return index === 0 ? remaining : Math.min(share, PROBED_RECORDS);
    });
    isFirstStep = false;
    const pages = await Promise.all(
      batch.map((document, index) => {
        const after = document.documentId === position?.documentId ? position.after : undefined;
        return read(document, { after, limit: limits[index] as number });
      }),
    );
    for (const page of pages) bytesRead += page.bytes;
    for (const [index, { records, next }] of pages.entries()) {
      const { documentId } = batch[index] as ListedDocument;
      for (const { key, value } of records) {
        bytes += jsonBytes(value);
        if (values.length === limit || (values.length > 0 && bytes > PAGE_BYTES)) return { values, next: position };
        values.push(value);
        position = { documentId, after: key };
      }
      position = { documentId, after: next };
      if (next !== undefined) break;
      waiting.shift();
      documentsDone += 1;
    }
    // Documents with few records are read in parallel. A document with several pages is read alone. The page ends inside it, so
    // records of later documents would not be used.
    parallel = position?.after === undefined ? Math.min(parallel * 2, MAX_PARALLEL_DOCUMENTS) : 1;
  }
  return { values, next: position };
}

/** Returns a source of all documents of an organization. */
export function allDocuments(
  reader: Pick<DocumentReader, 'getWithFolders' | 'list'>,
  scope: OrganizationScope,
): DocumentSource {
  return pagedDocuments(reader, scope, {
    keyOf: (documentId) => DocumentEntity.key({ ...scope, documentId }).SK,
    list: (after) => reader.list(scope, { limit: DOCUMENTS_PER_PAGE, after }),
    includes: () => true,
  });
}

/** Returns a source of the documents that are directly in a folder. */
export function documentsInFolder(
  reader: Pick<DocumentReader, 'getWithFolders' | 'listInFolder'>,
  scope: OrganizationScope,
  folder: Stored<Folder>,
): DocumentSource {
  return pagedDocuments(reader, scope, {
    keyOf: (id) => FolderEntryEntity.key({ ...scope, folderKey: folder.internalId, kind: 'document', id }).SK,
    list: (after) => reader.listInFolder(scope, folder, { limit: DOCUMENTS_PER_PAGE, after }),
    includes: (document) => document.folder?.internalId === folder.internalId,
  });
}

/** Returns a source of the given documents. */
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
  /** Returns the next page of the list, after a sort key. */
  readonly list: (after: string | undefined) => Promise<DocumentPage>;
  /** Returns whether the list has a document. */
  readonly includes: (document: DocumentWithFolder) => boolean;
}

function pagedDocuments(
  reader: Pick<DocumentReader, 'getWithFolders'>,
  scope: OrganizationScope,
  { keyOf, list, includes }: PagedDocuments,
): DocumentSource {
  return {
    async list(from) {
      const [first, { values, next, lastId }] = await Promise.all([
        findLiveDocuments(reader, scope, from === undefined ? [] : [from]),
        list(from === undefined ? undefined : keyOf(from)),
      ]);
      const documents = [...[...first.values()].filter(includes), ...values];
      return { documents: documents.map((document) => toListed(scope, document)), more: next !== undefined, lastId };
    },
  };
}

/** Returns a document in the form that a listing takes. */
export function toListed(
  scope: OrganizationScope,
  { documentId, internalId, folder }: Pick<ListedDocument, 'documentId' | 'folder'> & { readonly internalId: string },
): ListedDocument {
  return { documentId, scope: { ...scope, documentKey: internalId }, folder };
}

/** Returns the documents that exist, by the ids that the customer chose. A document in a deleted folder does not exist. */
export async function findLiveDocuments(
  reader: Pick<DocumentReader, 'getWithFolders'>,
  scope: OrganizationScope,
  documentIds: readonly string[],
): Promise<ReadonlyMap<string, DocumentWithFolder>> {
  if (documentIds.length === 0) return new Map();
  const documents = await reader.getWithFolders(scope, distinct(documentIds));
  return new Map(documents.flatMap((document) => (document ? [[document.documentId, document] as const] : [])));
}

/** The documents of a request: one document, or all documents of an organization. */
export interface Listing {
  readonly organization: OrganizationScope;
  /** Undefined if the request names no document. */
  readonly document: ListedDocument | undefined;
  readonly documents: DocumentSource;
}

/**
 * Calls `read` with the documents of a request and returns its result. `read` can run twice, see `OrganizationReader.readWithin`.
 * Throws INVALID_ARGUMENT for an unknown organization, and NOT_FOUND for an unknown document.
 */
type ReadListing = <T>(
  tenant: string,
  request: { readonly organizationId: string; readonly documentId?: string | undefined },
  read: (listing: Listing) => Promise<T>,
) => Promise<T>;

export const readListing: Capability<ReadListing> = /* @__PURE__ */ combine(
  { organizations: findOrganization, documents: readDocuments },
  ({ organizations, documents }): ReadListing =>
    async (tenant, { organizationId, documentId }, read) => {
      const { content } = await organizations.readWithin(tenant, organizationId, async (keys) => {
        const organization = organizationScope(tenant, keys);
        if (documentId === undefined)
          return read({ organization, document: undefined, documents: allDocuments(documents, organization) });
        const document = toListed(organization, await documents.require(organization, documentId));
        return read({ organization, document, documents: givenDocuments([document]) });
      });
      return content;
    },
);

/** Converts positions to the cursors in page tokens, and back. */
export const listingCursor = {
  of: (position: ListingPosition | undefined): string | undefined =>
    position && JSON.stringify([position.documentId, position.after]),
  position(cursor: string | undefined): ListingPosition | undefined {
    if (cursor === undefined) return undefined;
    const [documentId, after] = JSON.parse(cursor) as [string, string | null];
    return { documentId, after: after ?? undefined };
  },
};

/** Which records of an entity a page has, and in which form. */
interface RecordSelection<T, V> extends Pick<QueryOptions, 'descending'> {
  readonly toResponse: (value: Stored<T>) => V;
  /** Returns whether a record matches. If undefined, all records match. */
  readonly isMatch?: ((value: Stored<T>) => boolean) | undefined;
}

/** Returns a page of the records of one entity, document by document. The records of a document are ordered by sort key. */
export async function listRecords<T extends K, K, V>(
  table: Table,
  entity: Entity<T, DocumentScope, K>,
  {
    documents,
    from,
    limit,
    ...selection
  }: Pick<ListingOptions<V>, 'documents' | 'from' | 'limit'> & RecordSelection<T, V>,
): Promise<ListingPage<V>> {
  return listAcrossDocuments({
    documents,
    from,
    limit,
    read: ({ scope }, options) => readRecordPage(table, entity, scope, { ...selection, ...options }),
  });
}

/** Returns a page of the records of one entity in a document, filtered by `isMatch`. Sends one query. */
export async function readRecordPage<T extends K, P extends object, K, V>(
  table: Table,
  entity: Entity<T, P, K>,
  partition: P,
  { limit, toResponse, isMatch, ...options }: RecordPageOptions & RecordSelection<T, V>,
): Promise<RecordPage<V>> {
  const { values, next, bytes } = await table.query(entity, partition, {
    ...options,
    limit: isMatch ? FILTERED_RECORDS : limit,
  });
  const records = values
    .filter((value) => isMatch?.(value) ?? true)
    .map((value): ListedRecord<V> => ({ key: entity.key({ ...partition, ...value }).SK, value: toResponse(value) }));
  const last = records[limit - 1];
  return records.length > limit && last
    ? { records: records.slice(0, limit), next: last.key, bytes }
    : { records, next, bytes };
}
