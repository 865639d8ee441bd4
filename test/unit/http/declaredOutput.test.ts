import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import * as z from 'zod';
import { declaredOutput } from '../../../lib/http/declaredOutput.ts';
import { outputTrimmer } from '../../../lib/http/outputTrimmer.ts';
import { dict } from '../../../lib/shared/collections.ts';
import { optional } from '../../../lib/shared/schema.ts';
import { cpuMilliseconds } from '../../support/cpu.ts';
import { times } from '../../support/times.ts';

const Row = z.object({ id: z.string(), note: z.string().optional() });

/** Trims a value. Returns the remaining value, and the names of the dropped fields. */
function trimmed(schema: z.ZodType, value: unknown): { output: unknown; dropped: string[] } {
  const dropped = new Set<string>();
  const trimmedValue = outputTrimmer(schema)(value, dropped);
  return { output: JSON.parse(JSON.stringify(trimmedValue)), dropped: [...dropped] };
}

describe('outputTrimmer', () => {
  test.each<[what: string, schema: z.ZodType, value: unknown, output: unknown, dropped: string[]]>([
    ['an object', Row, { id: 'a', secret: 1 }, { id: 'a' }, ['secret']],
    ['an object in an object', z.object({ data: Row }), { data: { id: 'a', x: 1 } }, { data: { id: 'a' } }, ['data.x']],
    [
      'each item of a list',
      z.array(Row),
      [
        { id: 'a', x: 1 },
        { id: 'b', x: 2 },
      ],
      [{ id: 'a' }, { id: 'b' }],
      ['[].x'],
    ],
    ['each value of a map', z.record(z.string(), Row), { ada: { id: 'a', x: 1 } }, { ada: { id: 'a' } }, ['*.x']],
    [
      'an optional object',
      z.object({ row: Row.optional() }),
      { row: { id: 'a', x: 1 } },
      { row: { id: 'a' } },
      ['row.x'],
    ],
    ['a nullable item', z.array(Row.nullable()), [null, { id: 'a', x: 1 }], [null, { id: 'a' }], ['[].x']],
    [
      'an object behind a transform',
      z.object({ row: optional(Row) }),
      { row: { id: 'a', x: 1 } },
      { row: { id: 'a' } },
      ['row.x'],
    ],
    [
      'the declared fields of an open object',
      z.looseObject({ row: Row }),
      { row: { id: 'a', x: 1 }, own: { y: 1 } },
      { row: { id: 'a' }, own: { y: 1 } },
      ['row.x'],
    ],
  ])('drops the undeclared fields of %s', (_what, schema, value, expected, dropped) => {
    expect(trimmed(schema, value)).toEqual({ output: expected, dropped });
  });

  const union = z.union([z.array(Row), z.record(z.string(), z.array(Row)), z.object({ count: z.number(), by: Row })]);
  test.each<[what: string, value: unknown, output: unknown, dropped: string[]]>([
    ['a list', [{ id: 'a', x: 1 }], [{ id: 'a' }], ['[].x']],
    ['a map', { nda: [{ id: 'a', x: 1 }] }, { nda: [{ id: 'a' }] }, ['*[].x']],
  ])('trims %s by the alternative of a union that drops the fewest fields', (_what, value, expected, dropped) => {
    expect(trimmed(union, value)).toEqual({ output: expected, dropped });
  });

  test('keeps every key of a map, `__proto__` too', () => {
    const value = dict([
      ['__proto__', { id: 'a', x: 1 }],
      ['constructor', { id: 'b' }],
    ]);
    const trimmedValue = outputTrimmer(z.record(z.string(), Row))(value, new Set());
    expect(JSON.stringify(trimmedValue)).toBe('{"__proto__":{"id":"a"},"constructor":{"id":"b"}}');
  });

  test('returns a fully declared value itself, and does not modify a value that it trims', () => {
    const whole = Object.freeze({ data: Object.freeze([Object.freeze({ id: 'a' })]) });
    const schema = z.object({ data: z.array(Row) });
    expect(outputTrimmer(schema)(whole, new Set())).toBe(whole);
    const more = { data: [{ id: 'a', x: 1 }] };
    outputTrimmer(schema)(more, new Set());
    expect(more).toEqual({ data: [{ id: 'a', x: 1 }] });
  });

  test('returns the same value as the schema itself, for any additional fields', () => {
    const schema = z.object({ rows: z.array(Row), named: z.record(z.string(), Row.nullable()), any: z.unknown() });
    const row = fc.record({ id: fc.string(), note: fc.string(), x: fc.jsonValue() }, { requiredKeys: ['id'] });
    const key = fc.string().filter((name) => name !== '__proto__');
    const value = fc.record({
      rows: fc.array(row),
      named: fc.dictionary(key, fc.option(row)),
      any: fc.jsonValue(),
      more: fc.jsonValue(),
    });
    fc.assert(
      fc.property(value, (output) => {
        expect(trimmed(schema, output).output).toEqual(JSON.parse(JSON.stringify(schema.parse(output))));
      }),
    );
  });

  test('costs little for an answer of 4 MB', () => {
    const value = { data: times(40_000, (n) => ({ id: `row-${n}`, note: 'x'.repeat(80) })) };
    const trim = outputTrimmer(z.object({ data: z.array(Row) }));
    expect(cpuMilliseconds(() => trim(value, new Set()), { limit: 50 })).toBeLessThan(50);
  });
});

describe('declaredOutput', () => {
  const endpoint = { path: '/v2/things/get', output: z.object({ data: z.array(Row) }) } as const;
  const log = { info: jest.fn(), warn: jest.fn(), error: jest.fn() };

  test('logs the names of dropped fields and no values', () => {
    const output = { data: [{ id: 'a', secret: 'hunter2' }] };
    expect(JSON.stringify(declaredOutput(endpoint, output, { isStrict: false, log }))).toBe('{"data":[{"id":"a"}]}');
    expect(log.warn.mock.calls).toEqual([['response trimmed', { path: '/v2/things/get', dropped: ['data[].secret'] }]]);
  });

  test.each([
    [{ data: [{ id: 'a', secret: 1 }] }, 'data[].secret is not declared'],
    [{ data: [{ id: 7 }] }, 'data.0.id: Invalid input: expected string, received number'],
    [{}, 'data: Invalid input: expected array, received undefined'],
  ])('throws for %j when it is strict', (output, problem) => {
    expect(() => declaredOutput(endpoint, output, { isStrict: true, log })).toThrow(
      `/v2/things/get returns output that does not match its declaration: ${problem}`,
    );
  });
});
