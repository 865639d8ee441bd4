/** The largest result, in seconds. It replaces larger values. */
const MAX_SECONDS = 24 * 60 * 60;

/** The current date format of HTTP, and two obsolete formats that recipients must accept (RFC 9110, 5.6.7). */
const httpDates = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
];

/**
 * Parses a `Retry-After` header: seconds or an HTTP date. Returns the seconds to wait from `now` (epoch ms), at most a day. Returns
 * undefined for an invalid header or a time in the past.
 */
export function retryAfterSeconds(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  const seconds = /^\d{1,15}$/.test(text) ? Number(text) : secondsUntil(text, now);
  return seconds > 0 ? Math.min(seconds, MAX_SECONDS) : undefined;
}

/** Returns the seconds from `now` to an HTTP date, or NaN for an invalid date. */
function secondsUntil(date: string, now: number): number {
  if (!httpDates.some((form) => form.test(date))) return NaN;
  // The oldest format has no time zone and means GMT.
  return Math.ceil((Date.parse(date.endsWith('GMT') ? date : `${date} GMT`) - now) / 1000);
}
