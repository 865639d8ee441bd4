import type { JsonSchema } from '../../lib/openapi/document.ts';
import { times } from '../support/times.ts';
import { nested, smallest, textOf } from './fields.ts';

/** Texts for the patterns of the schemas. */
const patterns: Readonly<Record<string, string>> = {
  '^[^\\u0000-\\u001F\\u007F-\\u009F]+$': 'no control characters',
  '^[A-Za-z0-9_-]*$': 'base64url',
};

/** A limit of a field. */
export interface Bound {
  /** The text that follows the name of the field in the message of a refusal. */
  readonly refusal: string;
  /** A value at the limit. */
  readonly within: unknown;
  /** A value just beyond the limit. */
  readonly beyond: unknown;
}

/** Returns the limits that a schema states, each with its number. */
export function limitsOf(schema: JsonSchema): Record<string, unknown> {
  const keywords = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minimum', 'maximum', 'enum', 'const'];
  const bytes = [...(schema.description ?? '').matchAll(/\bat most ([\d,]+) bytes (of UTF-8|as JSON)\b/gi)].map(
    ([, most = '', form]) => [`bytes ${form}`, Number(most.replaceAll(',', ''))] as const,
  );
  const least = bytes.toSorted(([, a], [, b]) => b - a);
  return {
    ...Object.fromEntries(keywords.filter((name) => name in schema).map((name) => [name, schema[name]])),
    ...(schema.pattern !== undefined && { pattern: patterns[schema.pattern] ?? schema.pattern }),
    ...Object.fromEntries(least),
  };
}

/** Returns the limits of a schema that is not a choice between others. */
export function* boundsOf(schema: JsonSchema): Generator<Bound> {
  const limits = limitsOf(schema);
  const list = (count: number) => times(count, (index) => smallest(schema.items as JsonSchema, index));
  const text = (characters: number) => (characters === 0 ? '' : textOf(schema, characters));
  const { minimum, maximum } = schema;
  if (minimum !== undefined) yield { refusal: `must be at least ${minimum}`, within: minimum, beyond: minimum - 1 };
  if (maximum !== undefined) yield { refusal: `must be at most ${maximum}`, within: maximum, beyond: maximum + 1 };
  for (const [least, most, unit, make] of [
    [schema.minLength, schema.maxLength, 'characters', text],
    [schema.minItems, schema.maxItems, 'items', list],
  ] as const) {
    const tooShort = least === 1 ? 'must not be empty' : `must have at least ${least} ${unit}`;
    if (least) yield { refusal: tooShort, within: make(least), beyond: make(least - 1) };
    if (most !== undefined)
      yield { refusal: `must have at most ${most} ${unit}`, within: make(most), beyond: make(most + 1) };
  }
  if (limits.pattern === 'no control characters')
    yield {
      refusal: 'must not contain control characters',
      within: ' ~\u00a0#%__proto__\u{1f469}\u200d\u{1f680}ﷺ\u2028',
      beyond: 'a\u0080',
    };
  const values = (schema.enum ?? ('const' in schema ? [schema.const] : [])).filter((value) => value !== null);
  const choice = `must be ${values.map((value) => JSON.stringify(value)).join(' or ')}`;
  for (const value of values)
    yield { refusal: choice, within: value, beyond: typeof value === 'string' ? `${value}s` : 'x' };
  const utf8 = limits['bytes of UTF-8'] as number | undefined;
  if (utf8 !== undefined && (schema.maxLength ?? Infinity) > utf8)
    yield {
      refusal: `must be at most ${utf8} bytes of UTF-8`,
      within: 'ü'.repeat(utf8 / 2),
      beyond: `x${'ü'.repeat(utf8 / 2)}`,
    };
  const json = limits['bytes as JSON'] as number | undefined;
  if (json === undefined || schema.additionalProperties === false) return;
  const base = [schema.type].flat().includes('object') ? smallest(schema) : undefined;
  const filled = (bytes: number) => {
    const rest = bytes - JSON.stringify(base ? { ...base, f: '' } : '').length;
    return base ? { ...base, f: 'x'.repeat(rest) } : 'x'.repeat(rest);
  };
  yield { refusal: `must be at most ${json} bytes as JSON`, within: filled(json), beyond: filled(json + 1) };
  const levels = (count: number) => (base ? { ...base, f: nested(count - 1) } : nested(count));
  yield { refusal: 'must be nested at most 32 levels deep', within: levels(32), beyond: levels(33) };
}
