import * as z from 'zod';
import { FolderEntryEntity, type OrganizationScope } from './folders.ts';
import type { Table } from '../../table/table.ts';

/** A document or folder directly in a folder. `id` is the id that the customer chose. */
export interface FolderEntry {
  readonly kind: 'folder' | 'document';
  readonly id: string;
  readonly internalId: string;
}

/** A folder on the path of a walk, and the position in its entries. */
const Level = z.object({
  internalId: z.string(),
  /** The folder id that the customer chose. */
  id: z.string(),
  /** The sort key of the last entry that is done, or of the subfolder that contains the current folder of the walk. */
  after: z.string().optional(),
});
type Level = z.output<typeof Level>;

/**
 * The position of a walk: the folders on the path from its first folder down to its current folder. A job stores the position in
 * its progress, as JSON.
 */
export const WalkStack = z.array(Level);
export type WalkStack = z.output<typeof WalkStack>;

export interface FolderVisitor {
  /** `folder` if only entries of subfolders are visited. Undefined if all entries are visited. */
  readonly kind?: 'folder';
  /**
   * Processes a page of entries of a folder. Returns the ids of the subfolders to walk through. Returns `stop` if the page
   * is not complete. A later walk then visits the page again.
   */
  visit(folder: WalkedFolder, entries: readonly FolderEntry[]): Promise<ReadonlySet<string> | 'stop'>;
  /** Runs after all entries of a folder and of the folders below it were visited. */
  afterFolder?(folder: WalkedFolder, parent: WalkedFolder | undefined): Promise<void>;
}

/** The two ids of a folder. */
export interface WalkedFolder {
  readonly internalId: string;
  /** The folder id that the customer chose. */
  readonly id: string;
}

/** The limits of a walk: the number of entries on a page (`page`), the number of pages, and the time. */
export interface WalkBudget {
  readonly page: number;
  readonly pages: number;
  /** Returns whether there is time for another page. */
  hasTime(): boolean;
}

interface OpenLevel extends Level {
  /**
   * The visited subfolders that the walk has not entered yet. The stored position does not contain them, so the next walk visits
   * them again.
   */
  readonly waitingSubfolders: FolderEntry[];
  /** The sort key of the last entry that was read. `end` after the last page. */
  read: string | undefined;
}

/** Returns the start position of a walk through a folder. */
export function walkFrom({ internalId, id }: WalkedFolder): WalkStack {
  return [{ internalId, id }];
}

/**
 * Visits all entries of a folder and of the folders below it, depth first. A page of entries is visited before the subfolders of
 * that page. Returns the position from which the next walk continues if the budget is used up or the visitor stops the walk.
 * Returns undefined at the end. The next walk can repeat entries that were visited shortly before the stop. Entries that are
 * added before the position of the walk are not visited.
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
    // Subfolders are entered in the order of their entries, because the position means that all entries before it are done.
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
