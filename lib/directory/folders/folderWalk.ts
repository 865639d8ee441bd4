import * as z from 'zod';
import { FolderEntryEntity, type OrganizationScope } from './folders.ts';
import type { Table } from '../../table/table.ts';

/** A document or folder that lies directly in a folder, by the customer's id. */
export interface FolderEntry {
  readonly kind: 'folder' | 'document';
  readonly id: string;
  readonly internalId: string;
}

/** A folder that a walk is in: what is done of it, and those between it and where the walk began. */
const Level = z.object({
  internalId: z.string(),
  /** The customer's id. */
  id: z.string(),
  /** The sort key of the last entry that is done, or that the walk is beneath. */
  after: z.string().optional(),
});
type Level = z.output<typeof Level>;

/** Where a walk is: the folders from the one that it began in down to the one that it is in. As JSON it is part of a job's progress. */
export const WalkStack = z.array(Level);
export type WalkStack = z.output<typeof WalkStack>;

export interface FolderVisitor {
  /** Which entries are wanted; all when left out. Subfolders are reached by theirs. */
  readonly kind?: 'folder';
  /** Does what is to be done with some entries of a folder, and gives the ids of the subfolders to go into; `stop` when it could not do all of it for now. */
  visit(folder: WalkedFolder, entries: readonly FolderEntry[]): Promise<ReadonlySet<string> | 'stop'>;
  /** Called when everything beneath a folder is done. */
  left?(folder: WalkedFolder, parent: WalkedFolder | undefined): Promise<void>;
}

/** A folder by its ids. */
export interface WalkedFolder {
  readonly internalId: string;
  /** The customer's id. */
  readonly id: string;
}

/** How far a walk goes: so many entries at a time, so many times. */
export interface WalkBudget {
  readonly page: number;
  readonly pages: number;
  /** Whether there is time for another page. */
  goesOn(): boolean;
}

interface OpenLevel extends Level {
  /** Entries that were visited and are to be gone into; not part of the position, so that they are visited again by who goes on from it. */
  readonly into: FolderEntry[];
  /** Up to where entries were read; `end` when there are no more. */
  read: string | undefined;
}

/** Where a walk of what is beneath a folder begins. */
export function walkFrom({ internalId, id }: WalkedFolder): WalkStack {
  return [{ internalId, id }];
}

/**
 * Goes through everything beneath a folder, by the entries as they are: depth first, the documents and folders of a folder before what is
 * beneath these. Gives where it is when the budget is used up or the visitor stopped it, to go on from there; undefined at the end. What is
 * visited shortly before a stop can be visited once more; what is added behind the walk is not seen.
 */
export async function walkFolders(
  table: Table,
  scope: OrganizationScope,
  from: WalkStack,
  visitor: FolderVisitor,
  budget: WalkBudget,
): Promise<WalkStack | undefined> {
  const levels: OpenLevel[] = from.map((level) => ({ ...level, into: [], read: level.after }));
  let pages = 0;
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    const subfolder = level.into.shift();
    if (subfolder) {
      level.after = entryKey(scope, level, subfolder);
      levels.push({ internalId: subfolder.internalId, id: subfolder.id, into: [], read: undefined });
      continue;
    }
    if (level.read === 'end') {
      await visitor.left?.(level, levels.at(-2));
      levels.pop();
      continue;
    }
    if (pages++ === budget.pages || !budget.goesOn()) break;
    const { values, next } = await table.query(
      FolderEntryEntity,
      { ...scope, folderKey: level.internalId },
      { limit: budget.page, after: level.read, ...(visitor.kind && { prefix: [visitor.kind] }) },
    );
    const into = await visitor.visit(level, values);
    if (into === 'stop') break;
    // In the order of the entries: where the walk is says that those before are done.
    level.into.push(...values.filter(({ id, kind }) => kind === 'folder' && into.has(id)));
    level.read = next ?? 'end';
    const last = values.at(-1);
    if (last && into.size === 0) level.after = entryKey(scope, level, last);
  }
  return levels.length === 0
    ? undefined
    : levels.map(({ internalId, id, after }) => ({ internalId, id, ...(after !== undefined && { after }) }));
}

function entryKey(scope: OrganizationScope, folder: WalkedFolder, { kind, id }: FolderEntry): string {
  return FolderEntryEntity.key({ ...scope, folderKey: folder.internalId, kind, id }).SK;
}
