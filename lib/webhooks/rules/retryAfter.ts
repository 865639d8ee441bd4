/** Longer is nonsense: no attempt is ever that far away. */
const LONGEST_SECONDS = 24 * 60 * 60;

/** The one form of a date that may be sent in HTTP today, and the two that must still be read (RFC 9110, 5.6.7). */
const httpDates = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
];

/**
 * How many seconds a `Retry-After` header asks to wait from `now` (epoch ms), at most a day: it holds seconds or an HTTP date.
 * Undefined for what is neither, and for times that are over. What becomes of it is the schedule's business.
 */
export function retryAfterSeconds(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  const seconds = /^\d{1,15}$/.test(text) ? Number(text) : secondsUntil(text, now);
  return seconds > 0 ? Math.min(seconds, LONGEST_SECONDS) : undefined;
}

/** NaN for what is no date. */
function secondsUntil(date: string, now: number): number {
  if (!httpDates.some((form) => form.test(date))) return NaN;
  // The oldest form names no zone and means GMT.
  return Math.ceil((Date.parse(date.endsWith('GMT') ? date : `${date} GMT`) - now) / 1000);
}
