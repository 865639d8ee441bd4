import { invalid } from '../../shared/errors.ts';
import { inSlices } from '../../shared/inSlices.ts';
import type { Stored } from '../../table/entity.ts';
import type { ItemPage } from '../../table/pages.ts';
import { storeCapability } from '../../table/storeCapability.ts';
import type { PageOptions, Table } from '../../table/table.ts';
import type { OrganizationScope } from '../organizationScope.ts';
import { parentOf, rootFolderId } from '../rules/folders.ts';
import { type SearchOptions, searchPage } from '../searchPage.ts';
import { type Folder, FolderEntryEntity, FolderReader, readFolders } from './folders.ts';

export interface FolderTree {
  readonly folder: Stored<Folder>;
  readonly subFolders: readonly FolderTree[];
}

export interface TreeOptions {
  readonly maxDepth: number;
  readonly limit: number;
  readonly after?: string | undefined;
  /** Other folders are left out with everything in them. Undefined: the caller may see all. */
  readonly isVisible?: ((folder: Folder) => boolean) | undefined;
}

const MAX_FOLDERS = 1_000;
const PARALLEL = 16;

export class FolderTreeReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async require(scope: OrganizationScope, folderId: string): Promise<Stored<Folder>> {
    return new FolderReader(this.#table).require(scope, folderId);
  }

  /**
   * Folders directly in `folder`, or at the root, with those below them down to `maxDepth`, ordered by id. Throws
   * INVALID_ARGUMENT if there are too many.
   */
  async readBelow(
    scope: OrganizationScope,
    folder: Folder | undefined,
    { maxDepth, limit, after, isVisible }: TreeOptions,
  ): Promise<ItemPage<FolderTree>> {
    const parentKey = folder?.internalId ?? rootFolderId;
    const first = await this.#children(scope, parentKey, { limit, after, isMatch: isVisible });
    const byParent = new Map<string, Stored<Folder>[]>();
    let level = first.values;
    let room = MAX_FOLDERS - level.length;
    for (let depth = 2; depth <= maxDepth && level.length > 0; depth++) {
      const folderIds = await inSlices(level, PARALLEL, async (parents) => {
        const pages = await Promise.all(
          parents.map(({ internalId }) => this.#readEntries(scope, internalId, { limit: room + 1 })),
        );
        const ids = pages.flatMap(({ values }) => values.map(({ id }) => id));
        room -= ids.length;
        if (room < 0) throw tooManyFolders();
        return ids;
      });
      const parentKeys = new Set(level.map(({ internalId }) => internalId));
      level = await this.#foldersIn(scope, folderIds, (key) => parentKeys.has(key));
      if (isVisible) level = level.filter(isVisible);
      for (const [folderKey, children] of Map.groupBy(level, parentOf)) byParent.set(folderKey, children);
    }
    const toTree = (root: Stored<Folder>): FolderTree => ({
      folder: root,
      subFolders: (byParent.get(root.internalId) ?? []).map(toTree),
    });
    return { values: first.values.map(toTree), next: first.next };
  }

  /**
   * Ordered by id, ends early at about 4 MB. With `isMatch`, a page reads at most 2,000 entries and can be short or
   * empty. Otherwise no folders follow an empty page.
   */
  async #children(
    scope: OrganizationScope,
    parentKey: string,
    options: SearchOptions<Stored<Folder>>,
  ): Promise<ItemPage<Stored<Folder>>> {
    const { values, next } = await searchPage(async (after, count) => {
      const entries = await this.#readEntries(scope, parentKey, { limit: count, after });
      const folderIds = entries.values.map(({ id }) => id);
      const folders = await this.#foldersIn(scope, folderIds, (parent) => parent === parentKey);
      const keyOf = (id: string) => FolderEntryEntity.key({ ...scope, folderKey: parentKey, kind: 'folder', id }).SK;
      return { records: folders.map((value) => ({ key: keyOf(value.folderId), value })), next: entries.next };
    }, options);
    if (options.isMatch || values.length > 0 || next === undefined) return { values, next };
    return this.#children(scope, parentKey, { ...options, after: next });
  }

  /** Leaves out the ids of stale entries, whose folders were deleted or moved. */
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

export const readFolderTrees = /* @__PURE__ */ storeCapability(FolderTreeReader, [readFolders, 'Query']);
