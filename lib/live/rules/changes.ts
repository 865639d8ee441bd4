import type { VersionedHint } from './hints.ts';

/** How long hints are kept, in seconds. A client that was away for longer reads its document again. */
export const LOG_SECONDS = 2 * 60 * 60;
/** The largest number of hints in one answer. */
export const MAX_CHANGES = 500;

/** The answer about the hints of a document since a version. */
export interface Changes {
  readonly hints: VersionedHint[];
  /** The version up to which the answer has hints. The client sends it with its next call. */
  readonly version: number;
  /** Whether no hint is missing. Otherwise the client reads the document again. */
  readonly complete: boolean;
  /** Whether there are more hints after `version`. */
  readonly hasMore: boolean;
}

/**
 * Returns the hints after the version `after`. `kept` has the stored hints after this version, in the order of their versions.
 * The oldest of these hints may have expired. `version` is the document's version. If `after` is larger than `version`, the
 * answer is incomplete.
 */
export function changesSince(after: number, version: number, kept: readonly VersionedHint[]): Changes {
  const missing = kept.filter((hint) => hint.version > after && hint.version <= version);
  const hints = missing.slice(0, MAX_CHANGES);
  const hasMore = missing.length > hints.length;
  const upTo = hasMore ? (hints.at(-1)?.version ?? version) : version;
  const isUnbroken = hints.every((hint, index) => hint.version === after + 1 + index);
  return { hints, version: upTo, complete: after + hints.length === upTo && isUnbroken, hasMore };
}
