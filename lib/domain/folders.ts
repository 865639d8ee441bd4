import { type AccessType, defaultAccessType } from './access.ts';

/** How deep folders may lie: a folder at the top is at depth 1. */
export const deepestFolder = 20;

/** The name under which the top of an organization's tree is listed; a parent of nobody, and no folder itself. */
export const rootFolderId = 'root';

export interface FolderName {
  readonly folderId: string;
  readonly internalId: string;
}

export interface FolderPosition {
  /** The folders that it lies in, from the top down. */
  readonly ancestors: readonly FolderName[];
  /** The effective access type: its own, else its parent's. */
  readonly accessType: AccessType;
  readonly inheritAccessFromParent: boolean;
}

export interface ParentFolder extends FolderName {
  readonly ancestors: readonly FolderName[];
  readonly accessType: AccessType;
}

/** Where a new folder lies and what it is open to; undefined when it would lie too deep. */
export function placeFolder(parent: ParentFolder | undefined, accessType: AccessType | undefined): FolderPosition | undefined {
  const ancestors = parent ? [...parent.ancestors, { folderId: parent.folderId, internalId: parent.internalId }] : [];
  if (ancestors.length >= deepestFolder) return undefined;
  return {
    ancestors,
    accessType: accessType ?? parent?.accessType ?? defaultAccessType,
    inheritAccessFromParent: accessType === undefined && parent !== undefined,
  };
}

interface Requested {
  readonly folderId: string;
  readonly parentFolderId?: string | undefined;
}

/**
 * The folders of one call in waves, parents before their children, so that a tree can be added in any order. Those whose
 * parents form a circle are left over.
 */
export function inWaves<F extends Requested>(folders: readonly F[]): { waves: F[][]; circular: F[] } {
  const waves: F[][] = [];
  let rest = [...folders];
  while (rest.length > 0) {
    const waiting = new Set(rest.map(({ folderId }) => folderId));
    const ready = rest.filter(({ parentFolderId }) => parentFolderId === undefined || !waiting.has(parentFolderId));
    if (ready.length === 0) return { waves, circular: rest };
    waves.push(ready);
    const placed = new Set(ready);
    rest = rest.filter((folder) => !placed.has(folder));
  }
  return { waves, circular: [] };
}
