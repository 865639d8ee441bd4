import * as z from 'zod';
import type { Table } from '../../table/table.ts';
import type { OrganizationScope } from '../organizationScope.ts';
import { FolderEntryEntity } from './folders.ts';

export interface FolderEntry {
  readonly kind: 'folder' | 'document';
  readonly id: string;
  readonly internalId: string;
}

const Level = z.object({
  internalId: z.string(),
  id: z.string(),
  /** The last entry that is done. Inside a subfolder, the entry of that subfolder. */
  after: z.string().optional(),
});
type Level = z.output<typeof Level>;

/** From the walk's first folder down to the current one. */
export const WalkStack = z.array(Level);
export type WalkStack = z.output<typeof WalkStack>;

export interface FolderVisitor {
  readonly kind?: 'folder';
  /** Returns the ids of the subfolders to enter, or `stop` if a later walk must visit the page again. */
  visit(folder: WalkedFolder, entries: readonly FolderEntry[]): Promise<ReadonlySet<string> | 'stop'>;
  afterFolder?(folder: WalkedFolder, parent: WalkedFolder | undefined): Promise<void>;
}

export interface WalkedFolder {
  readonly internalId: string;
  readonly id: string;
}

export interface WalkBudget {
  readonly page: number;
  readonly pages: number;
  hasTime(): boolean;
}

interface OpenLevel extends Level {
  readonly waitingSubfolders: FolderEntry[];
  /** The last entry that was read, or `end` after the last page. */
  read: string | undefined;
}

export function walkFrom({ internalId, id }: WalkedFolder): WalkStack {
  return [{ internalId, id }];
}

/**
 * Depth first, and a page of entries before its subfolders. Returns undefined at the end, otherwise the position for
 * the next walk, which can visit the last entries again. Does not visit entries that are added before the position.
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
    // In the order of their entries, because all entries before the stored position must be done.
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
