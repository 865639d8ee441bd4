import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { planCharge, QUOTA_MILLISECONDS, type QuotaHour } from '../../../lib/mail/rules/mailQuota.ts';
import { testProperty } from '../../support/testProperty.ts';

const NOW = 1_800_000_000_000;
const HOUR = 60 * 60_000;
const began = (minutes: number, count: number): QuotaHour => ({ startedAt: NOW - minutes * 60_000, count });

describe('planCharge', () => {
  test.each<[string, QuotaHour | undefined, number, number, ReturnType<typeof planCharge>]>([
    ['begins an hour with the first mail', undefined, 1, 20, { allowed: 1, next: began(0, 1), endsAt: NOW + HOUR }],
    ['adds to an hour that runs', began(59, 7), 5, 20, { allowed: 5, next: began(59, 12), endsAt: NOW + 60_000 }],
    [
      'allows a part of the mails',
      began(10, 18),
      5,
      20,
      { allowed: 2, next: began(10, 20), endsAt: NOW + HOUR - 600_000 },
    ],
    [
      'stores nothing if nothing is allowed',
      began(1, 20),
      1,
      20,
      { allowed: 0, next: undefined, endsAt: NOW + HOUR - 60_000 },
    ],
    [
      'allows nothing above a limit that was lowered',
      began(0, 20),
      1,
      5,
      { allowed: 0, next: undefined, endsAt: NOW + HOUR },
    ],
    [
      'begins a new hour exactly 60 minutes later',
      began(60, 20),
      1,
      20,
      { allowed: 1, next: began(0, 1), endsAt: NOW + HOUR },
    ],
    [
      'counts in the hour of a clock that is ahead',
      began(-2, 3),
      1,
      20,
      { allowed: 1, next: began(-2, 4), endsAt: NOW + HOUR + 120_000 },
    ],
    [
      'allows all mails and stores nothing with a limit of 0',
      began(1, 99),
      50,
      0,
      { allowed: 50, next: undefined, endsAt: NOW + HOUR - 60_000 },
    ],
  ])('%s', (_title, stored, count, limit, expected) => {
    expect(planCharge(stored, count, limit, NOW)).toEqual(expected);
  });

  const calls = fc.array(fc.record({ pause: fc.integer({ min: 0, max: HOUR }), count: fc.nat(9) }), { maxLength: 60 });
  testProperty(
    'allows at most the limit within an hour, and everything that fits',
    [calls, fc.integer({ min: 1, max: 20 })],
    (sent, limit) => {
      let [stored, now]: [QuotaHour | undefined, number] = [undefined, NOW];
      const sums = new Map<number, number>();
      for (const { pause, count } of sent) {
        now += pause;
        const { allowed, next, endsAt } = planCharge(stored, count, limit, now);
        const before = sums.get(endsAt) ?? 0;
        expect(endsAt).toBeGreaterThan(now);
        expect(allowed).toBe(Math.min(count, limit - before));
        sums.set(endsAt, before + allowed);
        stored = next ?? stored;
      }
      const ends = [...sums].flatMap(([end, sum]) => (sum > 0 ? [end] : []));
      expect(ends.every((end, index) => index === 0 || end - ends[index - 1]! >= QUOTA_MILLISECONDS)).toBe(true);
      return true;
    },
  );
});
