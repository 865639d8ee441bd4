import { inSlices } from '../../shared/inSlices.ts';
import { parentOf, rootFolderId } from '../rules/folders.ts';
import { invalid } from '../../shared/errors.ts';
import type { Stored } from '../../table/entity.ts';
import { type Folder, FolderEntryEntity, FolderReader, type OrganizationScope } from './folders.ts';
import { storeCapability } from '../../table/storeCapability.ts';

/** A folder with those beneath it. */
export interface FolderTree {
  readonly folder: Stored<Folder>;
  readonly subFolders: readonly FolderTree[];
}

export interface TreeOptions {
  /** How many levels are read, 1 or more. */
  readonly maxDepth: number;
  /** How many folders of the first level. */
  readonly limit: number;
  readonly after?: string | undefined;
}

/** How many folders one answer holds, so that it stays in time and below 5 MB. */
export const MOST_FOLDERS = 1_000;
/** Folders whose entries are read at the same time. */
const PARALLEL = 16;

/** Reads folders with what is beneath them. */
export class FolderTreeReader extends FolderReader {
  /**
   * A page of the folders that lie directly in a folder, or at the top, by id; each with those beneath it, level by level. INVALID_ARGUMENT when
   * that is more than one answer holds.
   */
  async beneath(
    scope: OrganizationScope,
    folder: Folder | undefined,
    { maxDepth, limit, after }: TreeOptions,
  ): Promise<{ trees: readonly FolderTree[]; next: string | undefined }> {
    const first = await this.children(scope, folder?.internalId ?? rootFolderId, { limit, after });
    const byParent = new Map<string, Stored<Folder>[]>();
    let level = first.folders;
    let room = MOST_FOLDERS - level.length;
    for (let depth = 2; depth <= maxDepth && level.length > 0; depth++) {
      const entries = await inSlices(level, PARALLEL, async (some) => {
        const pages = await Promise.all(
          some.map(({ internalId }) => this.#entries(scope, internalId, { limit: room + 1 })),
        );
        room -= pages.reduce((sum, { values }) => sum + values.length, 0);
        if (room < 0) throw tooMany();
        return pages.flatMap(({ values }) => values);
      });
      const parents = new Set(level.map(({ internalId }) => internalId));
      level = (
        await this.named(
          scope,
          entries.map(({ id }) => id),
        )
      )
        .filter((one) => one !== undefined)
        .filter((one) => parents.has(parentOf(one)));
      for (const one of level) byParent.set(parentOf(one), [...(byParent.get(parentOf(one)) ?? []), one]);
    }
    const tree = (one: Stored<Folder>): FolderTree => ({
      folder: one,
      subFolders: (byParent.get(one.internalId) ?? []).map(tree),
    });
    return { trees: first.folders.map(tree), next: first.next };
  }

  /** A page of the folders that lie directly in a folder, or at the top (`root`), by id. Empty at the end only. */
  async children(
    scope: OrganizationScope,
    parent: string,
    { limit, after }: { limit: number; after?: string | undefined },
  ): Promise<{ folders: Stored<Folder>[]; next: string | undefined }> {
    const entries = await this.#entries(scope, parent, { limit, after });
    const found = await this.named(
      scope,
      entries.values.map(({ id }) => id),
    );
    const folders = found.filter((folder) => folder !== undefined).filter((folder) => parentOf(folder) === parent);
    return folders.length > 0 || entries.next === undefined
      ? { folders, next: entries.next }
      : this.children(scope, parent, { limit, after: entries.next });
  }

  async #entries(scope: OrganizationScope, parent: string, options: { limit: number; after?: string | undefined }) {
    return this.table.query(FolderEntryEntity, { ...scope, folderKey: parent }, { ...options, prefix: ['folder'] });
  }
}

function tooMany(): Error {
  return invalid({
    path: ['maxDepth'],
    code: 'too_big',
    message: `maxDepth leads to more than ${MOST_FOLDERS} folders in one answer; make it or pageSize smaller`,
  });
}

/** Read folders with what is beneath them. */
export const readFolderTrees = /* @__PURE__ */ storeCapability(FolderTreeReader, ['GetItem', 'BatchGetItem', 'Query']);
