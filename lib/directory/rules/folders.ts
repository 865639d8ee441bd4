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
  /** Whose own access type that is: the internal id of the folder itself or of one that it lies in, or `root` when none of them has one. */
  readonly accessFrom: string;
  readonly inheritAccessFromParent: boolean;
}

/** A folder with its place in the tree. */
export interface PlacedFolder extends FolderName, FolderPosition {}

/** What a folder says of its own access: a type, or that it inherits its parent's. */
export interface OwnAccess {
  readonly internalId: string;
  readonly accessType: AccessType | undefined;
}

/** Where a folder directly in `parent`, or at the top, lies and what it is open to. */
export function placeFolder(parent: PlacedFolder | undefined, { internalId, accessType }: OwnAccess): FolderPosition {
  const inherited = parent ?? { accessType: defaultAccessType, accessFrom: rootFolderId };
  return {
    ancestors: parent ? [...parent.ancestors, { folderId: parent.folderId, internalId: parent.internalId }] : [],
    accessType: accessType ?? inherited.accessType,
    accessFrom: accessType === undefined ? inherited.accessFrom : internalId,
    inheritAccessFromParent: accessType === undefined,
  };
}

/** What a stored folder says of its own access. */
export function ownAccess({
  internalId,
  accessType,
  inheritAccessFromParent,
}: Pick<PlacedFolder, 'internalId' | 'accessType' | 'inheritAccessFromParent'>): OwnAccess {
  return { internalId, accessType: inheritAccessFromParent ? undefined : accessType };
}

/** The internal id of the folder that a folder lies directly in, which is right also while those further up are not. */
export function parentOf({ ancestors }: Pick<FolderPosition, 'ancestors'>): string {
  return ancestors.at(-1)?.internalId ?? rootFolderId;
}

/** The depth of a folder; one at the top is at 1. */
export function depthOf({ ancestors }: Pick<FolderPosition, 'ancestors'>): number {
  return ancestors.length + 1;
}

/** Whether a folder is another one or lies beneath it. */
export function liesWithin(folder: Pick<PlacedFolder, 'internalId' | 'ancestors'>, internalId: string): boolean {
  return folder.internalId === internalId || folder.ancestors.some((ancestor) => ancestor.internalId === internalId);
}

/** Whether two positions are the same. */
export function samePosition(a: FolderPosition, b: FolderPosition): boolean {
  return (
    a.accessType === b.accessType &&
    a.accessFrom === b.accessFrom &&
    a.inheritAccessFromParent === b.inheritAccessFromParent &&
    a.ancestors.length === b.ancestors.length &&
    a.ancestors.every(
      ({ folderId, internalId }, index) =>
        folderId === b.ancestors[index]?.folderId && internalId === b.ancestors[index]?.internalId,
    )
  );
}

/** A folder whose change has not reached everything beneath it. */
export interface FolderChange {
  /** The customer's id. */
  readonly folderId: string;
  /** `changed`: moved, or open to others. */
  readonly kind: 'changed' | 'removed';
}

/** What is known of the changes under way, by the internal ids of the folders. */
export interface FolderChanges {
  readonly changes: ReadonlyMap<string, FolderChange>;
  /** Those of the changed folders that were read; undefined where there is none any more. */
  readonly read: ReadonlyMap<string, PlacedFolder | undefined>;
}

/** A folder as it is, that it is gone, which changed folder must be read to tell, or that what was read is of different times and must be read anew. */
export type Resolution<F> = { readonly folder: F } | 'gone' | { readonly needs: FolderName } | 'torn';

/**
 * What a stored folder is while changes of folders above it are under way. A folder's direct parent and its own access type are always right;
 * what it stores of those further up is right below the deepest folder that was changed, and above that it is what is true of that one. It is
 * gone with a folder that was removed, itself or above it.
 */
export function resolveFolder<F extends PlacedFolder>(
  folder: F,
  known: FolderChanges,
  beneath: readonly string[] = [],
): Resolution<F> {
  if (beneath.includes(folder.internalId)) return 'torn';
  if (known.changes.get(folder.internalId)?.kind === 'removed') return 'gone';
  const at = folder.ancestors.findLastIndex(({ internalId }) => known.changes.has(internalId));
  const deepest = folder.ancestors[at];
  if (!deepest) return { folder };
  if (known.changes.get(deepest.internalId)?.kind === 'removed') return 'gone';
  if (!known.read.has(deepest.internalId)) return { needs: deepest };
  const changed = known.read.get(deepest.internalId);
  if (!changed) return 'gone';
  const above = resolveFolder(changed, known, [...beneath, folder.internalId]);
  if (typeof above === 'string' || 'needs' in above) return above;
  const below = folder.ancestors.slice(at + 1);
  const isOwnBelow =
    !folder.inheritAccessFromParent || below.some(({ internalId }) => internalId === folder.accessFrom);
  const { accessType, accessFrom } = isOwnBelow ? folder : above.folder;
  return { folder: { ...folder, ancestors: [...above.folder.ancestors, deepest, ...below], accessType, accessFrom } };
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
