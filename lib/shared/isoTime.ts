export const AFTER_ALL_TIMES = '~';

/** ISO 8601 in UTC with milliseconds, from epoch ms. Such texts sort by time. */
export function isoTime(time: number): string {
  return new Date(time).toISOString();
}
