import { type AccessType, defaultAccessType } from './access.ts';

/** The deepest level of a folder. A folder at the top is at depth 1. */
export const deepestFolder = 20;

/** The id of the top of an organization's tree. It is not a folder. */
export const rootFolderId = 'root';

export interface FolderName {
  readonly folderId: string;
  readonly internalId: string;
}

export interface FolderPosition {
  /** The folders above, from the top down. */
  readonly ancestors: readonly FolderName[];
  /** The effective access type: its own, else its parent's. */
  readonly accessType: AccessType;
  /**
   * The internal id of the folder that defines the access type: the folder itself or one above; `root` if none does.
   */
  readonly accessFrom: string;
  readonly inheritAccessFromParent: boolean;
}

/** A folder with its position in the tree. */
export interface FolderWithPosition extends FolderName, FolderPosition {}

/** A folder's own access type; undefined if it inherits its parent's. */
export interface OwnAccess {
  readonly internalId: string;
  readonly accessType: AccessType | undefined;
}

/** Returns the position and effective access type of a folder directly in `parent`, or at the top. */
export function computePosition(
  parent: FolderWithPosition | undefined,
  { internalId, accessType }: OwnAccess,
): FolderPosition {
  const inherited = parent ?? { accessType: defaultAccessType, accessFrom: rootFolderId };
  return {
    ancestors: parent ? [...parent.ancestors, { folderId: parent.folderId, internalId: parent.internalId }] : [],
    accessType: accessType ?? inherited.accessType,
    accessFrom: accessType === undefined ? inherited.accessFrom : internalId,
    inheritAccessFromParent: accessType === undefined,
  };
}

/** Returns the own access type of a stored folder. */
export function ownAccess({
  internalId,
  accessType,
  inheritAccessFromParent,
}: Pick<FolderWithPosition, 'internalId' | 'accessType' | 'inheritAccessFromParent'>): OwnAccess {
  return { internalId, accessType: inheritAccessFromParent ? undefined : accessType };
}

/** Returns the internal id of a folder's parent. It is right even while a change of the folders above is under way. */
export function parentOf({ ancestors }: Pick<FolderPosition, 'ancestors'>): string {
  return ancestors.at(-1)?.internalId ?? rootFolderId;
}

export function depthOf({ ancestors }: Pick<FolderPosition, 'ancestors'>): number {
  return ancestors.length + 1;
}

/** Returns whether a folder is the folder `internalId` or below it. */
export function isWithin(folder: Pick<FolderWithPosition, 'internalId' | 'ancestors'>, internalId: string): boolean {
  return folder.internalId === internalId || folder.ancestors.some((ancestor) => ancestor.internalId === internalId);
}

export function isSamePosition(a: FolderPosition, b: FolderPosition): boolean {
  return (
    a.accessType === b.accessType &&
    a.accessFrom === b.accessFrom &&
    a.inheritAccessFromParent === b.inheritAccessFromParent &&
    a.ancestors.length === b.ancestors.length &&
    a.ancestors.every(
      ({ folderId, internalId }, index) =>
        folderId === b.ancestors[index]?.folderId && internalId === b.ancestors[index].internalId,
    )
  );
}

/** A changed or deleted folder. The folders below it are not all rewritten or purged yet. */
export interface FolderChange {
  /** The customer's id. */
  readonly folderId: string;
  /** `changed`: moved, or with a new access type. */
  readonly kind: 'changed' | 'removed';
}

/** The changes under way, by the internal ids of the folders. */
export interface FolderChanges {
  readonly changes: ReadonlyMap<string, FolderChange>;
  /** The changed folders that were read; undefined for a folder that does not exist. */
  readonly read: ReadonlyMap<string, FolderWithPosition | undefined>;
}

/**
 * The current folder, or `deleted`. `needs` is the changed folder to read first. `inconsistent`: the reads are of
 * different times and must be repeated.
 */
export type Resolution<F> = { readonly folder: F } | 'deleted' | { readonly needs: FolderName } | 'inconsistent';

/**
 * Returns the current state of a stored folder while folders above it change. The stored parent and own access type
 * are always right. The stored ancestors are right up to the deepest changed ancestor. Above it, the ancestors of the
 * changed folder are right. Returns `deleted` if the folder or a folder above it was deleted. `path` has the ids of the
 * folders whose resolution led to this folder, and detects circles.
 */
export function resolveFolder<F extends FolderWithPosition>(
  folder: F,
  { changes, read }: FolderChanges,
  path: readonly string[] = [],
): Resolution<F> {
  if (path.includes(folder.internalId)) return 'inconsistent';
  if (changes.get(folder.internalId)?.kind === 'removed') return 'deleted';
  const at = folder.ancestors.findLastIndex(({ internalId }) => changes.has(internalId));
  const deepest = folder.ancestors[at];
  if (!deepest) return { folder };
  if (changes.get(deepest.internalId)?.kind === 'removed') return 'deleted';
  if (!read.has(deepest.internalId)) return { needs: deepest };
  const changed = read.get(deepest.internalId);
  if (!changed) return 'deleted';
  const above = resolveFolder(changed, { changes, read }, [...path, folder.internalId]);
  if (typeof above === 'string' || 'needs' in above) return above;
  const below = folder.ancestors.slice(at + 1);
  const isOwnBelow =
    !folder.inheritAccessFromParent || below.some(({ internalId }) => internalId === folder.accessFrom);
  const { accessType, accessFrom } = isOwnBelow ? folder : above.folder;
  return { folder: { ...folder, ancestors: [...above.folder.ancestors, deepest, ...below], accessType, accessFrom } };
}

interface RequestedFolder {
  readonly folderId: string;
  readonly parentFolderId?: string | undefined;
}

/**
 * Splits the folders of one call into waves, parents before children, so that a tree can be added in any order.
 * `circular` has the folders whose parents form a circle.
 */
export function splitIntoWaves<F extends RequestedFolder>(folders: readonly F[]): { waves: F[][]; circular: F[] } {
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
