import type { VersionedHint } from './hints.ts';

/** How long hints (messages about changes) are kept, in seconds. A client that missed older hints reads its document again. */
export const LOG_SECONDS = 2 * 60 * 60;
/** The largest number of hints in one answer. */
export const MAX_CHANGES = 500;

/** The hints of a document after a version, for one answer. */
export interface Changes {
  readonly hints: VersionedHint[];
  /** The version of the last hint in the answer. The client continues from this version with its next call. */
  readonly version: number;
  /** False if hints are missing. The client must then read the document again. */
  readonly complete: boolean;
  /** Whether more hints follow after `version`. */
  readonly hasMore: boolean;
}

/**
 * Returns the hints after the version `after`. `version` is the document's newest version. `kept` has the stored hints
 * in the order of their versions. If the oldest ones have expired, or `after` is larger than `version`, the answer is
 * not complete.
 */
export function changesSince(after: number, version: number, kept: readonly VersionedHint[]): Changes {
  const missing = kept.filter((hint) => hint.version > after && hint.version <= version);
  const hints = missing.slice(0, MAX_CHANGES);
  const hasMore = missing.length > hints.length;
  const upTo = hasMore ? (hints.at(-1)?.version ?? version) : version;
  const isUnbroken = hints.every((hint, index) => hint.version === after + 1 + index);
  return { hints, version: upTo, complete: after + hints.length === upTo && isUnbroken, hasMore };
}
