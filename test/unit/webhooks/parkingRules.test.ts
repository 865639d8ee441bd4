import { describe, expect, test } from '@jest/globals';
import { type EndpointHealth, isSlow, markSlow } from '../../../lib/webhooks/rules/health.ts';
import { decideParking, parkingDueAt, parkingRestartAt, planRelease } from '../../../lib/webhooks/rules/parking.ts';

const SECOND = 1_000;
const NOW = Date.UTC(2026, 10, 20, 9);
const target = { _r: 3 };
const health = (until?: number, about = 3): EndpointHealth => ({
  about,
  breaker: { inARow: 10, ...(until !== undefined && { open: { until, pauseMs: 30 * SECOND } }) },
  writtenAt: NOW,
});

describe('decideParking', () => {
  test.each([
    ['cancels without a target', undefined, health(NOW + SECOND), { do: 'cancel' }],
    ['waits for the end of the pause', target, health(NOW + SECOND), { do: 'wait', until: NOW + SECOND }],
    ['probes after the pause', target, health(NOW), { do: 'probe' }],
    ['releases behind a closed breaker', target, health(), { do: 'release' }],
    ['releases without health', target, undefined, { do: 'release' }],
    ['releases after a change of the endpoint', target, health(NOW + SECOND, 2), { do: 'release' }],
  ] as const)('%s', (_what, of, stored, expected) => {
    expect(decideParking(of, stored, NOW)).toEqual(expected);
  });
});

describe('parkingDueAt', () => {
  test('is the end of a new pause, and the time of the write when a pause ends early', () => {
    expect(parkingDueAt(undefined, health(NOW + SECOND))).toBe(NOW + SECOND);
    expect(parkingDueAt(health(NOW + SECOND), health(NOW + 2 * SECOND))).toBe(NOW + 2 * SECOND);
    expect(parkingDueAt(health(NOW + SECOND), health())).toBe(NOW);
  });

  test('is undefined while the pause stays the same', () => {
    expect(parkingDueAt(undefined, health())).toBeUndefined();
    expect(parkingDueAt(health(NOW + SECOND), health(NOW + SECOND))).toBeUndefined();
  });
});

describe('parkingRestartAt', () => {
  test.each([
    ['the end of a new pause', undefined, health(NOW + SECOND), NOW + SECOND],
    ['the end of a pause after one that has ended', health(NOW), health(NOW + SECOND), NOW + SECOND],
    ['the end of a pause that became shorter', health(NOW + 2 * SECOND), health(NOW + SECOND), NOW + SECOND],
    ['the time of the write if the pause ends early', health(NOW + SECOND), health(), NOW],
    ['the end of a pause of another revision', health(NOW + SECOND, 2), health(NOW + 2 * SECOND), NOW + 2 * SECOND],
    ['undefined if a pause becomes longer', health(NOW + SECOND), health(NOW + 2 * SECOND), undefined],
    ['undefined if the pause stays the same', health(NOW + SECOND), health(NOW + SECOND), undefined],
  ])('is %s', (_what, before, after, expected) => {
    expect(parkingRestartAt(before, after)).toBe(expected);
  });
});

describe('planRelease', () => {
  test('plans ten seconds at 50 per second for an endpoint without a rate limit', () => {
    const { count, attemptAt } = planRelease({ rateLimit: undefined }, NOW);
    expect([count, attemptAt(0), attemptAt(50), attemptAt(count)]).toEqual([500, NOW, NOW + SECOND, NOW + 10 * SECOND]);
  });

  test('leaves slots to deliveries that have reserved them', () => {
    const { count, attemptAt } = planRelease({ rateLimit: 2, freeSlot: NOW + 4 * SECOND }, NOW);
    expect([count, attemptAt(0)]).toEqual([12, NOW + 4 * SECOND]);
    expect(planRelease({ rateLimit: 2, freeSlot: NOW + 11 * SECOND }, NOW).count).toBe(0);
  });

  test('plans at most 1,000 deliveries', () => {
    expect(planRelease({ rateLimit: 5_000 }, NOW).count).toBe(1_000);
  });
});

test('markSlow marks an endpoint as slow for a minute, and extends the minute only after half of it', () => {
  const slow = markSlow(health(), NOW);
  expect([isSlow(health(), NOW), isSlow(slow, NOW), isSlow(slow, NOW + 61 * SECOND)]).toEqual([false, true, false]);
  expect(markSlow(slow, NOW + 20 * SECOND)).toBe(slow);
  expect(markSlow(slow, NOW + 40 * SECOND).slowUntil).toBe(NOW + 100 * SECOND);
});
