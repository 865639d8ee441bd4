/** Returns a time (epoch milliseconds) as ISO 8601: `2026-11-22T09:00:00.000Z`. */
export function iso(at: number): string {
  return new Date(at).toISOString();
}
