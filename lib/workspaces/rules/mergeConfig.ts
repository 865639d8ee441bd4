import * as z from 'zod';
import { isObject } from '../../shared/collections.ts';
import { defineSchema, limits } from '../../shared/schema.ts';

export type Change<T> = {
  readonly [K in keyof T]?: (T[K] extends object | undefined ? Change<NonNullable<T[K]>> : T[K]) | undefined;
};

/** At every depth. Missing and undefined fields keep their values. A sent list replaces the stored list. */
export function merge<T extends object>(stored: T, sent: Change<T>): T {
  // A map, because assigning the key `__proto__` to an object would set its prototype.
  const merged = new Map<string, unknown>(Object.entries(stored));
  for (const [key, value] of Object.entries(sent)) {
    const before = merged.get(key);
    if (value !== undefined) merged.set(key, isObject(value) ? merge(isObject(before) ? before : {}, value) : value);
  }
  return Object.fromEntries(merged) as T;
}

const MAX_SECRET_CHARACTERS = 4_096;

/** A text that can be sent in a header. In a configuration of the API key, an empty one deletes the stored secret. */
export const HeaderSecret = /* @__PURE__ */ defineSchema(() =>
  z
    .string()
    .max(MAX_SECRET_CHARACTERS)
    .check(
      z.refine((text) => /^[\x20-\x7e]*$/.test(text), {
        error: 'must be of visible ASCII characters and spaces, since it is sent in a header',
      }),
      z.refine((text) => !/^ | $/.test(text), {
        error: 'must not begin or end with a space, because a header loses it',
      }),
    ),
);

/** Without control characters, so it is safe in a mail header. It can be empty. */
export const Line = /* @__PURE__ */ defineSchema(() =>
  z
    .string()
    .max(limits.idCharacters)
    .check(
      z.refine((text) => text.isWellFormed(), { error: 'must be well-formed Unicode' }),
      z.refine((text) => !/[\p{Cc}\u2028\u2029]/u.test(text), { error: 'must not contain control characters' }),
    ),
);
