import * as z from 'zod';
import { invalid } from '../../shared/errors.ts';
import { limits } from '../../shared/schema.ts';

/** What may be sent to change a configuration: any of its fields, at every depth. */
export type Change<T> = {
  readonly [K in keyof T]?: (T[K] extends object | undefined ? Change<NonNullable<T[K]>> : T[K]) | undefined;
};

/**
 * A configuration with what was sent over it, key by key at every depth: what is left out or undefined there keeps its
 * value. Lists are values like any other.
 */
export function merge<T extends object>(stored: T, sent: Change<T>): T {
  // Not by assignment, which would set the prototype where a key is called `__proto__`.
  const merged = new Map<string, unknown>(Object.entries(stored));
  for (const [key, value] of Object.entries(sent)) {
    const before = merged.get(key);
    if (value !== undefined) merged.set(key, isMap(value) ? merge(isMap(before) ? before : {}, value) : value);
  }
  return Object.fromEntries(merged) as T;
}

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * INVALID_ARGUMENT when a partial update sends none of the fields that it could. The message is the one that clients
 * know; the issues list the fields, below `path`.
 */
export function requireChange(
  sent: object,
  fields: readonly string[],
  message: string,
  path: readonly string[] = [],
): void {
  if (Object.values(sent).some((value) => value !== undefined)) return;
  const issue = (at: readonly string[], why: string) => ({ path: [...at], code: 'nothing_to_change', message: why });
  const alternatives = fields.map((field) => [...path, field]);
  throw invalid(
    issue(path, message),
    ...alternatives.map((at) => issue(at, `${at.join('.')} is required when no other field is given`)),
  );
}

const LONGEST_SECRET = 4_096;

/** A secret that is sent in a header of requests to somebody else: at most 4,096 bytes. The empty text removes what is stored. */
export const HeaderSecret = z
  .string()
  .max(LONGEST_SECRET)
  .check(
    z.refine((text) => /^[\x20-\x7e]*$/.test(text), {
      error: 'must be of visible ASCII characters and spaces, since it is sent in a header',
    }),
  );

/** One line of text, or none: at most 512 characters, none of which could end a header. */
export const Line = z
  .string()
  .max(limits.idCharacters)
  .check(
    z.refine((text) => text.isWellFormed(), { error: 'must be well-formed Unicode' }),
    z.refine((text) => !/[\p{Cc}\u2028\u2029]/u.test(text), { error: 'must not contain control characters' }),
  );
