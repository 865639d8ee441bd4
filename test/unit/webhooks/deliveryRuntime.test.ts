import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addFailure, type Failing, findDueWarning, hasFailedTooLong } from '../../../lib/webhooks/rules/autoDisable.ts';
import {
  type Breaker,
  breakerPauses,
  checkBreaker,
  closedBreaker,
  returnProbe,
  sampleWeight,
  takeProbe,
} from '../../../lib/webhooks/rules/breaker.ts';
import { afterAttempt, type EndpointHealth, healthAt } from '../../../lib/webhooks/rules/health.ts';
import {
  checkSlot,
  prepareAhead,
  reserveAhead,
  SLOT_TOLERANCE,
  slotInterval,
} from '../../../lib/webhooks/rules/limiter.ts';
import { parseSchedule, planAttempt } from '../../../lib/workers/rules/schedule.ts';
import { testProperty } from '../../support/testProperty.ts';
import { times } from '../../support/times.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 10, 20, 9);
const schedule = parseSchedule('0,5,300,1800,7200,18000,36000,36000');
const pauses = breakerPauses(schedule);

/** Returns a generator of pseudorandom numbers in [0, 1). The same seed always gives the same numbers. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const healthy: EndpointHealth = healthAt(undefined, 1);
const attempted = (health: EndpointHealth, delivered: boolean, now: number, { probe = false, random = 0.5 } = {}) =>
  afterAttempt(health, { delivered, isProbe: probe, random, now }, pauses);
const run = (results: string, health = healthy, from = NOW, every = SECOND) =>
  Array.from(results).reduce(
    (currentHealth, result, index) => attempted(currentHealth, result === 's', from + index * every),
    health,
  );

describe('the circuit breaker', () => {
  test('opens for 30 s after 10 failures in a row, and not after 9', () => {
    expect(checkBreaker(run('f'.repeat(9)).breaker, NOW + 9 * SECOND)).toBe('closed');
    const open = run('f'.repeat(10));
    expect(checkBreaker(open.breaker, NOW + 10 * SECOND)).toEqual({ pausedUntil: NOW + 9 * SECOND + 30 * SECOND });
    expect(checkBreaker(open.breaker, NOW + 39 * SECOND)).toBe('probe');
  });

  test('opens when 70 % of at least 10 attempts within 5 minutes fail', () => {
    expect(checkBreaker(run('ffsffsffsf').breaker, NOW + 10 * SECOND)).toMatchObject({
      pausedUntil: expect.any(Number),
    });
    expect(checkBreaker(run('fsfsfsfsfsfsfsfsfsfs').breaker, NOW + 20 * SECOND)).toBe('closed');
    // The same share of failures does not open the breaker if they are spread over more than 5 minutes.
    expect(checkBreaker(run('ffsffsffsf', healthy, NOW, MINUTE).breaker, NOW + 10 * MINUTE)).toBe('closed');
  });

  testProperty(
    'never opens for occasional failures',
    [fc.integer()],
    (seed) => {
      const random = randomNumbers(seed);
      let health = healthy;
      for (let i = 0; i < 2_000 && !health.breaker.open; i++)
        health = attempted(health, random() > 0.1, NOW + i * SECOND, { random: random() });
      expect(health.breaker.open).toBeUndefined();
    },
    { numRuns: 20 },
  );

  test('doubles the pause after each failed probe, up to 15 minutes, and closes after a successful one', () => {
    let health = run('f'.repeat(10));
    let now = NOW + 9 * SECOND;
    const lengths: number[] = [];
    for (let i = 0; i < 8; i++) {
      const { breaker } = health;
      lengths.push((breaker.open!.until - now) / SECOND);
      now = breaker.open!.until;
      health = attempted({ ...health, breaker: takeProbe(breaker, now) }, false, now, { probe: true });
    }
    expect(lengths).toEqual([30, 60, 120, 240, 480, 900, 900, 900]);
    const closed = attempted({ ...health, breaker: takeProbe(health.breaker, now) }, true, now, { probe: true });
    expect(closed.breaker).toEqual(closedBreaker);
    expect(closed.failing).toBeUndefined();
  });

  test('blocks all other attempts during a probe, and allows another probe if the first one never ends', () => {
    const open = run('f'.repeat(10)).breaker;
    const tried = takeProbe(open, open.open!.until);
    expect(checkBreaker(tried, open.open!.until + 15 * SECOND)).toEqual({
      pausedUntil: open.open!.until + 30 * SECOND,
    });
    expect(checkBreaker(tried, open.open!.until + 30 * SECOND)).toBe('probe');
    const returned = returnProbe(tried, open.open!.until + SECOND);
    expect(checkBreaker(returned, open.open!.until + SECOND)).toBe('probe');
    expect(returned.open!.pauseMs).toBe(open.open!.pauseMs);
  });

  test('ignores attempts that began before it opened, without a write', () => {
    const open = run('f'.repeat(10));
    expect(attempted(open, false, NOW + 12 * SECOND)).toBe(open);
    expect(attempted(open, true, NOW + 12 * SECOND).breaker).toBe(open.breaker);
  });

  test('never pauses longer than the longest step of the schedule', () => {
    expect(pauses).toEqual({ first: 30 * SECOND, longest: 15 * MINUTE });
    expect(breakerPauses(parseSchedule('0,1,2,4'))).toEqual({ first: 4 * SECOND, longest: 4 * SECOND });
    expect(breakerPauses(parseSchedule('0'))).toEqual({ first: SECOND, longest: SECOND });
  });
});

describe('afterAttempt', () => {
  test('returns the same value for a healthy endpoint, which costs no write', () => {
    expect(attempted(healthy, true, NOW)).toBe(healthy);
    const recovered = run('fs');
    expect(attempted(recovered, true, NOW + 10 * MINUTE)).toBe(recovered);
  });

  test('starts with fresh health after a change of the endpoint', () => {
    const open = run('f'.repeat(10));
    expect(healthAt(open, 1)).toBe(open);
    expect(healthAt(open, 2)).toEqual({ about: 2, breaker: closedBreaker, writtenAt: 0 });
  });

  test('writes only a sample of many attempts, and still opens the breaker', () => {
    const random = randomNumbers(7);
    let health = healthy;
    let writes = 0;
    const step = (delivered: boolean, now: number) => {
      const next = attempted(health, delivered, now, { random: random() });
      if (next !== health) writes++;
      health = next;
    };
    // Simulates 1,000 attempts per second, of which every hundredth fails.
    for (let i = 0; i < 60_000; i++) step(i % 100 !== 0, NOW + i);
    expect(writes).toBeLessThan(60_000 / 25);
    expect(health.breaker.open).toBeUndefined();
    let until = 0;
    for (let i = 60_000; !health.breaker.open; until = ++i) step(false, NOW + i);
    expect(until - 60_000).toBeLessThan(3_000);
  });

  testProperty(
    'counts about as many attempts as there were when it samples',
    [fc.integer()],
    (seed) => {
      const random = randomNumbers(seed);
      let breaker: Breaker = { inARow: 0, window: { since: NOW, attempts: 0, failures: 0 } };
      for (let i = 0; i < 20_000; i++) {
        const weight = sampleWeight(breaker, NOW + 1, random());
        breaker = { inARow: 0, window: { since: NOW, attempts: breaker.window!.attempts + weight, failures: 0 } };
      }
      expect(breaker.window!.attempts).toBeGreaterThan(12_000);
      expect(breaker.window!.attempts).toBeLessThan(28_000);
    },
    { numRuns: 20 },
  );

  test('always writes a success that follows a long failure', () => {
    const failing: Failing = { since: NOW, last: NOW, days: 1, warned: 0 };
    const busy: EndpointHealth = {
      about: 1,
      breaker: { inARow: 3, window: { since: NOW + DAY, attempts: 50_000, failures: 10 } },
      failing,
      writtenAt: NOW,
    };
    expect(attempted(busy, true, NOW + DAY + MINUTE, { random: 0.999 }).failing).toBeUndefined();
    expect(attempted(busy, false, NOW + DAY + MINUTE, { random: 0.999 })).toBe(busy);
  });
});

describe('automatic disabling', () => {
  /**
   * Returns the failure state of an endpoint that has failed for `time` milliseconds, once every 20 minutes.
   */
  const failingFor = (time: number) => {
    let failing: Failing | undefined;
    for (let now = NOW; now <= NOW + time; now += 20 * MINUTE) failing = addFailure(failing, now);
    return failing!;
  };

  test('is due after five days without a success, and not a minute earlier', () => {
    expect(hasFailedTooLong(failingFor(5 * DAY), NOW + 5 * DAY)).toBe(true);
    expect(hasFailedTooLong(failingFor(5 * DAY), NOW + 5 * DAY - MINUTE)).toBe(false);
  });

  test('is never due for failures on one day only', () => {
    const once = failingFor(8 * HOUR);
    expect(once.days).toBe(1);
    expect(hasFailedTooLong(once, NOW + 30 * DAY)).toBe(false);
    expect(findDueWarning(once, NOW + 30 * DAY)).toBeUndefined();
  });

  test('counts a failure only half a day or more after the last counted failure', () => {
    const first = addFailure(undefined, NOW);
    expect(addFailure(first, NOW + 12 * HOUR - 1)).toBe(first);
    expect(addFailure(first, NOW + 12 * HOUR)).toEqual({ since: NOW, last: NOW + 12 * HOUR, days: 1, warned: 0 });
    expect(addFailure(first, NOW + 16 * HOUR)).toEqual({ since: NOW, last: NOW + 16 * HOUR, days: 2, warned: 0 });
  });

  testProperty(
    'is never due for sporadic failures',
    [fc.integer(), fc.integer({ min: 1, max: 100 })],
    (seed, hours) => {
      const random = randomNumbers(seed);
      let health = healthy;
      let isExhausted = false;
      // For 30 days the endpoint fails at random. It succeeds at least once in four days.
      for (let time = NOW, succeeded = NOW; time < NOW + 30 * DAY; time += random() * hours * HOUR * 0.1) {
        const delivered = time - succeeded > 4 * DAY * random();
        if (delivered) succeeded = time;
        health = attempted(health, delivered, time, { random: random() });
        isExhausted ||= health.failing !== undefined && hasFailedTooLong(health.failing, time);
      }
      expect(isExhausted).toBe(false);
    },
    { numRuns: 30 },
  );

  test('comes after one warning on day 1 and one on day 3', () => {
    const results: [number, string][] = [];
    let failing: Failing | undefined;
    for (let time = NOW; results.length < 3; time += HOUR) {
      failing = addFailure(failing, time);
      const warning = findDueWarning(failing, time);
      if (warning) failing = { ...failing, warned: warning };
      if (warning || hasFailedTooLong(failing, time))
        results.push([(time - NOW) / DAY, warning ? `day ${warning}` : 'disabled']);
    }
    expect(results).toEqual([
      [1, 'day 1'],
      [3, 'day 3'],
      [5, 'disabled'],
    ]);
  });

  test('sends only the latest of several due warnings', () => {
    expect(findDueWarning({ since: NOW, last: NOW, days: 2, warned: 0 }, NOW + 4 * DAY)).toBe(3);
    expect(findDueWarning({ since: NOW, last: NOW, days: 2, warned: 3 }, NOW + 4 * DAY)).toBeUndefined();
  });
});

describe('the rate limiter', () => {
  /** Returns a function that reserves the next slot, like the store does in one write. */
  function slots() {
    let nextSlot: number | undefined;
    return (step: number, now: number) => {
      const slot = nextSlot === undefined || nextSlot < now - SLOT_TOLERANCE ? now : nextSlot;
      nextSlot = slot + step;
      return slot;
    };
  }

  /** Sends a backlog of deliveries. Returns the times at which they were sent, and how often one was deferred. */
  function simulate(
    rateLimit: number,
    deliveries: number,
    random: () => number,
  ): { sends: number[]; deferrals: number } {
    const reserve = slots();
    interface Coming {
      readonly at: number;
      readonly slot: number | undefined;
    }
    // The list is sorted from the latest to the earliest delivery, so that `pop` returns the next one.
    const coming: Coming[] = times(deliveries, () => ({
      at: NOW + random() * 500,
      slot: undefined,
    })).sort((a, b) => b.at - a.at);
    const add = (delivery: Coming) => {
      let [low, high] = [0, coming.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (coming[middle]!.at > delivery.at) low = middle + 1;
        else high = middle;
      }
      coming.splice(low, 0, delivery);
    };
    const sends: number[] = [];
    let deferrals = 0;
    while (coming.length > 0) {
      const { at: arrivedAt, slot: reserved } = coming.pop()!;
      // The delivery must first be read, and the clocks of workers differ.
      const clock = arrivedAt + random() * 20;
      let slot = reserved;
      let decision = slot === undefined ? 'expired' : checkSlot(slot, clock);
      while (decision === 'expired') {
        slot = reserve(slotInterval(rateLimit), clock);
        decision = checkSlot(slot, clock);
      }
      if (typeof decision === 'string') {
        sends.push(Math.max(clock, slot!) + random() * 10);
        continue;
      }
      deferrals++;
      // SQS delays by whole seconds, and is up to 400 ms late. Delays of more than 900 s are left to the sweep.
      const { delaySeconds } = planAttempt(decision.deferUntil, clock, 0);
      add({
        at: (delaySeconds === undefined ? decision.deferUntil : clock + delaySeconds * SECOND) + random() * 400,
        slot,
      });
    }
    return { sends: sends.sort((a, b) => a - b), deferrals };
  }

  /** Returns the largest number of sends in any second. */
  const peak = (sends: readonly number[]) => {
    let [largest, first] = [0, 0];
    for (const [index, time] of sends.entries()) {
      while (sends[first]! <= time - SECOND) first++;
      largest = Math.max(largest, index - first + 1);
    }
    return largest;
  };

  test.each([10, 50, 200])(
    'keeps a backlog at %d per second below 1.1 times the limit in any second, and above 0.9 on average',
    (rateLimit) => {
      const { sends, deferrals } = simulate(rateLimit, rateLimit * 60, randomNumbers(rateLimit));
      expect(sends).toHaveLength(rateLimit * 60);
      expect(peak(sends)).toBeLessThanOrEqual(rateLimit * 1.1);
      expect(sends.length / ((sends.at(-1)! - sends[0]!) / SECOND)).toBeGreaterThan(0.9 * rateLimit);
      expect(deferrals).toBeGreaterThan(0);
    },
  );

  test.each([1, 2, 3, 5, 9])('keeps a backlog at %d per second at its limit in any second', (rateLimit) => {
    const { sends } = simulate(rateLimit, rateLimit * 20, randomNumbers(rateLimit));
    expect(peak(sends)).toBeLessThanOrEqual(rateLimit);
    expect(sends.length / ((sends.at(-1)! - sends[0]!) / SECOND)).toBeGreaterThan(0.9 * rateLimit);
  });

  test('reserves slots further ahead after each slot that expired before its use', () => {
    expect([0, 1, 2, 3, 20].map(reserveAhead)).toEqual([0, 50, 100, 200, 1_600]);
  });

  test('starts a request as long before its slot as the last preparation took, from 20 to 500 ms', () => {
    expect([0, 20, 21, 300, 9_000].map(prepareAhead)).toEqual([20, 20, 21, 300, 500]);
  });

  test('rejects an expired slot, because late deliveries together would exceed the limit', () => {
    expect(checkSlot(NOW - SLOT_TOLERANCE - 1, NOW)).toBe('expired');
    expect(checkSlot(NOW - SLOT_TOLERANCE, NOW)).toBe('wait');
    expect(checkSlot(NOW + 1_500, NOW)).toBe('wait');
    expect(checkSlot(NOW + MINUTE, NOW)).toEqual({ deferUntil: NOW + MINUTE - 1_500 });
  });
});
