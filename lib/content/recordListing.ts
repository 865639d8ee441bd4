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
import { type DocumentScope, documentScope, type NamedDocument } from './documentScope.ts';

/** In the document `documentId` after the sort key `after`, or at the end of the document. */
export interface ListingPosition {
  readonly documentId: string;
  readonly after?: string | undefined;
}

export interface RecordPageOptions {
  readonly after: string | undefined;
  readonly limit: number;
}

export interface ListedDocument {
  readonly documentId: string;
  readonly scope: DocumentScope;
  readonly folder?: { readonly folderId: string } | undefined;
}

export interface DocumentSource {
  /**
   * Begins with the document `from`, if it exists. If the answer has no documents, the list continues after `lastId`.
   */
  list(from: string | undefined): Promise<{
    readonly documents: readonly ListedDocument[];
    readonly more: boolean;
    readonly lastId?: string | undefined;
  }>;
}

export interface ListingOptions<V> {
  readonly documents: DocumentSource;
  readonly from?: ListingPosition | undefined;
  readonly limit: number;
  readonly read: (document: ListedDocument, options: RecordPageOptions) => Promise<RecordPage<V>>;
}

export interface ListingPage<V> {
  readonly values: V[];
  readonly next: ListingPosition | undefined;
}

/** Of JSON. A response must stay below 5 MB. */
const PAGE_BYTES = 4_000_000;
const MAX_DOCUMENTS = 500;
const MAX_BYTES_READ = 32_000_000;
const DOCUMENTS_PER_PAGE = 100;
/**
 * A query that finds only documents of a deleted folder counts as this many. A job purges these documents within
 * minutes.
 */
const EMPTY_PAGE_DOCUMENTS = 10;
const MAX_PARALLEL_DOCUMENTS = 8;
const FIRST_PARALLEL_DOCUMENTS = 4;
/** What the first step reads of each document except the first, which often fills the page. */
const PROBED_RECORDS = 10;
const FILTERED_RECORDS = 2_000;

/**
 * Lists document by document. A page can end early, and even be empty, because the size of a page and the reads of a
 * call are limited.
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
    // The rest of an unfinished document is read alone: it often fills the page, and records of later documents would
    // then be read in vain.
    parallel = position?.after === undefined ? Math.min(parallel * 2, MAX_PARALLEL_DOCUMENTS) : 1;
  }
  return { values, next: position };
}

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

/** Only documents that are directly in the folder. */
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

export function givenDocuments(documents: readonly ListedDocument[]): DocumentSource {
  const sorted = documents.toSorted((a, b) => (a.documentId < b.documentId ? -1 : 1));
  return {
    list: (from = '') =>
      Promise.resolve({ documents: sorted.filter(({ documentId }) => documentId >= from), more: false }),
  };
}

interface PagedDocuments {
  readonly keyOf: (documentId: string) => string;
  readonly list: (after: string | undefined) => Promise<DocumentPage>;
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

export function toListed(
  scope: OrganizationScope,
  document: Pick<ListedDocument, 'documentId' | 'folder'> & NamedDocument,
): ListedDocument {
  const { documentId, folder } = document;
  return { documentId, scope: documentScope(scope, document), folder };
}

/** A document in a deleted folder does not exist. */
export async function findLiveDocuments(
  reader: Pick<DocumentReader, 'getWithFolders'>,
  scope: OrganizationScope,
  documentIds: readonly string[],
): Promise<ReadonlyMap<string, DocumentWithFolder>> {
  if (documentIds.length === 0) return new Map();
  const documents = await reader.getWithFolders(scope, distinct(documentIds));
  return new Map(documents.flatMap((document) => (document ? [[document.documentId, document] as const] : [])));
}

export interface Listing {
  readonly organization: OrganizationScope;
  readonly document: ListedDocument | undefined;
  readonly documents: DocumentSource;
}

/**
 * `read` can run twice, see `OrganizationReader.readWithin`. Throws INVALID_ARGUMENT for an unknown organization,
 * NOT_FOUND for an unknown document, and FAILED_PRECONDITION for a document that still has another id until its
 * migration ends.
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

export const listingCursor = {
  of: (position: ListingPosition | undefined): string | undefined =>
    position && JSON.stringify([position.documentId, position.after]),
  position(cursor: string | undefined): ListingPosition | undefined {
    if (cursor === undefined) return undefined;
    const [documentId, after] = JSON.parse(cursor) as [string, string | null];
    return { documentId, after: after ?? undefined };
  },
};

interface RecordSelection<T, V> extends Pick<QueryOptions, 'descending'> {
  readonly toResponse: (value: Stored<T>) => V;
  readonly isMatch?: ((value: Stored<T>) => boolean) | undefined;
}

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
