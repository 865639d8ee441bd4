import * as z from 'zod';
import type { Table } from '../../table/table.ts';
import { type OrganizationScope } from '../organizationScope.ts';
import { FolderEntryEntity } from './folders.ts';

/** A document or folder directly in a folder. `id` is the id that the customer chose. */
export interface FolderEntry {
  readonly kind: 'folder' | 'document';
  readonly id: string;
  readonly internalId: string;
}

/** A folder on the path of a walk, and the position up to which its entries are done. */
const Level = z.object({
  internalId: z.string(),
  /** The folder id that the customer chose. */
  id: z.string(),
  /**
   * The sort key of the last entry that is done. If the walk is inside a subfolder of this folder, this is the sort key of that
   * subfolder's entry.
   */
  after: z.string().optional(),
});
type Level = z.output<typeof Level>;

/**
 * The position of a walk: all folders on the path from the walk's first folder down to the current folder. A job stores this list
 * in its progress, as JSON.
 */
export const WalkStack = z.array(Level);
export type WalkStack = z.output<typeof WalkStack>;

export interface FolderVisitor {
  /** `folder` if the walk visits folders only. Undefined if it also visits documents. */
  readonly kind?: 'folder';
  /**
   * Processes a page of a folder's entries. Returns the ids of the subfolders that the walk enters. Returns `stop` if it has not
   * processed the whole page. A later walk then visits the page again.
   */
  visit(folder: WalkedFolder, entries: readonly FolderEntry[]): Promise<ReadonlySet<string> | 'stop'>;
  /** Runs after all entries of a folder and of the folders below it were visited. */
  afterFolder?(folder: WalkedFolder, parent: WalkedFolder | undefined): Promise<void>;
}

export interface WalkedFolder {
  readonly internalId: string;
  /** The folder id that the customer chose. */
  readonly id: string;
}

/** The limits of a walk: the number of entries on a page, the number of pages, and the time. */
export interface WalkBudget {
  readonly page: number;
  readonly pages: number;
  /** Returns whether there is time for another page. */
  hasTime(): boolean;
}

interface OpenLevel extends Level {
  /**
   * The visited subfolders that the walk has not entered yet. The stored position does not contain them. The next walk therefore
   * visits their entries again.
   */
  readonly waitingSubfolders: FolderEntry[];
  /** The sort key of the last entry that was read, or `end` after the last page. Undefined before the first page. */
  read: string | undefined;
}

/** Returns the position at which a walk through a folder starts. */
export function walkFrom({ internalId, id }: WalkedFolder): WalkStack {
  return [{ internalId, id }];
}

/**
 * Visits all entries of a folder and of the folders below it, depth first. A page of entries is visited before the subfolders on
 * that page. Returns undefined when all entries are visited. If the budget ends or the visitor stops the walk, returns the
 * position for the next walk. The next walk can visit the last entries again.
 *
 * Entries that are added before the current position are not visited.
 */
export async function walkFolders(
  table: Table,
  scope: OrganizationScope,
  from: WalkStack,
  visitor: FolderVisitor,
  budget: WalkBudget,
): Promise<WalkStack | undefined> {
  const levels: OpenLevel[] = from.map((level) => ({ ...level, waitingSubfolders: [], read: level.after }));
  let pages = 0;
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    const subfolder = level.waitingSubfolders.shift();
    if (subfolder) {
      level.after = entryKey(scope, level, subfolder);
      levels.push({ internalId: subfolder.internalId, id: subfolder.id, waitingSubfolders: [], read: undefined });
      continue;
    }
    if (level.read === 'end') {
      await visitor.afterFolder?.(level, levels.at(-2));
      levels.pop();
      continue;
    }
    if (pages++ === budget.pages || !budget.hasTime()) break;
    const { values, next } = await table.query(
      FolderEntryEntity,
      { ...scope, folderKey: level.internalId },
      { limit: budget.page, after: level.read, ...(visitor.kind && { prefix: [visitor.kind] }) },
    );
    const subfolders = await visitor.visit(level, values);
    if (subfolders === 'stop') break;
    // Subfolders are entered in the order of their entries, because the stored position states that all entries before it are
    // done.
    level.waitingSubfolders.push(...values.filter(({ id, kind }) => kind === 'folder' && subfolders.has(id)));
    level.read = next ?? 'end';
    const last = values.at(-1);
    if (last && subfolders.size === 0) level.after = entryKey(scope, level, last);
  }
  return levels.length === 0
    ? undefined
    : levels.map(({ internalId, id, after }) => ({ internalId, id, ...(after !== undefined && { after }) }));
}

function entryKey(scope: OrganizationScope, folder: WalkedFolder, { kind, id }: FolderEntry): string {
  return FolderEntryEntity.key({ ...scope, folderKey: folder.internalId, kind, id }).SK;
}
