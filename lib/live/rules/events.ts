import { jsonBytes } from '../../shared/bytes.ts';
import { slicesOf } from '../../shared/collections.ts';

/** The largest number of events in one publish of AppSync. */
export const EVENTS_PER_PUBLISH = 5;
/** The largest size in bytes of an event as JSON that AppSync accepts. */
export const MAX_EVENT_BYTES = 240 * 1024;

/** Returns events as JSON texts in order, grouped by publish. Throws for an event that is too large. */
export function toPublishes(events: readonly object[]): string[][] {
  const texts = events.map((event) => JSON.stringify(event));
  const tooLarge = texts.find((text) => Buffer.byteLength(text) > MAX_EVENT_BYTES);
  if (tooLarge !== undefined) throw new Error(`An event has ${Buffer.byteLength(tooLarge)} bytes`);
  return slicesOf(texts, EVENTS_PER_PUBLISH);
}

/**
 * Returns the fields of the hint and the payload as one event. Returns the hint alone if the event would be too large.
 * Clients then read the change.
 */
export function withinLimit(hint: object, payload: object): object {
  const whole = { ...hint, ...payload };
  return jsonBytes(whole) > MAX_EVENT_BYTES ? hint : whole;
}
