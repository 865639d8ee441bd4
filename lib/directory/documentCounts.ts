import { DocumentEntity, DocumentReader } from './documents.ts';
import { FolderEntryEntity, FolderReader, type OrganizationScope } from './folders/folders.ts';
import type { Table } from '../table/table.ts';
import { pages } from '../table/pages.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** The number of documents that one query returns. Only a count that must check the folder of each document queries documents. */
const PAGE = 1_000;

/** Counts documents. DynamoDB bills a count like a read of the same documents. */
export class DocumentCounter {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Returns the number of documents in an organization. With `outsideFolders`, counts only the documents that are in no folder.
   * While a job applies changes of folders, a count of all documents reads each document with its folder. It leaves out documents
   * in deleted folders.
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

export const countDocuments = /* @__PURE__ */ storeCapability(DocumentCounter, ['GetItem', 'BatchGetItem', 'Query']);
