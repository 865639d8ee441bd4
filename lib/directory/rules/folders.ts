import { type AccessType, defaultAccessType } from '../../app/rules/access.ts';

/** The largest depth of a folder. A folder at the root has depth 1. */
export const deepestFolder = 20;

/** The id of the root of an organization's folder tree. The root itself is not a folder. */
export const rootFolderId = 'root';

/** Returns whether a new folder can have this id in this parent. The id of the root is reserved, and no folder contains itself. */
export function canBeFolder(folderId: string, parentFolderId: string | undefined): boolean {
  return folderId !== rootFolderId && folderId !== parentFolderId;
}

export interface FolderName {
  readonly folderId: string;
  readonly internalId: string;
  /** When the folder was last moved, in epoch ms. Undefined if it was never moved. */
  readonly movedAt?: number | undefined;
}

export interface FolderPosition {
  /** The folders above the folder. The first is at the root. */
  readonly ancestors: FolderName[];
  /** The effective access type: the folder's own access type, or the parent's effective one if the folder has none. */
  readonly accessType: AccessType;
  /**
   * The internal id of the folder that the effective access type comes from: this folder or one above it. `root` if none of them
   * has an own access type.
   */
  readonly accessFrom: string;
  readonly inheritAccessFromParent: boolean;
}

export interface FolderWithPosition extends FolderName, FolderPosition {}

/** A folder's own access type. Undefined if the folder inherits the access type of its parent. */
export interface OwnAccess {
  readonly internalId: string;
  readonly accessType: AccessType | undefined;
}

/**
 * Returns the position and effective access type of a folder directly in `parent`. If `parent` is undefined, the folder is at the
 * root.
 */
export function computePosition(
  parent: FolderWithPosition | undefined,
  { internalId, accessType }: OwnAccess,
): FolderPosition {
  const inherited = parent ?? { accessType: defaultAccessType, accessFrom: rootFolderId };
  return {
    ancestors: parent ? [...parent.ancestors, nameOf(parent)] : [],
    accessType: accessType ?? inherited.accessType,
    accessFrom: accessType === undefined ? inherited.accessFrom : internalId,
    inheritAccessFromParent: accessType === undefined,
  };
}

/** Returns the entry for a folder in the `ancestors` of the folders below it. */
function nameOf({ folderId, internalId, movedAt }: FolderName): FolderName {
  return { folderId, internalId, ...(movedAt !== undefined && { movedAt }) };
}

/** Returns the own access type of a stored folder. */
export function ownAccess({
  internalId,
  accessType,
  inheritAccessFromParent,
}: Pick<FolderWithPosition, 'internalId' | 'accessType' | 'inheritAccessFromParent'>): OwnAccess {
  return { internalId, accessType: inheritAccessFromParent ? undefined : accessType };
}

/**
 * Returns the internal id of a folder's parent, or `root`. The stored parent is right even while a job applies changes of the
 * folders above.
 */
export function parentOf({ ancestors }: Pick<FolderPosition, 'ancestors'>): string {
  return ancestors.at(-1)?.internalId ?? rootFolderId;
}

export function depthOf({ ancestors }: Pick<FolderPosition, 'ancestors'>): number {
  return ancestors.length + 1;
}

/** Returns whether a folder has the id `internalId` itself, or is below the folder with that id. */
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
      ({ folderId, internalId, movedAt }, index) =>
        folderId === b.ancestors[index]?.folderId &&
        internalId === b.ancestors[index].internalId &&
        movedAt === b.ancestors[index].movedAt,
    )
  );
}

/** A changed or deleted folder, while a job is still rewriting or purging what is below it. */
export interface FolderChange {
  /** The folder id that the customer chose. */
  readonly folderId: string;
  /** `changed` if the folder was moved or got another access type. `removed` if it was deleted. */
  readonly kind: 'changed' | 'removed';
}

/** The recorded changes that jobs are applying, and the changed folders that were read. Both maps have internal ids as keys. */
export interface FolderChanges {
  readonly changes: ReadonlyMap<string, FolderChange>;
  /** The value is undefined for a folder that does not exist. */
  readonly read: ReadonlyMap<string, FolderWithPosition | undefined>;
}

/**
 * The result of `resolveFolder`:
 * - `folder`: the current state of the folder
 * - `deleted`: the folder, or a folder above it, was deleted
 * - `needs`: a changed folder above it that must be read first
 * - `inconsistent`: folders changed between the reads, so the caller must read again
 */
export type Resolution<F> = { readonly folder: F } | 'deleted' | { readonly needs: FolderName } | 'inconsistent';

/**
 * Returns the current state of a stored folder while a job applies changes of folders above it. A folder's stored parent and own
 * access type are always right. Its stored ancestors are right only from the parent up to the deepest changed folder. The
 * ancestors of that changed folder are resolved in the same way. `path` has the ids of the folders that were resolved on the way
 * to this folder, to detect circles.
 */
export function resolveFolder<F extends FolderWithPosition>(
  folder: F,
  { changes, read }: FolderChanges,
  path: readonly string[] = [],
): Resolution<F> {
  if (path.includes(folder.internalId)) return 'inconsistent';
  if (changes.get(folder.internalId)?.kind === 'removed') return 'deleted';
  const deepestIndex = folder.ancestors.findLastIndex(({ internalId }) => changes.has(internalId));
  const deepest = folder.ancestors[deepestIndex];
  if (!deepest) return { folder };
  if (changes.get(deepest.internalId)?.kind === 'removed') return 'deleted';
  if (!read.has(deepest.internalId)) return { needs: deepest };
  const changed = read.get(deepest.internalId);
  if (!changed) return 'deleted';
  const above = resolveFolder(changed, { changes, read }, [...path, folder.internalId]);
  if (typeof above === 'string' || 'needs' in above) return above;
  const below = folder.ancestors.slice(deepestIndex + 1);
  const isOwnBelow =
    !folder.inheritAccessFromParent || below.some(({ internalId }) => internalId === folder.accessFrom);
  const { accessType, accessFrom } = isOwnBelow ? folder : above.folder;
  const ancestors = [...above.folder.ancestors, nameOf(changed), ...below];
  return { folder: { ...folder, ancestors, accessType, accessFrom } };
}

interface RequestedFolder {
  readonly folderId: string;
  readonly parentFolderId?: string | undefined;
}

/**
 * Splits the folders of one request into waves. A folder's parent is in an earlier wave, so a request can list a tree in any
 * order. The parent `root` is no folder, even if the request lists a folder with this id. `circular` has the folders that fit no
 * wave, because their parents form a circle.
 */
export function splitIntoWaves<F extends RequestedFolder>(folders: readonly F[]): { waves: F[][]; circular: F[] } {
  const waves: F[][] = [];
  let waiting = [...folders];
  while (waiting.length > 0) {
    const waitingIds = new Set(waiting.map(({ folderId }) => folderId));
    const isReady = ({ parentFolderId = rootFolderId }: F) =>
      parentFolderId === rootFolderId || !waitingIds.has(parentFolderId);
    const ready = waiting.filter(isReady);
    if (ready.length === 0) return { waves, circular: waiting };
    waves.push(ready);
    waiting = waiting.filter((folder) => !isReady(folder));
  }
  return { waves, circular: [] };
}
