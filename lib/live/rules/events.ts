import { jsonBytes } from '../../shared/bytes.ts';
import { slicesOf } from '../../shared/collections.ts';

/** A limit of AppSync. */
export const EVENTS_PER_PUBLISH = 5;
/** A limit of AppSync. */
export const MAX_EVENT_BYTES = 240 * 1024;

/** Returns JSON texts by publish. Throws for an event that is too large. */
export function toPublishes(events: readonly object[]): string[][] {
  const texts = events.map((event) => JSON.stringify(event));
  const tooLarge = texts.find((text) => Buffer.byteLength(text) > MAX_EVENT_BYTES);
  if (tooLarge !== undefined) throw new Error(`An event has ${Buffer.byteLength(tooLarge)} bytes`);
  return slicesOf(texts, EVENTS_PER_PUBLISH);
}

export function withinLimit(hint: object, payload: object): object {
  const whole = { ...hint, ...payload };
  return jsonBytes(whole) > MAX_EVENT_BYTES ? hint : whole;
}
