import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { DocumentReader, type DocumentWithFolder, readDocuments } from './documents.ts';
import { refuseCrossings } from './folders/folderRevocations.ts';
import { type Folder, FolderReader, type NewFolder, readFolders } from './folders/folders.ts';
import type { OrganizationScope } from './organizationScope.ts';
import { folderChain, foldersAbove } from './rules/access.ts';
import { rootFolderId } from './rules/folders.ts';

/**
 * Throws, as `refuseCrossings`, for an addition of a document or folder that already exists on the other side of the
 * boundary of a folder that users are being removed from. Reads nothing if there is no such folder.
 */
export class FolderBoundaries {
  readonly #table: Table;
  readonly #folders: FolderReader;
  readonly #documents: DocumentReader;

  constructor(table: Table) {
    this.#table = table;
    this.#folders = new FolderReader(table);
    this.#documents = new DocumentReader(table);
  }

  /** `folderId` is undefined for the top level. Ignores a folder that does not exist yet. */
  async refuseDocuments(
    scope: OrganizationScope,
    documentIds: readonly string[],
    folderId: string | undefined,
    now: number,
  ): Promise<void> {
    if (!scope.hasFolderRevocations) return;
    const [documents, [folder]] = await Promise.all([
      this.#documents.getWithFolders(scope, documentIds),
      this.#folders.getByIds(scope, folderId === undefined ? [] : [folderId]),
    ]);
    if (folder || folderId === undefined) await refuseDocumentMoves(this.#table, scope, documents, folder, now);
  }

  /** Ignores folders whose parent does not exist yet. */
  async refuseFolders(scope: OrganizationScope, folders: readonly NewFolder[], now: number): Promise<void> {
    if (!scope.hasFolderRevocations) return;
    const parentIds = folders.map(({ parentFolderId = rootFolderId }) => parentFolderId);
    const folderIds = folders.map(({ folderId }) => folderId);
    const stored = await this.#folders.getByIds(scope, [...folderIds, ...parentIds]);
    const moves = folders.flatMap((_folder, index) => {
      const [folder, parent] = [stored[index], stored[folders.length + index]];
      if (!folder || (!parent && parentIds[index] !== rootFolderId)) return [];
      const { internalId } = folder;
      return [{ internalId, from: folderChain(folder).slice(1), to: parent ? folderChain(parent) : [] }];
    });
    await refuseCrossings(this.#table, scope, moves, now);
  }
}

export async function refuseDocumentMoves(
  table: Table,
  scope: OrganizationScope,
  documents: readonly (DocumentWithFolder | undefined)[],
  folder: Folder | undefined,
  now: number,
): Promise<void> {
  const to = foldersAbove({ folder });
  const moves = documents.flatMap((document) =>
    document ? [{ internalId: document.internalId, from: foldersAbove(document), to }] : [],
  );
  await refuseCrossings(table, scope, moves, now);
}

export const folderBoundaries = /* @__PURE__ */ storeCapability(FolderBoundaries, [readDocuments, readFolders]);
