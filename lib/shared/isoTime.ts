export const AFTER_ALL_TIMES = '~';

/** The texts are in UTC with milliseconds and sort by time. */
export function isoTime(time: number): string {
  return new Date(time).toISOString();
}
