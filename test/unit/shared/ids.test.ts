import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { derivedId, ksuid, newId } from '../../../lib/shared/ids.ts';
import { testProperty } from '../../support/testProperty.ts';
import { times } from '../../support/times.ts';

/** The first and the last time that an id can contain. It counts seconds from 2014 in 32 bits. */
const FIRST = 1_400_000_000_000;
const LAST = FIRST + 0xffff_ffff * 1000 + 999;
const time = fc.integer({ min: FIRST, max: LAST });
const random = fc.uint8Array({ minLength: 16, maxLength: 16 });

describe('ids', () => {
  test('have 27 base-62 characters', () => {
    fc.assert(fc.property(time, random, (now, bytes) => expect(ksuid(now, bytes)).toMatch(/^[0-9A-Za-z]{27}$/)));
    expect(ksuid(FIRST, new Uint8Array(16))).toBe('0'.repeat(27));
    expect(ksuid(LAST, new Uint8Array(16).fill(255))).toBe('aWgEPTZhwdcloT2H1F9kxliFgLP');
  });

  test('are the time, its milliseconds and the random bytes as one number, so that old and new versions derive the same ids', () => {
    const bytes = Uint8Array.from({ length: 16 }, (_each, index) => index * 17);
    expect(ksuid(1_800_000_000_000, bytes)).toBe('3Ouil37irmKQCuvtBpL4bEwgidD');
    expect(ksuid(1_800_000_000_789, bytes)).toBe('3Ouil97vbRQXu0f5hKrQZJOFt31');
    expect(derivedId('act', 1_800_000_000_000, ['a', 1])).toBe('act_3Ouil37pFHrLvbHQirkiOZ5NlmP');
  });

  testProperty('sort by time', [time, time, random, random], (a, b, first, second) => {
    const [earlier, later] = a < b ? [a, b] : [b, a];
    fc.pre(earlier < later);
    expect(ksuid(earlier, first) < ksuid(later, second)).toBe(true);
  });

  testProperty(
    'sort by time within a second',
    [time, fc.nat(999), fc.nat(999), random, random],
    (now, a, b, one, two) => {
      const second = Math.floor(now / 1000) * 1000;
      fc.pre(a < b);
      expect(ksuid(second + a, one) < ksuid(second + b, two)).toBe(true);
    },
  );

  testProperty('depend only on the time and the last 118 random bits', [time, random, random], (now, first, second) => {
    for (const bytes of [first, second]) bytes.set([0, bytes[1]! & 0x3f]);
    expect(ksuid(now, first) === ksuid(now, second)).toBe(Buffer.compare(first, second) === 0);
    const other = Uint8Array.from(first);
    other.set([0xff, first[1]! | 0xc0]);
    expect(ksuid(now, other)).toBe(ksuid(now, first));
  });

  test('are distinct for ten thousand ids of the same time', () => {
    expect(new Set(times(10_000, () => ksuid(1_800_000_000_000)))).toHaveProperty('size', 10_000);
  });

  test('depend only on the time and the parts if they are derived', () => {
    const parts = fc.array(fc.oneof(fc.string(), fc.nat()), { maxLength: 4 });
    fc.assert(
      fc.property(parts, parts, (first, second) => {
        expect(derivedId('act', LAST, first) === derivedId('act', LAST, second)).toBe(
          JSON.stringify(first) === JSON.stringify(second),
        );
        expect(derivedId('act', FIRST, first)).not.toBe(derivedId('act', FIRST + 1_000, first));
      }),
    );
    expect(derivedId('act', FIRST, ['a', 'b'])).not.toBe(derivedId('act', FIRST, ['ab']));
    expect(derivedId('act', FIRST, [])).toMatch(/^act_[0-9A-Za-z]{27}$/);
  });

  test('have a prefix', () => {
    expect(newId('ep', 1_800_000_000_000)).toMatch(/^ep_[0-9A-Za-z]{27}$/);
  });
});
