import { distinctBy } from '../../shared/collections.ts';
import { ApiError } from '../../shared/errors.ts';

const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;
const MONTH = 30 * DAY;

export const versionLimits = { named: 200, bytes: 64 * 1024 * 1024, authors: 100 } as const;

/** `keepDays` and `keepNamed` of the API key. Undefined if automatic versions are switched off. */
export type VersionSettings = { readonly keepDays: number; readonly keepNamed: boolean } | undefined;

interface Version {
  readonly createdAt: number;
  readonly isAutomatic: boolean;
  readonly restoredVersionId?: string | undefined;
}

/**
 * Thins automatic versions without a job: the first of a day (UTC) lives for all days, the first of an hour for a week,
 * any other for a day. `before` is the creation of the automatic version before. Undefined: the version does not end.
 */
export function expiryOf(
  { createdAt, isAutomatic, restoredVersionId }: Version,
  before: number | undefined,
  settings: VersionSettings,
): number | undefined {
  const least = restoredVersionId === undefined ? 0 : MONTH;
  if (!settings) return least === 0 ? undefined : createdAt + least;
  const all = settings.keepDays * DAY;
  if (!isAutomatic) return settings.keepNamed ? undefined : createdAt + Math.max(all, least);
  const isFirstOf = (unit: number) =>
    before === undefined || Math.floor(before / unit) !== Math.floor(createdAt / unit);
  const life = isFirstOf(DAY) ? all : Math.min(all, isFirstOf(HOUR) ? WEEK : DAY);
  return createdAt + Math.max(life, least);
}

interface Stored extends Version {
  readonly versionId: string;
  readonly metadata?: string | undefined;
  readonly blob: { readonly id: string };
  readonly bytes: number;
}

const ITEM_BYTES = 500;

/**
 * Returns the oldest automatic versions that must go to make room for another version, without `kept`. Throws
 * RESOURCE_EXHAUSTED if this is not enough, or for a named version too many. `versions` begin with the newest.
 */
export function findSurplus<T extends Stored>(
  versions: readonly T[],
  added: {
    readonly isAutomatic: boolean;
    readonly bytes: number;
    readonly now: number;
    readonly kept?: string | undefined;
  },
): T[] {
  const named = versions.filter(({ isAutomatic }) => !isAutomatic).length;
  if (!added.isAutomatic && named >= versionLimits.named)
    throw new ApiError('RESOURCE_EXHAUSTED', `An editor can have at most ${versionLimits.named} named versions.`);
  const stays = (version: T) =>
    !version.isAutomatic || version.versionId === added.kept || isProtected(version, added.now);
  // The removal of a version frees nothing while another one has its blob.
  const stayingBlobs = new Set(versions.filter(stays).map(({ blob }) => blob.id));
  const left = [...versions];
  const surplus: T[] = [];
  while (storedBytes(left) + added.bytes > versionLimits.bytes) {
    const oldest = left.findLastIndex(({ blob }) => !stayingBlobs.has(blob.id));
    if (oldest === -1)
      throw new ApiError(
        'RESOURCE_EXHAUSTED',
        `The versions of an editor can have at most ${versionLimits.bytes} bytes. Delete versions with /v2/crdt/versions/delete.`,
      );
    surplus.push(...left.splice(oldest, 1));
  }
  return surplus;
}

function storedBytes(versions: readonly Stored[]): number {
  const blobs = distinctBy(versions, ({ blob }) => blob.id).reduce((sum, { bytes }) => sum + bytes, 0);
  return versions.reduce((sum, { metadata = '' }) => sum + ITEM_BYTES + metadata.length, blobs);
}

function isProtected({ restoredVersionId, createdAt }: Version, now: number): boolean {
  return restoredVersionId !== undefined && now < createdAt + MONTH;
}
