/**
 * Returns a time (epoch milliseconds) as ISO 8601 in UTC with milliseconds, for responses and sort keys. These texts sort
 * by time.
 */
export function isoTime(time: number): string {
  return new Date(time).toISOString();
}
