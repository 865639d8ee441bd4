import { type DocumentScope, documentScope } from '../content/documentScope.ts';
import { findRecordIds, inDocument, RecordIdEntity, recordIdKey } from '../content/recordIds.ts';
import {
  allDocuments,
  documentsInFolder,
  type DocumentSource,
  findLiveDocuments,
  givenDocuments,
  listAcrossDocuments,
  type ListingPage,
  type ListingPosition,
  toListed,
} from '../content/recordListing.ts';
import type { ContentNames } from '../content/rules/eventMetadata.ts';
import type { Viewer } from '../content/rules/viewer.ts';
import { DocumentReader, type DocumentWithFolder, readDocuments, refuseArriving } from '../directory/documents.ts';
import { FolderReader, readFolders } from '../directory/folders/folders.ts';
import { findOrganization, OrganizationReader } from '../directory/organizations.ts';
import { type OrganizationScope, organizationScope } from '../directory/organizationScope.ts';
import { dict, distinct } from '../shared/collections.ts';
import { invalid } from '../shared/errors.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { type DeletedThread, listDeletedThreads } from './deletedThreads.ts';
import { findReadStates, type ReadState } from './readStates.ts';
import { matchesFilters, type ThreadFilters } from './rules/threadFilters.ts';
import { type RowParts, type ThreadRow, toThreadResponse, toThreadRow } from './rules/threadResponses.ts';
import type { ThreadWithComments } from './rules/threads.ts';
import { type FirstComments, readThreads, ThreadEntity, type ThreadKey, ThreadReader } from './threads.ts';
import { onlyVisible, type ThreadRecord } from './visibleThreads.ts';

/** One document, several, or those in a folder. By default all of the organization. */
export interface ThreadSelection {
  readonly organizationId: string;
  readonly documentId?: string | undefined;
  readonly documentIds?: readonly string[] | undefined;
  readonly folderId?: string | undefined;
}

export interface ListedThread {
  readonly documentId: string;
  readonly thread: ThreadRow;
}

export interface ThreadPageOptions {
  readonly parts: RowParts;
  readonly filters: ThreadFilters;
  readonly descending: boolean;
  readonly limit: number;
  readonly from?: ListingPosition | undefined;
  readonly viewer?: Viewer | undefined;
  readonly userId?: string | undefined;
  readonly now: number;
}

type RowOptions = Pick<ThreadPageOptions, 'filters' | 'parts' | 'viewer' | 'userId' | 'now'>;

export interface ThreadListingScope {
  readonly organizationId: string;
  readonly scope: OrganizationScope;
  readonly documents: DocumentSource;
}

/**
 * For all threads of a request by ids. A response can have twice as many bytes, because it repeats each access context
 * as `accessFields`.
 */
const MAX_COMMENT_BYTES = 2_000_000;
/** A thread id is unique only in its document, so each id of a request without a document can match several threads. */
const MAX_THREADS_READ = 3_000;

export class ThreadPages {
  readonly #table: Table;
  readonly #organizations: OrganizationReader;
  readonly #documents: DocumentReader;
  readonly #folders: FolderReader;
  readonly #threads: ThreadReader;

  constructor(table: Table) {
    this.#table = table;
    this.#organizations = new OrganizationReader(table);
    this.#documents = new DocumentReader(table);
    this.#folders = new FolderReader(table);
    this.#threads = new ThreadReader(table);
  }

  /**
   * Skips unknown `documentIds`. Throws INVALID_ARGUMENT for an unknown organization, NOT_FOUND for an unknown
   * `documentId` or folder, and FAILED_PRECONDITION for a document that a migration still fills.
   */
  async resolveScope(tenant: string, selection: ThreadSelection): Promise<ThreadListingScope> {
    const { organizationId } = selection;
    const { content } = await this.#organizations.readWithin(tenant, organizationId, async (keys) => {
      const scope = organizationScope(tenant, keys);
      return { organizationId, scope, documents: await this.#documentsOf(scope, selection) };
    });
    return content;
  }

  async #documentsOf(
    scope: OrganizationScope,
    { documentId, documentIds, folderId }: ThreadSelection,
  ): Promise<DocumentSource> {
    const documents = this.#documents;
    if (documentId !== undefined) return givenDocuments([toListed(scope, await documents.require(scope, documentId))]);
    if (documentIds) {
      const live = await this.#findRequested(scope, documentIds);
      return givenDocuments([...live.values()].map((document) => toListed(scope, document)));
    }
    if (folderId !== undefined)
      return documentsInFolder(documents, scope, await this.#folders.require(scope, folderId));
    return allDocuments(documents, scope);
  }

  async #findRequested(
    scope: OrganizationScope,
    documentIds: readonly string[],
  ): Promise<ReadonlyMap<string, DocumentWithFolder>> {
    const live = await findLiveDocuments(this.#documents, scope, documentIds);
    refuseArriving([...live.values()]);
    return live;
  }

  /** Document by document, and in a document by creation time. */
  async list(
    { organizationId, scope: scopeOfAll, documents }: ThreadListingScope,
    { descending, limit, from, ...options }: ThreadPageOptions,
  ): Promise<ListingPage<ListedThread>> {
    return listAcrossDocuments({
      documents,
      from,
      limit,
      read: async ({ documentId, scope }, position) => {
        const page = await this.#threads.list(scope, { ...position, filters: options.filters, descending });
        const records = page.records.map((record) => ({ ...record, scope, documentId }));
        const rows = await this.#toRows({ scope: scopeOfAll, organizationId }, records, options);
        return { ...page, records: rows.map(({ key, row }) => ({ key, value: row })) };
      },
    });
  }

  async #toRows<R extends ThreadRecord & { readonly documentId: string }>(
    organization: Pick<ThreadListingScope, 'scope' | 'organizationId'>,
    records: readonly R[],
    { parts, filters, viewer, userId, now }: RowOptions,
  ): Promise<(R & { readonly row: ListedThread })[]> {
    const { scope, organizationId } = organization;
    const visible = await onlyVisible(this.#table, organization, { viewer, filters, now }, records);
    const states =
      userId === undefined ? [] : await findReadStates(this.#table, organization, { userId, viewer, now }, visible);
    return visible.map((record, index) => {
      const names = namesOf(scope.tenant, organizationId, record.documentId);
      return { ...record, row: toListedThread(names, record.value, parts, states[index]) };
    });
  }

  /** The deletions at or after `deletedAfter` (epoch ms), document by document, oldest first. */
  async listDeleted(
    { documents }: ThreadListingScope,
    { deletedAfter, limit, from }: { deletedAfter: number; limit: number; from?: ListingPosition | undefined },
  ): Promise<ListingPage<DeletedThread>> {
    return listAcrossDocuments({
      documents,
      from,
      limit,
      read: ({ scope }, options) => listDeletedThreads(this.#table, scope, deletedAfter, options),
    });
  }

  /** Returns one list per id, with at most one thread per document. `annotationIds` must be distinct. */
  async findByIds(
    tenant: string,
    selection: ThreadSelection,
    annotationIds: readonly string[],
    options: RowOptions,
  ): Promise<ListedThread[][]> {
    const { content } = await this.#organizations.readWithin(tenant, selection.organizationId, (keys) =>
      this.#findInOrganization(organizationScope(tenant, keys), selection, annotationIds, options),
    );
    return content;
  }

  async #findInOrganization(
    scope: OrganizationScope,
    selection: ThreadSelection,
    annotationIds: readonly string[],
    options: RowOptions,
  ): Promise<ListedThread[][]> {
    const { organizationId } = selection;
    const keys = await this.#findKeys(scope, selection, annotationIds);
    const bytesPerThread = Math.floor(MAX_COMMENT_BYTES / Math.max(keys.length, 1));
    const [threads, comments] = await Promise.all([
      this.#table.getMany(ThreadEntity, keys),
      Promise.all(keys.map((key) => this.#threads.firstComments(key, key, bytesPerThread))),
    ]);
    const matching = threads.flatMap((thread, index) => {
      if (!thread || !matchesFilters(thread, options.filters)) return [];
      const value = { thread, ...(comments[index] as FirstComments) };
      return [{ scope: keys[index] as DocumentScope, documentId: thread.documentId, value }];
    });
    const rows = await this.#toRows({ scope, organizationId }, matching, options);
    const byId = Map.groupBy(
      rows.map(({ row }) => row),
      ({ thread }) => thread.annotationId,
    );
    return annotationIds.map((annotationId) => byId.get(annotationId) ?? []);
  }

  /** Leaves out threads in documents that are not selected, and those of unknown `documentIds`. */
  async #findKeys(
    scope: OrganizationScope,
    { documentId, documentIds: sentDocumentIds, folderId }: ThreadSelection,
    annotationIds: readonly string[],
  ): Promise<(DocumentScope & ThreadKey)[]> {
    const documentIds = documentId === undefined ? sentDocumentIds : [documentId];
    if (!documentIds) return this.#findKeysAnywhere(scope, folderId, annotationIds);
    const recordIds = distinct(documentIds).flatMap((within) =>
      annotationIds.map((id) => recordIdKey('thread', id, within)),
    );
    // Positions are found by the customer's `documentId`, so they are read together with the documents.
    const [live, positions] = await Promise.all([
      documentId === undefined
        ? this.#findRequested(scope, documentIds)
        : this.#documents.require(scope, documentId).then((document) => new Map([[documentId, document]])),
      findRecordIds(this.#table, scope, recordIds),
    ]);
    const keys = recordIds.map(async (recordId, index) => {
      const document = live.get(recordId.within);
      if (!document) return [];
      const ofDocument = documentScope(scope, document);
      const position = await inDocument(this.#table, ofDocument, recordId, positions[index]);
      return position ? [{ ...ofDocument, annotationId: recordId.id, createdAt: position.createdAt }] : [];
    });
    return (await Promise.all(keys)).flat();
  }

  async #findKeysAnywhere(
    scope: OrganizationScope,
    folderId: string | undefined,
    annotationIds: readonly string[],
  ): Promise<(DocumentScope & ThreadKey)[]> {
    const limit = Math.floor(MAX_THREADS_READ / annotationIds.length);
    const findAll = async (annotationId: string) => {
      const recordId = { ...scope, kind: 'thread', id: annotationId } as const;
      const { values, next } = await this.#table.query(RecordIdEntity, recordId, { limit });
      if (next !== undefined) throw tooManyThreads(annotationId);
      return values.map(({ documentKey, createdAt }) => ({ ...scope, documentKey, annotationId, createdAt }));
    };
    const [folder, keysOfIds] = await Promise.all([
      folderId === undefined ? undefined : this.#folders.require(scope, folderId),
      Promise.all(annotationIds.map(findAll)),
    ]);
    const keys = keysOfIds.flat();
    const threads = await this.#table.getMany(ThreadEntity, keys);
    const documentIds = threads.flatMap((thread) => thread?.documentId ?? []);
    const liveDocuments = await findLiveDocuments(this.#documents, scope, documentIds);
    return keys.filter(({ documentKey }, index) => {
      const document = liveDocuments.get(threads[index]?.documentId ?? '');
      return document?.internalId === documentKey && (!folder || document.folder?.internalId === folder.internalId);
    });
  }
}

function tooManyThreads(annotationId: string): Error {
  return invalid({
    path: ['annotationIds'],
    code: 'too_many',
    message: `annotationIds must be given together with documentId or documentIds: too many documents have a thread ${annotationId}`,
  });
}

/** With `groupByDocumentId`, grouped by document id. Otherwise a list, with null for each id without a thread. */
export function toThreadsResponse(
  threadsOfIds: readonly (readonly ListedThread[])[],
  groupByDocumentId: boolean,
): (ThreadRow | null)[] | Record<string, ThreadRow[]> {
  const rowsOf = (threads: readonly ListedThread[]) => threads.map(({ thread }) => thread);
  if (!groupByDocumentId) return threadsOfIds.flatMap((threads) => (threads.length > 0 ? rowsOf(threads) : [null]));
  const groups = Map.groupBy(threadsOfIds.flat(), ({ documentId }) => documentId);
  return dict([...groups].map(([documentId, threads]) => [documentId, rowsOf(threads)] as const));
}

function toListedThread(
  names: ContentNames,
  thread: ThreadWithComments,
  parts: RowParts,
  state: ReadState | undefined,
): ListedThread {
  const row = toThreadRow(toThreadResponse(names, thread), parts);
  return { documentId: names.document.documentId, thread: { ...row, ...state } };
}

function namesOf(apiKey: string, organizationId: string, documentId: string): ContentNames {
  return { apiKey, organization: { organizationId }, document: { documentId } };
}

export const readThreadPages = /* @__PURE__ */ storeCapability(ThreadPages, [
  readThreads,
  findOrganization,
  readDocuments,
  readFolders,
]);
