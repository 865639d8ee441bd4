import { pages } from '../table/pages.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { DocumentEntity, DocumentReader, readDocuments } from './documents.ts';
import { FolderEntryEntity, FolderReader, readFolders } from './folders/folders.ts';
import type { OrganizationScope } from './organizationScope.ts';

const PAGE = 1_000;

/** DynamoDB bills a count like a read of the same documents. */
export class DocumentCounter {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** While a job changes folders, a count of all documents reads each document and its folder. */
  async all(scope: OrganizationScope, { outsideFolders = false } = {}): Promise<number> {
    if (outsideFolders) return this.#table.count(DocumentEntity, scope, [], { without: ['folder', 'arriving'] });
    if (!scope.hasFolderChanges) return this.#table.count(DocumentEntity, scope, [], { without: ['arriving'] });
    const documents = new DocumentReader(this.#table);
    let count = 0;
    for await (const { values } of pages((after) => documents.list(scope, { limit: PAGE, after })))
      count += values.length;
    return count;
  }

  async inFolder(scope: OrganizationScope, folderId: string): Promise<number> {
    const { internalId } = await new FolderReader(this.#table).require(scope, folderId);
    return this.#table.count(FolderEntryEntity, { ...scope, folderKey: internalId }, ['document']);
  }
}

export const countDocuments = /* @__PURE__ */ storeCapability(DocumentCounter, [readDocuments, readFolders, 'Query']);
