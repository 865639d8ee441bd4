import { DocumentEntity, DocumentReader } from './documents.ts';
import { FolderEntryEntity, FolderReader, type OrganizationScope } from './folders/folders.ts';
import type { Table } from '../table/table.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** Documents that are looked at together where they cannot be counted only. */
const PAGE = 1_000;

/** Counts documents, which costs as much as reading them. */
export class DocumentCounter {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** How many documents an organization has, or has outside of folders. While a folder of it is being removed those that are gone with it are told apart, by their folders. */
  async all(scope: OrganizationScope, { outsideFolders = false } = {}): Promise<number> {
    // No document of a folder counts, so it does not matter which folders are being removed.
    if (outsideFolders) return this.#table.count(DocumentEntity, scope, [], { without: 'folder' });
    if (!scope.changingFolders) return this.#table.count(DocumentEntity, scope);
    const documents = new DocumentReader(this.#table);
    let [count, after]: [number, string | undefined] = [0, undefined];
    do {
      const page = await documents.list(scope, { limit: PAGE, after });
      count += page.values.length;
      after = page.next;
    } while (after !== undefined);
    return count;
  }

  /** How many lie directly in a folder. NOT_FOUND when there is no such folder. */
  async inFolder(scope: OrganizationScope, folderId: string): Promise<number> {
    const { internalId } = await new FolderReader(this.#table).require(scope, folderId);
    return this.#table.count(FolderEntryEntity, { ...scope, folderKey: internalId }, ['document']);
  }
}

/** Count documents. */
export const countDocuments = /* @__PURE__ */ storeCapability(DocumentCounter, ['GetItem', 'BatchGetItem', 'Query']);
