/** A text that sorts after all ISO times. */
export const AFTER_ALL_TIMES = '~';

/** Returns a time (epoch ms) as ISO 8601 text in UTC with milliseconds, for responses and sort keys. Such texts sort by time. */
export function isoTime(time: number): string {
  return new Date(time).toISOString();
}
