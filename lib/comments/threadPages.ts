import { building, type Capability } from '../app/capability.ts';
import { dict } from '../shared/collections.ts';
import type { ContentNames } from '../content/rules/names.ts';
import { matchesFilters, type ThreadFilters } from './rules/threadFilters.ts';
import { type RowParts, toThreadResponse, type ThreadRow, toThreadRow } from './rules/threads.ts';
import { type DocumentReader, type PlacedDocument, readDocuments } from '../directory/documents.ts';
import type { Stored } from '../table/entity.ts';
import {
  type Folder,
  FolderEntryEntity,
  type FolderReader,
  type OrganizationScope,
  organizationScope,
  readFolders,
} from '../directory/folders/folders.ts';
import { findOrganization, type OrganizationReader } from '../directory/organizations.ts';
import { openTable, type Table } from '../table/table.ts';
import { type DeletedThread, listDeletedThreads } from './deletedThreads.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { findRecordIds, RecordIdEntity } from '../content/recordIds.ts';
import { type FirstComments, readThreads, ThreadEntity, type ThreadKey, ThreadReader } from './threads.ts';
import {
  type DocumentSource,
  allDocuments,
  findLiveDocuments,
  givenDocuments,
  type ListedDocument,
  type ListingPage,
  type ListingPosition,
  listAcrossDocuments,
} from '../content/recordListing.ts';

/** Which threads a request is about, as far as documents go: of one, of some, of a folder's, else of the whole organization's. */
export interface ThreadSelection {
  readonly organizationId: string;
  readonly documentId?: string | undefined;
  readonly documentIds?: readonly string[] | undefined;
  readonly folderId?: string | undefined;
}

/** A thread as it is shown, and the document that it lies in, under the customer's id. */
export interface ListedThread {
  readonly documentId: string;
  readonly thread: ThreadRow;
}

export interface ThreadPageOptions {
  readonly parts: RowParts;
  readonly filters: ThreadFilters;
  readonly descending: boolean;
  readonly limit: number;
  /** Where the last page ended. */
  readonly from?: ListingPosition | undefined;
}

/** The documents of a scope. */
interface Scope {
  readonly organizationId: string;
  readonly scope: OrganizationScope;
  readonly documents: DocumentSource;
}

/** How much of their comments the threads of one answer bring along, when they are named. */
const NAMED_BYTES = 4_000_000;
/** How many documents are looked through for a thread's id, when the request names none. */
const MOST_OF_ONE_ID = 100;
const LISTED = 100;

export class ThreadPages {
  readonly #table: Table;
  readonly #threads: ThreadReader;
  readonly #organizations: Pick<OrganizationReader, 'require'>;
  readonly #documents: DocumentReader;
  readonly #folders: FolderReader;

  constructor(
    table: Table,
    finders: { organizations: Pick<OrganizationReader, 'require'>; documents: DocumentReader; folders: FolderReader },
  ) {
    this.#table = table;
    this.#threads = new ThreadReader(table);
    this.#organizations = finders.organizations;
    this.#documents = finders.documents;
    this.#folders = finders.folders;
  }

  /** The documents that a request is about. INVALID_ARGUMENT for an unknown organization, NOT_FOUND for an unknown document or folder; of several documents those that there are. */
  async resolveScope(
    tenant: string,
    { organizationId, documentId, documentIds, folderId }: ThreadSelection,
  ): Promise<Scope> {
    const scope = organizationScope(tenant, await this.#organizations.require(tenant, organizationId));
    const these = (documents: Iterable<{ documentId: string; internalId: string }>) =>
      givenDocuments([...documents].map((document) => walked(scope, document)));
    if (documentId !== undefined)
      return { organizationId, scope, documents: these([await this.#documents.require(scope, documentId)]) };
    if (documentIds)
      return {
        organizationId,
        scope,
        documents: these((await findLiveDocuments(this.#documents, scope, documentIds)).values()),
      };
    if (folderId === undefined) return { organizationId, scope, documents: allDocuments(this.#documents, scope) };
    return {
      organizationId,
      scope,
      documents: documentsOf(this.#documents, scope, await this.#folders.require(scope, folderId)),
    };
  }

  /** A page of the threads that meet the filters, document by document, in each by creation. */
  async list(
    { organizationId, scope: { tenant }, documents }: Scope,
    { parts, filters, descending, limit, from }: ThreadPageOptions,
  ): Promise<ListingPage<ListedThread>> {
    return listAcrossDocuments({
      documents,
      from,
      limit,
      read: async ({ documentId, scope }, options) => {
        const { records, ...stretch } = await this.#threads.list(scope, { ...options, filters, descending });
        return {
          ...stretch,
          records: records.map(({ key, value }) => ({
            key,
            value: {
              documentId,
              thread: toThreadRow(toThreadResponse(namesOf(tenant, organizationId, documentId), value), parts),
            },
          })),
        };
      },
    });
  }

  /** A page of the threads that were deleted from a time (epoch ms) on, document by document, in each the oldest deletion first. */
  async listDeleted(
    { documents }: Scope,
    { deletedAfter, limit, from }: { deletedAfter: number; limit: number; from?: ListingPosition | undefined },
  ): Promise<ListingPage<DeletedThread>> {
    return listAcrossDocuments({
      documents,
      from,
      limit,
      read: ({ scope }, options) => listDeletedThreads(this.#table, scope, deletedAfter, options),
    });
  }

  /** For each id the threads that have it and meet the filters: at most one in a document, and as many as there are documents. Ids are distinct. */
  async findByIds(
    tenant: string,
    asked: ThreadSelection,
    annotationIds: readonly string[],
    { filters, parts }: Pick<ThreadPageOptions, 'filters' | 'parts'>,
  ): Promise<ListedThread[][]> {
    const scope = organizationScope(tenant, await this.#organizations.require(tenant, asked.organizationId));
    const keys = await this.#keys(scope, asked, annotationIds);
    const share = Math.floor(NAMED_BYTES / Math.max(keys.length, 1));
    const [threads, comments] = await Promise.all([
      this.#table.getMany(ThreadEntity, keys),
      Promise.all(keys.map((key) => this.#threads.firstComments(key, key, share))),
    ]);
    const shown = threads.flatMap((thread, index): ListedThread[] => {
      if (!thread || !matchesFilters(thread, filters)) return [];
      const { documentId } = thread;
      return [
        {
          documentId,
          thread: toThreadRow(
            toThreadResponse(namesOf(tenant, asked.organizationId, documentId), {
              thread,
              ...(comments[index] as FirstComments),
            }),
            parts,
          ),
        },
      ];
    });
    const byId = Map.groupBy(shown, ({ thread }) => thread.annotationId);
    return annotationIds.map((annotationId) => byId.get(annotationId) ?? []);
  }

  /** Where the threads with these ids are: in documents that are there, and that the request is about. */
  async #keys(
    scope: OrganizationScope,
    { documentId, documentIds: several, folderId }: ThreadSelection,
    annotationIds: readonly string[],
  ): Promise<(DocumentScope & ThreadKey)[]> {
    const documentIds = documentId === undefined ? several : [documentId];
    if (!documentIds) return this.#keysAnywhere(scope, folderId, annotationIds);
    const names = documentIds.flatMap((within) => annotationIds.map((id) => ({ kind: 'thread', id, within }) as const));
    // Both at once: an id says which document it is of.
    const [documents, positions] = await Promise.all([
      documentId === undefined
        ? findLiveDocuments(this.#documents, scope, documentIds)
        : this.#documents.require(scope, documentId).then((document) => new Map([[documentId, document]])),
      findRecordIds(this.#table, scope, names),
    ]);
    return positions.flatMap((position, index) => {
      const { id: annotationId, within } = names[index] as (typeof names)[number];
      const documentKey = documents.get(within)?.internalId;
      return position && position.documentKey === documentKey
        ? [{ ...scope, documentKey, annotationId, createdAt: position.createdAt }]
        : [];
    });
  }

  async #keysAnywhere(
    scope: OrganizationScope,
    folderId: string | undefined,
    annotationIds: readonly string[],
  ): Promise<(DocumentScope & ThreadKey)[]> {
    const [folder, pages] = await Promise.all([
      folderId === undefined ? undefined : this.#folders.require(scope, folderId),
      Promise.all(
        annotationIds.map((id) =>
          this.#table.query(RecordIdEntity, { ...scope, kind: 'thread', id }, { limit: MOST_OF_ONE_ID }),
        ),
      ),
    ]);
    const keys = pages.flatMap(({ values }, index) =>
      values.map(({ documentKey, createdAt }) => ({
        ...scope,
        documentKey,
        annotationId: annotationIds[index] as string,
        createdAt,
      })),
    );
    const threads = await this.#table.getMany(ThreadEntity, keys);
    const live = await findLiveDocuments(
      this.#documents,
      scope,
      threads.flatMap((thread) => thread?.documentId ?? []),
    );
    return keys.filter(({ documentKey }, index) => {
      const lies = live.get(threads[index]?.documentId ?? '');
      return lies?.internalId === documentKey && (!folder || lies.folder?.internalId === folder.internalId);
    });
  }
}

/** Returns the rows of threads: grouped by document, or a list with `null` in the place of an id that no thread has. */
export function toThreadsResponse(
  found: readonly (readonly ListedThread[])[],
  groupByDocumentId: boolean,
): (ThreadRow | null)[] | Record<string, ThreadRow[]> {
  if (!groupByDocumentId) return found.flatMap((some) => (some.length > 0 ? some.map(({ thread }) => thread) : [null]));
  const grouped = Map.groupBy(found.flat(), ({ documentId }) => documentId);
  return dict([...grouped].map(([documentId, some]) => [documentId, some.map(({ thread }) => thread)] as const));
}

function walked(
  scope: OrganizationScope,
  { documentId, internalId }: { documentId: string; internalId: string },
): ListedDocument {
  return { documentId, scope: { ...scope, documentKey: internalId } };
}

function namesOf(apiKey: string, organizationId: string, documentId: string): ContentNames {
  return { apiKey, organization: { organizationId }, document: { documentId } };
}

/** The documents that lie directly in a folder, by id. */
function documentsOf(reader: DocumentReader, scope: OrganizationScope, folder: Stored<Folder>): DocumentSource {
  const isIn = (document: PlacedDocument) => document.folder?.internalId === folder.internalId;
  return {
    async list(from) {
      const after =
        from === undefined
          ? undefined
          : FolderEntryEntity.key({ ...scope, folderKey: folder.internalId, kind: 'document', id: from }).SK;
      const [first, rest] = await Promise.all([
        from === undefined
          ? []
          : findLiveDocuments(reader, scope, [from]).then((live) => [...live.values()].filter(isIn)),
        listAfter(after),
      ]);
      return {
        documents: [...first, ...rest.values].map((document) => walked(scope, document)),
        more: rest.next !== undefined,
      };
    },
  };

  /** Entries that were left behind make no page empty before the end. */
  async function listAfter(after: string | undefined): ReturnType<DocumentReader['listInFolder']> {
    const page = await reader.listInFolder(scope, folder, { limit: LISTED, after });
    return page.values.length > 0 || page.next === undefined ? page : listAfter(page.next);
  }
}

/** Read pages of threads, or those with certain ids, of documents, folders and organizations. */
export const readThreadPages: Capability<ThreadPages> = /* @__PURE__ */ building(
  [findOrganization, readDocuments, readFolders, readThreads],
  {
    grants: [],
    env: [],
    open: (env) =>
      new ThreadPages(openTable(env), {
        organizations: findOrganization.open(env),
        documents: readDocuments.open(env),
        folders: readFolders.open(env),
      }),
  },
);
