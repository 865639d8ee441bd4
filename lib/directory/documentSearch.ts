import { meetsFilters, type MetadataFilter } from './rules/documentFilters.ts';
import { DocumentEntity, DocumentReader, type PlacedDocument } from './documents.ts';
import { type Folder, FolderEntryEntity, type OrganizationScope } from './folders/folders.ts';
import type { Stored } from '../table/entity.ts';
import { SEARCHED_AT_ONCE, searchPage } from './searchPage.ts';
import type { QueryPage, Table } from '../table/table.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** How many documents one call looks at to count those that meet filters, and how much metadata of them. */
const MOST_COUNTED = 10_000;
const MOST_COUNTED_BYTES = 32_000_000;

/** Where documents are searched: in an organization, or directly in one of its folders. */
export interface SearchedIn {
  readonly scope: OrganizationScope;
  readonly folder: Stored<Folder> | undefined;
}

/** Whether a document meets all filters on its metadata. */
export function meets(filters: readonly MetadataFilter[], { metadata }: Pick<PlacedDocument, 'metadata'>): boolean {
  return meetsFilters(filters, metadata === undefined ? undefined : (JSON.parse(metadata) as Record<string, unknown>));
}

/** Searches documents by their metadata. No index holds metadata, so documents are read one by one. */
export class DocumentSearch {
  readonly #documents: DocumentReader;
  readonly #mostCounted: number;

  constructor(table: Table, mostCounted = MOST_COUNTED) {
    this.#documents = new DocumentReader(table);
    this.#mostCounted = mostCounted;
  }

  /** A page of the documents that meet the filters, by id. It looks at about 2,000 documents: it can be short or empty and still have a `next`. */
  async page(
    within: SearchedIn,
    filters: readonly MetadataFilter[],
    { limit, after }: { limit: number; after: string | undefined },
  ): Promise<QueryPage<PlacedDocument>> {
    return searchPage(
      async (from) => {
        const { values, next } = await this.#read(within, SEARCHED_AT_ONCE, from);
        return { records: values.map((value) => ({ key: sortKey(within, value.documentId), value })), next };
      },
      { limit, after, isWanted: (document) => meets(filters, document) },
    ) as Promise<QueryPage<PlacedDocument>>;
  }

  /** How many documents meet the filters; undefined when there are too many documents to look at. */
  async count(within: SearchedIn, filters: readonly MetadataFilter[]): Promise<number | undefined> {
    let [count, seen, bytes, after]: [number, number, number, string | undefined] = [0, 0, 0, undefined];
    do {
      const page = await this.#read(within, SEARCHED_AT_ONCE, after);
      count += page.values.filter((document) => meets(filters, document)).length;
      seen += page.values.length;
      bytes += page.values.reduce((sum, { metadata = '' }) => sum + metadata.length, 0);
      after = page.next;
      if (after !== undefined && (seen >= this.#mostCounted || bytes > MOST_COUNTED_BYTES)) return undefined;
    } while (after !== undefined);
    return count;
  }

  async #read(
    { scope, folder }: SearchedIn,
    limit: number,
    after: string | undefined,
  ): Promise<QueryPage<PlacedDocument>> {
    return folder
      ? this.#documents.listInFolder(scope, folder, { limit, after })
      : this.#documents.list(scope, { limit, after });
  }
}

function sortKey({ scope, folder }: SearchedIn, documentId: string): string {
  return folder
    ? FolderEntryEntity.key({ ...scope, folderKey: folder.internalId, kind: 'document', id: documentId }).SK
    : DocumentEntity.key({ ...scope, documentId }).SK;
}

/** Search documents by their metadata. */
export const searchDocuments = /* @__PURE__ */ storeCapability(DocumentSearch, ['GetItem', 'BatchGetItem', 'Query']);
