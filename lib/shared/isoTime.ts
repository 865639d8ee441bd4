/** A time in milliseconds since 1970 as answers, events and operators see it: `2026-11-22T09:00:00.000Z`. */
export function iso(at: number): string {
  return new Date(at).toISOString();
}
