import { building, type Capability } from '../app/capability.ts';
import { dict } from '../shared/collections.ts';
import type { ContentNames } from '../content/rules/names.ts';
import { meets, type ThreadFilters } from './rules/threadFilters.ts';
import { type RowParts, showThread, type ThreadRow, threadRow } from './rules/threads.ts';
import { type DocumentReader, type PlacedDocument, readDocuments } from '../directory/documents.ts';
import type { Stored } from '../table/entity.ts';
import {
  type Folder,
  FolderEntryEntity,
  type FolderReader,
  type Place,
  placeOf,
  readFolders,
} from '../directory/folders/folders.ts';
import { findOrganization, type OrganizationReader } from '../directory/organizations.ts';
import { openTable, type Table } from '../table/table.ts';
import { type DeletedThread, deletedThreads } from './deletedThreads.ts';
import type { DocumentPlace } from '../content/documentScope.ts';
import { findRecords, RecordIdEntity } from '../content/recordIds.ts';
import { type FirstComments, readThreads, ThreadEntity, type ThreadKey, ThreadReader } from './threads.ts';
import {
  type DocumentSource,
  everyDocument,
  liveDocuments,
  theseDocuments,
  type WalkedDocument,
  type Walked,
  type WalkPosition,
  walk,
} from '../content/listDocuments.ts';

/** Which threads a request is about, as far as documents go: of one, of some, of a folder's, else of the whole organization's. */
export interface ThreadScope {
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
  readonly from?: WalkPosition | undefined;
}

/** The documents of a scope. */
interface Scope {
  readonly organizationId: string;
  readonly place: Place;
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
  async scope(tenant: string, { organizationId, documentId, documentIds, folderId }: ThreadScope): Promise<Scope> {
    const place = placeOf(tenant, await this.#organizations.require(tenant, organizationId));
    const these = (documents: Iterable<{ documentId: string; internalId: string }>) =>
      theseDocuments([...documents].map((document) => walked(place, document)));
    if (documentId !== undefined)
      return { organizationId, place, documents: these([await this.#documents.require(place, documentId)]) };
    if (documentIds)
      return {
        organizationId,
        place,
        documents: these((await liveDocuments(this.#documents, place, documentIds)).values()),
      };
    if (folderId === undefined) return { organizationId, place, documents: everyDocument(this.#documents, place) };
    return {
      organizationId,
      place,
      documents: documentsOf(this.#documents, place, await this.#folders.require(place, folderId)),
    };
  }

  /** A page of the threads that meet the filters, document by document, in each by creation. */
  async page(
    { organizationId, place: { tenant }, documents }: Scope,
    { parts, filters, descending, limit, from }: ThreadPageOptions,
  ): Promise<Walked<ListedThread>> {
    return walk({
      documents,
      from,
      limit,
      read: async ({ documentId, place }, options) => {
        const { records, ...stretch } = await this.#threads.stretch(place, { ...options, filters, descending });
        return {
          ...stretch,
          records: records.map(({ key, value }) => ({
            key,
            value: {
              documentId,
              thread: threadRow(showThread(namesOf(tenant, organizationId, documentId), value), parts),
            },
          })),
        };
      },
    });
  }

  /** A page of the threads that were deleted from a time (epoch ms) on, document by document, in each the oldest deletion first. */
  async deleted(
    { documents }: Scope,
    { deletedAfter, limit, from }: { deletedAfter: number; limit: number; from?: WalkPosition | undefined },
  ): Promise<Walked<DeletedThread>> {
    return walk({
      documents,
      from,
      limit,
      read: ({ place }, options) => deletedThreads(this.#table, place, deletedAfter, options),
    });
  }

  /** For each id the threads that have it and meet the filters: at most one in a document, and as many as there are documents. Ids are distinct. */
  async named(
    tenant: string,
    asked: ThreadScope,
    annotationIds: readonly string[],
    { filters, parts }: Pick<ThreadPageOptions, 'filters' | 'parts'>,
  ): Promise<ListedThread[][]> {
    const place = placeOf(tenant, await this.#organizations.require(tenant, asked.organizationId));
    const keys = await this.#keys(place, asked, annotationIds);
    const share = Math.floor(NAMED_BYTES / Math.max(keys.length, 1));
    const [threads, comments] = await Promise.all([
      this.#table.getMany(ThreadEntity, keys),
      Promise.all(keys.map((key) => this.#threads.firstComments(key, key, share))),
    ]);
    const shown = threads.flatMap((thread, index): ListedThread[] => {
      if (!thread || !meets(thread, filters)) return [];
      const { documentId } = thread;
      return [
        {
          documentId,
          thread: threadRow(
            showThread(namesOf(tenant, asked.organizationId, documentId), {
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
    place: Place,
    { documentId, documentIds: several, folderId }: ThreadScope,
    annotationIds: readonly string[],
  ): Promise<(DocumentPlace & ThreadKey)[]> {
    const documentIds = documentId === undefined ? several : [documentId];
    if (!documentIds) return this.#keysAnywhere(place, folderId, annotationIds);
    const names = documentIds.flatMap((within) => annotationIds.map((id) => ({ kind: 'thread', id, within }) as const));
    // Both at once: an id says which document it is of.
    const [documents, positions] = await Promise.all([
      documentId === undefined
        ? liveDocuments(this.#documents, place, documentIds)
        : this.#documents.require(place, documentId).then((document) => new Map([[documentId, document]])),
      findRecords(this.#table, place, names),
    ]);
    return positions.flatMap((position, index) => {
      const { id: annotationId, within } = names[index] as (typeof names)[number];
      const document = documents.get(within)?.internalId;
      return position && position.document === document
        ? [{ ...place, document, annotationId, createdAt: position.createdAt }]
        : [];
    });
  }

  async #keysAnywhere(
    place: Place,
    folderId: string | undefined,
    annotationIds: readonly string[],
  ): Promise<(DocumentPlace & ThreadKey)[]> {
    const [folder, pages] = await Promise.all([
      folderId === undefined ? undefined : this.#folders.require(place, folderId),
      Promise.all(
        annotationIds.map((id) =>
          this.#table.query(RecordIdEntity, { ...place, kind: 'thread', id }, { limit: MOST_OF_ONE_ID }),
        ),
      ),
    ]);
    const keys = pages.flatMap(({ values }, index) =>
      values.map(({ document, createdAt }) => ({
        ...place,
        document,
        annotationId: annotationIds[index] as string,
        createdAt,
      })),
    );
    const threads = await this.#table.getMany(ThreadEntity, keys);
    const live = await liveDocuments(
      this.#documents,
      place,
      threads.flatMap((thread) => thread?.documentId ?? []),
    );
    return keys.filter(({ document }, index) => {
      const lies = live.get(threads[index]?.documentId ?? '');
      return lies?.internalId === document && (!folder || lies.folder?.internalId === folder.internalId);
    });
  }
}

/** Returns the rows of threads: grouped by document, or a list with `null` in the place of an id that no thread has. */
export function shownThreads(
  found: readonly (readonly ListedThread[])[],
  groupByDocumentId: boolean,
): (ThreadRow | null)[] | Record<string, ThreadRow[]> {
  if (!groupByDocumentId) return found.flatMap((some) => (some.length > 0 ? some.map(({ thread }) => thread) : [null]));
  const grouped = Map.groupBy(found.flat(), ({ documentId }) => documentId);
  return dict([...grouped].map(([documentId, some]) => [documentId, some.map(({ thread }) => thread)] as const));
}

function walked(place: Place, { documentId, internalId }: { documentId: string; internalId: string }): WalkedDocument {
  return { documentId, place: { ...place, document: internalId } };
}

function namesOf(apiKey: string, organizationId: string, documentId: string): ContentNames {
  return { apiKey, organization: { organizationId }, document: { documentId } };
}

/** The documents that lie directly in a folder, by id. */
function documentsOf(reader: DocumentReader, place: Place, folder: Stored<Folder>): DocumentSource {
  const isIn = (document: PlacedDocument) => document.folder?.internalId === folder.internalId;
  return {
    async list(from) {
      const after =
        from === undefined
          ? undefined
          : FolderEntryEntity.key({ ...place, folder: folder.internalId, kind: 'document', id: from }).SK;
      const [first, rest] = await Promise.all([
        from === undefined ? [] : liveDocuments(reader, place, [from]).then((live) => [...live.values()].filter(isIn)),
        listAfter(after),
      ]);
      return {
        documents: [...first, ...rest.values].map((document) => walked(place, document)),
        more: rest.next !== undefined,
      };
    },
  };

  /** Entries that were left behind make no page empty before the end. */
  async function listAfter(after: string | undefined): ReturnType<DocumentReader['listInFolder']> {
    const page = await reader.listInFolder(place, folder, { limit: LISTED, after });
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
