export const AFTER_ALL_TIMES = '~';

/** UTC with milliseconds, for responses and sort keys: such texts sort by time. */
export function isoTime(time: number): string {
  return new Date(time).toISOString();
}
