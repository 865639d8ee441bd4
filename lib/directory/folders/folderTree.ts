import { inSlices } from '../../shared/inSlices.ts';
import { parentOf, rootFolderId } from '../rules/folders.ts';
import { invalid } from '../../shared/errors.ts';
import type { Stored } from '../../table/entity.ts';
import { type Folder, FolderEntryEntity, FolderReader, type OrganizationScope } from './folders.ts';
import type { PageOptions, Table } from '../../table/table.ts';
import { storeCapability } from '../../table/storeCapability.ts';

/** A folder with the folders below it. */
export interface FolderTree {
  readonly folder: Stored<Folder>;
  readonly subFolders: readonly FolderTree[];
}

export interface TreeOptions {
  /** How many levels to read, 1 or more. */
  readonly maxDepth: number;
  /** The most folders of the first level. */
  readonly limit: number;
  readonly after?: string | undefined;
}

/** The most folders in one response, so that it is fast and below 5 MB. */
export const MAX_FOLDERS = 1_000;
/** Folders whose entries are read at the same time. */
const PARALLEL = 16;

/** Reads folders with the folders below them. */
export class FolderTreeReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Returns the folder under the customer's id. Throws NOT_FOUND if it does not exist. */
  async require(scope: OrganizationScope, folderId: string): Promise<Stored<Folder>> {
    return new FolderReader(this.#table).require(scope, folderId);
  }

  /**
   * Returns a page of the folders that are directly in a folder, or at the top, by id, each with the folders below
   * it. Throws INVALID_ARGUMENT if there are too many folders for one response.
   */
  async readBelow(
    scope: OrganizationScope,
    folder: Folder | undefined,
    { maxDepth, limit, after }: TreeOptions,
  ): Promise<{ trees: readonly FolderTree[]; next: string | undefined }> {
    const first = await this.#children(scope, folder?.internalId ?? rootFolderId, { limit, after });
    const byParent = new Map<string, Stored<Folder>[]>();
    let level = first.folders;
    let room = MAX_FOLDERS - level.length;
    for (let depth = 2; depth <= maxDepth && level.length > 0; depth++) {
      const folderIds = await inSlices(level, PARALLEL, async (some) => {
        const pages = await Promise.all(
          some.map(({ internalId }) => this.#readEntries(scope, internalId, { limit: room + 1 })),
        );
        const ids = pages.flatMap(({ values }) => values.map(({ id }) => id));
        room -= ids.length;
        if (room < 0) throw tooManyFolders();
        return ids;
      });
      const parents = new Set(level.map(({ internalId }) => internalId));
      level = await this.#foldersIn(scope, folderIds, (parent) => parents.has(parent));
      for (const one of level) byParent.set(parentOf(one), [...(byParent.get(parentOf(one)) ?? []), one]);
    }
    const tree = (one: Stored<Folder>): FolderTree => ({
      folder: one,
      subFolders: (byParent.get(one.internalId) ?? []).map(tree),
    });
    return { trees: first.folders.map(tree), next: first.next };
  }

  /** Returns a page of the folders that are directly in a folder, by id. Only the last page can be empty. */
  async #children(
    scope: OrganizationScope,
    parentKey: string,
    { limit, after }: PageOptions,
  ): Promise<{ folders: Stored<Folder>[]; next: string | undefined }> {
    const { values, next } = await this.#readEntries(scope, parentKey, { limit, after });
    const folderIds = values.map(({ id }) => id);
    const folders = await this.#foldersIn(scope, folderIds, (parent) => parent === parentKey);
    if (folders.length > 0 || next === undefined) return { folders, next };
    return this.#children(scope, parentKey, { limit, after: next });
  }

  /** Returns the existing folders whose parent is as expected: an entry can be older than a move of its folder. */
  async #foldersIn(
    scope: OrganizationScope,
    folderIds: readonly string[],
    isParent: (parentKey: string) => boolean,
  ): Promise<Stored<Folder>[]> {
    const folders = await new FolderReader(this.#table).getByIds(scope, folderIds);
    return folders.filter((folder) => folder !== undefined).filter((folder) => isParent(parentOf(folder)));
  }

  async #readEntries(scope: OrganizationScope, folderKey: string, options: PageOptions) {
    return this.#table.query(FolderEntryEntity, { ...scope, folderKey }, { ...options, prefix: ['folder'] });
  }
}

function tooManyFolders(): Error {
  return invalid({
    path: ['maxDepth'],
    code: 'too_big',
    message: `maxDepth leads to more than ${MAX_FOLDERS} folders in one answer. Use a smaller maxDepth or pageSize`,
  });
}

export const readFolderTrees = /* @__PURE__ */ storeCapability(FolderTreeReader, ['GetItem', 'BatchGetItem', 'Query']);
