import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mergeMetadata } from '../../../lib/shared/metadata.ts';

const parsed = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;

describe('mergeMetadata', () => {
  test('replaces sent fields and keeps the others, also `__proto__`', () => {
    const key = fc.oneof(fc.constantFrom('__proto__', 'constructor', 'plan', ''), fc.string());
    const fields = fc.dictionary(key, fc.jsonValue(), { maxKeys: 6 }).map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(fields, fields, (stored, sent) => {
        const merged = mergeMetadata(stored, parsed(sent));
        if ('refused' in merged) throw new Error(merged.refused);
        const result = new Map(Object.entries(parsed(merged.metadata ?? '{}')));
        expect(result).toEqual(new Map([...Object.entries(parsed(stored)), ...Object.entries(parsed(sent))]));
      }),
    );
  });

  test('returns undefined without fields, and keeps a field that was sent as null', () => {
    expect(mergeMetadata(undefined, {})).toEqual({ metadata: undefined });
    expect(mergeMetadata('{"a":1}', { a: null })).toEqual({ metadata: '{"a":null}' });
  });

  test('refuses metadata that are larger than one call can send', () => {
    const half = 'x'.repeat(33 * 1024);
    expect(mergeMetadata(JSON.stringify({ a: half }), { b: half })).toEqual({
      refused: 'The fields together would be larger than 64 KB.',
    });
    expect(mergeMetadata(JSON.stringify({ a: half }), { a: half })).toEqual({ metadata: JSON.stringify({ a: half }) });
  });
});
