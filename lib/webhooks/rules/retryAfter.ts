const MAX_SECONDS = 24 * 60 * 60;

/** The current format, and two obsolete ones that recipients must accept (RFC 9110, 5.6.7). */
const httpDates = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
];

/** A header has seconds or an HTTP date. Returns the seconds from `now` (epoch ms), at most a day. */
export function retryAfterSeconds(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  const seconds = /^\d{1,15}$/.test(text) ? Number(text) : secondsUntil(text, now);
  return seconds > 0 ? Math.min(seconds, MAX_SECONDS) : undefined;
}

function secondsUntil(date: string, now: number): number {
  if (!httpDates.some((form) => form.test(date))) return NaN;
  // The oldest format has no time zone and means GMT.
  return Math.ceil((Date.parse(date.endsWith('GMT') ? date : `${date} GMT`) - now) / 1000);
}
