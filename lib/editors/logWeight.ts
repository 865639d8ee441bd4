import type { Editor, EditorUpdate } from './entities.ts';

/** What an update weighs besides its bytes: the rest of its item. */
const ENTRY_BYTES = 300;
/** A log is long when it weighs half as much as the snapshot before it, within these bounds: about a hundred small changes, or much less than what an answer can take. */
const [LEAST, MOST] = [32_768, 2_000_000];

/** What an update weighs in the log, which has been packed to so many bytes. */
export function logWeight(packed: Uint8Array | undefined): number {
  return ENTRY_BYTES + (packed?.length ?? 0);
}

/**
 * Whether the log has become long, or as long again, by its newest update: whoever wrote that one compacts it. When that fails the next one
 * does who makes it as long again, so that many at the same time do not all do it.
 */
export function isLongLog(head: Editor, before: EditorUpdate, newest: EditorUpdate): boolean {
  return lengths(head, newest) > lengths(head, before);
}

/** How many times the log since the snapshot is as long as it may be. */
export function lengths({ snapshot }: Editor, { weight }: EditorUpdate): number {
  const most = Math.min(Math.max((snapshot?.bytes ?? 0) / 2, LEAST), MOST);
  return Math.floor((weight - (snapshot?.weight ?? 0)) / most);
}
