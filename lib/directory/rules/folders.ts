import { type AccessType, defaultAccessType } from '../../app/rules/access.ts';

export const deepestFolder = 20;

export const rootFolderId = 'root';

export function canBeFolder(folderId: string, parentFolderId: string | undefined): boolean {
  return folderId !== rootFolderId && folderId !== parentFolderId;
}

export interface FolderName {
  readonly folderId: string;
  readonly internalId: string;
  readonly movedAt?: number | undefined;
}

export interface FolderPosition {
  readonly ancestors: FolderName[];
  readonly accessType: AccessType;
  /** The internal id of the folder that the access type comes from, or `root`. */
  readonly accessFrom: string;
  readonly inheritAccessFromParent: boolean;
}

export interface FolderWithPosition extends FolderName, FolderPosition {}

export interface OwnAccess {
  readonly internalId: string;
  readonly accessType: AccessType | undefined;
}

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

function nameOf({ folderId, internalId, movedAt }: FolderName): FolderName {
  return { folderId, internalId, ...(movedAt !== undefined && { movedAt }) };
}

export function ownAccess({
  internalId,
  accessType,
  inheritAccessFromParent,
}: Pick<FolderWithPosition, 'internalId' | 'accessType' | 'inheritAccessFromParent'>): OwnAccess {
  return { internalId, accessType: inheritAccessFromParent ? undefined : accessType };
}

/**
 * Returns an internal id or `root`. The stored parent is right even while a job applies changes of the folders above.
 */
export function parentOf({ ancestors }: Pick<FolderPosition, 'ancestors'>): string {
  return ancestors.at(-1)?.internalId ?? rootFolderId;
}

export function depthOf({ ancestors }: Pick<FolderPosition, 'ancestors'>): number {
  return ancestors.length + 1;
}

export function isWithin(folder: Pick<FolderWithPosition, 'internalId' | 'ancestors'>, internalId: string): boolean {
  return folder.internalId === internalId || folder.ancestors.some((ancestor) => ancestor.internalId === internalId);
}

/** Internal ids. `from` and `to` are the folders above it, before and after the move. */
export interface Move {
  readonly internalId: string;
  readonly from: readonly string[];
  readonly to: readonly string[];
}

export function crosses(folderKey: string, { internalId, from, to }: Move): boolean {
  return internalId !== folderKey && from.includes(folderKey) !== to.includes(folderKey);
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

export interface FolderChange {
  readonly folderId: string;
  readonly kind: 'changed' | 'removed';
}

export interface FolderChanges {
  readonly changes: ReadonlyMap<string, FolderChange>;
  readonly read: ReadonlyMap<string, FolderWithPosition | undefined>;
}

/**
 * - `deleted`: the folder, or one above it, was deleted
 * - `needs`: a changed folder above it that must be read first
 * - `inconsistent`: folders changed between the reads, so the caller must read again
 */
export type Resolution<F> = { readonly folder: F } | 'deleted' | { readonly needs: FolderName } | 'inconsistent';

/**
 * The current state of a stored folder while a job applies changes above it. Stored parent and own access type are
 * always right, stored ancestors only from the parent up to the deepest changed folder. `path` detects circles.
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
 * A parent is in an earlier wave. `root` is no folder, even if the request lists one with this id. The parents of
 * `circular` folders lead to a circle.
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
