import type { VersionedHint } from './hints.ts';

/** A client that missed older hints reads its document again. */
export const LOG_SECONDS = 2 * 60 * 60;
export const MAX_CHANGES = 500;

export interface Changes {
  readonly hints: VersionedHint[];
  readonly version: number;
  readonly complete: boolean;
  readonly hasMore: boolean;
}

/**
 * `version` is the newest one, `kept` has the stored hints in the order of their versions. The answer is not complete
 * if `kept` lacks a version after `after`, or if `after` is larger than `version`.
 */
export function changesSince(after: number, version: number, kept: readonly VersionedHint[]): Changes {
  const missing = kept.filter((hint) => hint.version > after && hint.version <= version);
  const hints = missing.slice(0, MAX_CHANGES);
  const hasMore = missing.length > hints.length;
  const upTo = hasMore ? (hints.at(-1)?.version ?? version) : version;
  const isUnbroken = hints.every((hint, index) => hint.version === after + 1 + index);
  return { hints, version: upTo, complete: after + hints.length === upTo && isUnbroken, hasMore };
}
