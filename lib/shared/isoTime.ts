/**
 * Returns a time (epoch milliseconds) as ISO 8601 in UTC, with milliseconds: for responses, and as a part of sort keys, because
 * these texts sort by time.
 */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}
