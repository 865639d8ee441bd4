import { pages } from '../table/pages.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { DocumentEntity, DocumentReader, readDocuments } from './documents.ts';
import { FolderEntryEntity, FolderReader, readFolders } from './folders/folders.ts';
import { type OrganizationScope } from './organizationScope.ts';

/** The page size of the counts that must read each document to check its folder. Other counts read no documents. */
const PAGE = 1_000;

/** Counts documents. DynamoDB bills a count like a read of the same documents. */
export class DocumentCounter {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Returns the number of documents in an organization. With `outsideFolders`, counts only the documents that are in no folder.
   * While a job moves or deletes folders, a count of all documents reads each document and its folder, and leaves out documents in
   * deleted folders.
   */
  async all(scope: OrganizationScope, { outsideFolders = false } = {}): Promise<number> {
    if (outsideFolders) return this.#table.count(DocumentEntity, scope, [], { without: 'folder' });
    if (!scope.hasFolderChanges) return this.#table.count(DocumentEntity, scope);
    const documents = new DocumentReader(this.#table);
    let count = 0;
    for await (const { values } of pages((after) => documents.list(scope, { limit: PAGE, after })))
      count += values.length;
    return count;
  }

  /** Returns the number of documents that are directly in a folder. Throws NOT_FOUND if the folder does not exist. */
  async inFolder(scope: OrganizationScope, folderId: string): Promise<number> {
    const { internalId } = await new FolderReader(this.#table).require(scope, folderId);
    return this.#table.count(FolderEntryEntity, { ...scope, folderKey: internalId }, ['document']);
  }
}

export const countDocuments = /* @__PURE__ */ storeCapability(DocumentCounter, [readDocuments, readFolders, 'Query']);
