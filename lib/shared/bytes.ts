/** The largest answer in bytes, safely below the 6 MB that a function may return. */
export const ANSWER_BYTES = 5_000_000;

/** A UTF-16 unit takes at most this many bytes in UTF-8. */
const BYTES_PER_UNIT = 3;

/** Whether a text has more than `limit` bytes in UTF-8. Counts them only where the text's length leaves it open. */
export function isLongerThan(text: string, limit: number): boolean {
  if (text.length > limit) return true;
  return text.length * BYTES_PER_UNIT > limit && Buffer.byteLength(text) > limit;
}
