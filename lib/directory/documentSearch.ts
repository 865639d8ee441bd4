import { readJson } from '../shared/jsonFields.ts';
import type { Stored } from '../table/entity.ts';
import { pages } from '../table/pages.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { PageOptions, QueryPage, Table } from '../table/table.ts';
import { DocumentEntity, DocumentReader, type DocumentWithFolder, readDocuments } from './documents.ts';
import { type Folder, FolderEntryEntity } from './folders/folders.ts';
import type { OrganizationScope } from './organizationScope.ts';
import { matchesFilters, type MetadataFilter } from './rules/documentFilters.ts';
import { RECORDS_PER_READ, searchPage } from './searchPage.ts';

/** A count with filters gives up after this many documents, or characters of metadata as JSON. */
const MAX_COUNTED_DOCUMENTS = 10_000;
const MAX_COUNTED_CHARACTERS = 32_000_000;

export interface SearchScope {
  readonly scope: OrganizationScope;
  readonly folder: Stored<Folder> | undefined;
}

export function matches(
  filters: readonly MetadataFilter[],
  { metadata }: Pick<DocumentWithFolder, 'metadata'>,
): boolean {
  return matchesFilters(filters, readJson<Record<string, unknown>>(metadata));
}

/** No index contains metadata, so a search also reads the documents in its scope that do not match. */
export class DocumentSearch {
  readonly #documents: DocumentReader;
  readonly #maxCounted: number;

  constructor(table: Table, maxCounted = MAX_COUNTED_DOCUMENTS) {
    this.#documents = new DocumentReader(table);
    this.#maxCounted = maxCounted;
  }

  /**
   * Ordered by id, ends early at about 4 MB. With `isMatch`, a page reads at most 2,000 documents: it can be short or
   * empty and still have a `next`.
   */
  async page(
    searched: SearchScope,
    isMatch: ((document: DocumentWithFolder) => boolean) | undefined,
    { limit, after }: PageOptions,
  ): Promise<QueryPage<DocumentWithFolder>> {
    if (!isMatch && !searched.folder) return this.#read(searched, { limit, after });
    return searchPage(
      async (from, count) => {
        const { values, next } = await this.#read(searched, { limit: count, after: from });
        return { records: values.map((value) => ({ key: sortKey(searched, value.documentId), value })), next };
      },
      { limit, after, isMatch },
    );
  }

  async count(searched: SearchScope, isMatch: (document: DocumentWithFolder) => boolean): Promise<number | undefined> {
    let [count, documentsRead, characters] = [0, 0, 0];
    for await (const { values, next } of pages((after) => this.#read(searched, { limit: RECORDS_PER_READ, after }))) {
      count += values.filter(isMatch).length;
      documentsRead += values.length;
      for (const { metadata = '' } of values) characters += metadata.length;
      if (next !== undefined && (documentsRead >= this.#maxCounted || characters > MAX_COUNTED_CHARACTERS))
        return undefined;
    }
    return count;
  }

  async #read({ scope, folder }: SearchScope, options: PageOptions): Promise<QueryPage<DocumentWithFolder>> {
    return folder ? this.#documents.listInFolder(scope, folder, options) : this.#documents.list(scope, options);
  }
}

function sortKey({ scope, folder }: SearchScope, documentId: string): string {
  return folder
    ? FolderEntryEntity.key({ ...scope, folderKey: folder.internalId, kind: 'document', id: documentId }).SK
    : DocumentEntity.key({ ...scope, documentId }).SK;
}

export const searchDocuments = /* @__PURE__ */ storeCapability(DocumentSearch, [
  readDocuments,
  'GetItem',
  'BatchGetItem',
  'Query',
]);
