/** The largest answer, unless the endpoint declares another limit. Lambda allows 6 MB. */
export const ANSWER_BYTES = 5_000_000;

const BYTES_PER_UNIT = 3;

/** Counts the bytes of UTF-8 only if the length of the text leaves the answer open. */
export function isLongerThan(text: string, limit: number): boolean {
  if (text.length > limit) return true;
  return text.length * BYTES_PER_UNIT > limit && Buffer.byteLength(text) > limit;
}

export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
