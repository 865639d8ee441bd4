import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { eventTypes } from '../../../lib/events/rules/catalogue.ts';
import { initialBasicConfig } from '../../../lib/webhooks/rules/basicConfig.ts';
import {
  afterSweep,
  claimDelivery,
  type Delivery,
  endDelivery,
  isClaimed,
  isPending,
  newDelivery,
  nextAttemptNumber,
  type PendingDelivery,
  postponeDelivery,
  recoverDelivery,
  resendDelivery,
} from '../../../lib/webhooks/rules/delivery.ts';
import { isBasicTarget, matchesEndpoint, matchingBasicTargets } from '../../../lib/webhooks/rules/matching.ts';
import { type AttemptResult, recordOutcome } from '../../../lib/webhooks/rules/outcome.ts';
import {
  deliveryLifetime,
  marginAfter,
  nextAttemptAt,
  parseSchedule,
  planAttempt,
  type Timing,
} from '../../../lib/workers/rules/schedule.ts';
import { testProperty } from '../../support/testProperty.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const NOW = Date.UTC(2026, 10, 20);
const timing: Timing = { schedule: parseSchedule('0,5,300,1800,7200,18000,36000,36000'), marginMs: 5 * MINUTE };
const failed: AttemptResult = { outcome: 'failed', durationMs: 10 };

const fresh = () =>
  newDelivery({ eventId: 'msg_1', endpointId: 'ep_1', event: 'comment.add', createdAt: NOW, shard: 3 }, NOW, timing);

/**
 * Makes all attempts of a delivery, each at its time, as a worker does. Returns their times, and the delivery after
 * the last one.
 */
function attemptsOf(
  start: PendingDelivery,
  {
    result = failed,
    random = () => 0.5,
    lastsMs = 300,
  }: { result?: AttemptResult; random?: (attempt: number) => number; lastsMs?: number } = {},
): { times: number[]; end: Delivery } {
  const times: number[] = [];
  let delivery: Delivery = start;
  while (isPending(delivery)) {
    times.push(delivery.nextAt);
    const attempt = nextAttemptNumber(delivery);
    delivery = recordOutcome(
      claimDelivery(delivery, 'c', delivery.nextAt),
      result,
      delivery.nextAt + lastsMs,
      random(attempt),
      timing,
    );
  }
  return { times, end: delivery };
}

describe('nextAttemptAt', () => {
  test('plans 8 attempts in 27.6 hours: at once, then after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h', () => {
    const { times, end } = attemptsOf(fresh(), { lastsMs: 0 });
    expect(times.map((time) => (time - NOW) / SECOND)).toEqual([0, 5, 305, 2_105, 9_305, 27_305, 63_305, 99_305]);
    expect((times.at(-1)! - NOW) / HOUR).toBeCloseTo(27.6, 1);
    expect(end).toMatchObject({ status: 'EXHAUSTED', attempts: 8 });
    expect(end).not.toHaveProperty('dueAt');
  });

  test('counts each pause from the end of the attempt. An attempt can take 15 s', () => {
    const { times } = attemptsOf(fresh(), { lastsMs: 15 * SECOND });
    expect(times.slice(0, 3).map((time) => (time - NOW) / SECOND)).toEqual([0, 20, 335]);
  });

  test('varies pauses by ±20 % from the third attempt on, and not before', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 8, maxLength: 8 }),
        (chances) => {
          const { times } = attemptsOf(fresh(), { random: (attempt) => chances[attempt - 1]!, lastsMs: 0 });
          const pauses = times.slice(1).map((time, index) => time - times[index]!);
          expect(pauses[0]).toBe(5 * SECOND);
          for (const [index, pause] of pauses.slice(1, -1).entries()) {
            const step = timing.schedule[index + 2]!;
            expect(pause).toBeGreaterThanOrEqual(step * 0.8 - 1);
            expect(pause).toBeLessThanOrEqual(step * 1.2 + 1);
          }
        },
      ),
    );
    const spread = new Set(
      [0, 0.25, 0.5, 0.99].map((random) =>
        nextAttemptAt({ made: 2, now: NOW, deadline: NOW + 30 * HOUR, random }, timing.schedule),
      ),
    );
    expect([...spread].map((time) => (time! - NOW) / SECOND)).toEqual([240, 270, 300, expect.closeTo(358.8, 1)]);
  });

  testProperty(
    'makes all 8 attempts before the deadline of 30 hours for any random numbers',
    [
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 8, maxLength: 8 }),
      fc.integer({ min: 0, max: 15 * SECOND }),
    ],
    (chances, lastsMs) => {
      const { times, end } = attemptsOf(fresh(), { random: (attempt) => chances[attempt - 1]!, lastsMs });
      expect(times).toHaveLength(8);
      expect(times.at(-1)!).toBeLessThanOrEqual(NOW + 29.5 * HOUR);
      expect(end.status).toBe('EXHAUSTED');
    },
  );

  test('makes a pause up to twice as long for Retry-After, and never shorter', () => {
    const after = (retryAfterSeconds: number | undefined) =>
      (nextAttemptAt(
        { made: 3, now: NOW, deadline: NOW + 30 * HOUR, random: 0.5, retryAfterSeconds },
        timing.schedule,
      )! -
        NOW) /
      SECOND;
    expect([undefined, 1, 1_800, 2_500, 3_600, 86_400].map(after)).toEqual([1_800, 1_800, 1_800, 2_500, 3_600, 3_600]);
  });

  test('plans no attempt after the deadline for receivers that always send Retry-After', () => {
    const result = { ...failed, retryAfterSeconds: 86_400 };
    const { times, end } = attemptsOf(fresh(), { result, random: () => 1 });
    expect(times.at(-1)!).toBeLessThanOrEqual(NOW + 29.5 * HOUR);
    expect(times.length).toBeLessThan(8);
    expect(end.status).toBe('EXHAUSTED');
  });

  testProperty(
    'plans all attempts and no more when the clock jumps',
    [fc.array(fc.integer({ min: -48 * HOUR, max: 48 * HOUR }), { minLength: 8, maxLength: 8 })],
    (jumps) => {
      let delivery: Delivery = fresh();
      for (let made = 0; isPending(delivery); made++) {
        expect(made).toBeLessThan(8);
        const now = delivery.nextAt + jumps[made]!;
        delivery = recordOutcome(claimDelivery(delivery, 'c', now), failed, now, 0.5, timing);
        if (isPending(delivery)) {
          expect(Number.isFinite(delivery.dueAt)).toBe(true);
          expect(delivery.nextAt).toBeLessThanOrEqual(delivery.deadline);
        }
      }
      expect(delivery.status).toBe('EXHAUSTED');
    },
  );

  test('ends a schedule of one attempt after that attempt', () => {
    const once = { ...timing, schedule: parseSchedule('0') };
    expect(recordOutcome(fresh(), failed, NOW, 0.5, once)).toMatchObject({ status: 'EXHAUSTED', attempts: 1 });
  });

  test('gives a schedule longer than 30 hours a later deadline', () => {
    expect(deliveryLifetime(timing.schedule)).toBe(30 * HOUR);
    expect(deliveryLifetime([0, 100 * HOUR])).toBe(102 * HOUR);
  });
});

describe('planAttempt and afterSweep', () => {
  test('plans a delayed message for an attempt within 900 s, and the sweep for a later attempt', () => {
    expect(planAttempt(NOW + 5_200, NOW, timing.marginMs)).toEqual({
      delaySeconds: 6,
      dueAt: NOW + 5_200 + 5 * MINUTE,
    });
    expect(planAttempt(NOW - MINUTE, NOW, timing.marginMs)).toEqual({ delaySeconds: 0, dueAt: NOW + 5 * MINUTE });
    expect(planAttempt(NOW + 900 * SECOND, NOW, timing.marginMs)).toMatchObject({ delaySeconds: 900 });
    expect(planAttempt(NOW + 901 * SECOND, NOW, timing.marginMs)).toEqual({
      delaySeconds: undefined,
      dueAt: NOW + 901 * SECOND - 90 * SECOND,
    });
  });

  test('doubles the margin each time a message seems lost: 5, 10, 20 minutes', () => {
    expect([0, 1, 2, 3, 6, 50].map((sweeps) => marginAfter(sweeps, timing.marginMs) / MINUTE)).toEqual([
      5, 10, 20, 40, 320, 320,
    ]);
    const first = afterSweep(fresh(), NOW + 5 * MINUTE, timing);
    expect(first).toMatchObject({ sweeps: 1, dueAt: NOW + 15 * MINUTE, nextAt: NOW });
    expect(afterSweep(first, NOW + 15 * MINUTE, timing)).toMatchObject({ sweeps: 2, dueAt: NOW + 35 * MINUTE });
  });

  test('does not count a message as lost that the sweep sent before its time', () => {
    const far = postponeDelivery(fresh(), NOW + HOUR, NOW, timing);
    expect(far.dueAt).toBe(NOW + HOUR - 90 * SECOND);
    expect(afterSweep(far, far.dueAt + 30 * SECOND, timing)).toMatchObject({
      sweeps: 0,
      dueAt: NOW + HOUR + 5 * MINUTE,
    });
  });

  test('checks a claimed delivery again at the end of its lease', () => {
    const claimed = claimDelivery(fresh(), 'c', NOW);
    expect(isClaimed(claimed, NOW + 59 * SECOND)).toBe(true);
    expect(isClaimed(claimed, NOW + 60 * SECOND)).toBe(false);
    expect(afterSweep(claimed, NOW + 5 * SECOND, timing)).toMatchObject({
      sweeps: 0,
      dueAt: NOW + 60 * SECOND,
      claim: 'c',
    });
  });

  test('counts no attempt when a delivery is postponed', () => {
    const reserved = { slot: NOW + MINUTE, slotRevision: 3 };
    const put = postponeDelivery(claimDelivery(fresh(), 'c', NOW - HOUR), NOW + MINUTE, NOW, timing, reserved);
    expect(put).toMatchObject({ attempts: 0, nextAt: NOW + MINUTE, ...reserved });
    expect(put).not.toHaveProperty('claim');
  });
});

describe('recordOutcome', () => {
  test('ends a delivery after success, and counts a failure and releases the lease', () => {
    const mine = claimDelivery(fresh(), 'c', NOW);
    expect(recordOutcome(mine, { outcome: 'delivered' }, NOW, 0.5, timing)).toEqual({
      eventId: 'msg_1',
      endpointId: 'ep_1',
      event: 'comment.add',
      status: 'DELIVERED',
      attempts: 1,
      uncounted: 0,
      sweeps: 0,
      deadline: NOW + 30 * HOUR,
      createdAt: NOW,
      shard: 3,
    });
    for (const outcome of ['failed', 'timeout', 'refused'] as const) {
      const after = recordOutcome(mine, { outcome }, NOW, 0.5, timing);
      expect(after).toMatchObject({
        status: 'PENDING',
        attempts: 1,
        nextAt: NOW + 5 * SECOND,
        dueAt: NOW + 5 * SECOND + 5 * MINUTE,
      });
      expect(after).not.toHaveProperty('claim');
      expect(after).not.toHaveProperty('leaseUntil');
    }
  });

  test('restores the former state after a failed resend', () => {
    const delivered = recordOutcome(fresh(), { outcome: 'delivered' }, NOW, 0.5, timing);
    const exhausted = attemptsOf(fresh()).end;
    const cancelled = endDelivery(fresh(), 'CANCELLED');
    for (const state of [delivered, exhausted, cancelled]) {
      const resent = resendDelivery(state, NOW + HOUR, timing);
      expect(resent).toMatchObject({ status: 'PENDING', nextAt: NOW + HOUR });
      expect(recordOutcome(resent, failed, NOW + HOUR, 0.5, timing)).toEqual({
        ...state,
        attempts: state.attempts + 1,
        uncounted: state.uncounted + 1,
        deadline: resent.deadline,
      });
      expect(recordOutcome(resent, { outcome: 'delivered' }, NOW + HOUR, 0.5, timing)).toMatchObject({
        status: 'DELIVERED',
        attempts: state.attempts + 1,
      });
    }
  });

  test('keeps the schedule of a pending delivery after a resend', () => {
    const waiting = recordOutcome(
      recordOutcome(fresh(), failed, NOW, 0.5, timing) as PendingDelivery,
      failed,
      NOW,
      0.5,
      timing,
    ) as PendingDelivery;
    const resent = resendDelivery(waiting, NOW + MINUTE, timing);
    expect(resent).toMatchObject({ nextAt: NOW + MINUTE, attempts: 2 });
    // A second resend has no effect if the attempt of the first one was not made yet.
    expect(resendDelivery(resent, NOW + MINUTE, timing)).toEqual(resent);
    const after = recordOutcome(resent, failed, NOW + MINUTE, 0.5, timing) as PendingDelivery;
    expect(after).toMatchObject({ status: 'PENDING', attempts: 3, nextAt: waiting.nextAt });
    // The next attempt is the fourth of the schedule, and the fifth of the delivery.
    expect(recordOutcome(after, failed, NOW + 5 * MINUTE, 0.5, timing)).toMatchObject({
      attempts: 4,
      nextAt: NOW + 5 * MINUTE + 30 * MINUTE,
    });
  });

  test('runs the whole schedule of a recovered delivery again, with new attempt numbers', () => {
    const exhausted = attemptsOf(fresh()).end;
    const recovered = recoverDelivery(exhausted, NOW + 48 * HOUR, timing);
    expect(nextAttemptNumber(recovered)).toBe(9);
    expect(attemptsOf(recovered).end).toMatchObject({ status: 'EXHAUSTED', attempts: 16 });
  });
});

test('isBasicTarget accepts the two reserved ids only', () => {
  expect(['ep_basic_raw', 'ep_basic_processed', 'ep_1', 'toString', ''].map(isBasicTarget)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

describe('matchesEndpoint and matchingBasicTargets', () => {
  const endpoint = { disabled: false };

  test('match everything for an endpoint without filters, and nothing for a disabled one', () => {
    for (const event of eventTypes) {
      expect(matchesEndpoint({ event }, endpoint)).toBe(true);
      expect(matchesEndpoint({ event, channels: ['a'] }, endpoint)).toBe(true);
      expect(matchesEndpoint({ event }, { disabled: true })).toBe(false);
      expect(matchesEndpoint({ event: 'comment_annotation.access_mode_change' }, endpoint)).toBe(false);
    }
  });

  test('match only the types in filterTypes', () => {
    expect(
      matchesEndpoint({ event: 'comment.add' }, { ...endpoint, filterTypes: ['comment.update', 'comment.add'] }),
    ).toBe(true);
    expect(
      matchesEndpoint({ event: 'comment.delete' }, { ...endpoint, filterTypes: ['comment.update', 'comment.add'] }),
    ).toBe(false);
  });

  test('match channels by overlap, and no event without channels for an endpoint with channels', () => {
    const listening = { ...endpoint, channels: ['a', 'b'] };
    expect(
      [['b', 'c'], ['c'], [], undefined].map((channels) =>
        matchesEndpoint({ event: 'comment.add', channels }, listening),
      ),
    ).toEqual([true, false, false, false]);
  });

  test('match basic targets with a URL for types whose trigger is on, while the service is on', () => {
    const config = (useWebhookService: boolean, urls: object, triggers: Record<string, boolean>) => ({
      useWebhookService,
      webhookServiceConfig: { ...initialBasicConfig.webhookServiceConfig, ...urls, triggers },
    });
    const both = { rawNotificationUrl: 'https://a.test', processedNotificationUrl: 'https://b.test' };
    const on = { 'comment.add': true, 'comment.update': false };
    const event = { event: 'comment.add' };
    expect(matchingBasicTargets(event, config(true, both, on))).toEqual(['ep_basic_raw', 'ep_basic_processed']);
    expect(matchingBasicTargets(event, config(true, { processedNotificationUrl: 'https://b.test' }, on))).toEqual([
      'ep_basic_processed',
    ]);
    expect(matchingBasicTargets({ event: 'comment.update' }, config(true, both, on))).toEqual([]);
    expect(matchingBasicTargets({ event: 'constructor' }, config(true, both, on))).toEqual([]);
    expect(matchingBasicTargets(event, config(false, both, on))).toEqual([]);
    expect(matchingBasicTargets(event, undefined)).toEqual([]);
  });
});
