/** The largest answer in bytes, unless the endpoint declares another limit. Lambda allows 6 MB. */
export const ANSWER_BYTES = 5_000_000;

/** The largest number of bytes that one UTF-16 unit takes in UTF-8. */
const BYTES_PER_UNIT = 3;

/**
 * Returns whether a text has more than `limit` bytes in UTF-8. Counts the bytes only if the length of the text leaves the answer
 * open.
 */
export function isLongerThan(text: string, limit: number): boolean {
  if (text.length > limit) return true;
  return text.length * BYTES_PER_UNIT > limit && Buffer.byteLength(text) > limit;
}

/** Returns the size in bytes of a value as JSON in UTF-8. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
