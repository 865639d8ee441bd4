import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Failing, isGivenUp, stillFailing, warningDue } from '../../../lib/webhooks/rules/autoDisable.ts';
import {
  type Breaker,
  closedBreaker,
  checkGate,
  breakerPauses,
  takeProbe,
  resumeAt,
  sampleWeight,
} from '../../../lib/webhooks/rules/breaker.ts';
import { afterAttempt, type EndpointHealth, healthAt } from '../../../lib/webhooks/rules/health.ts';
import { slotInterval, SLOT_TOLERANCE, checkSlot } from '../../../lib/webhooks/rules/limiter.ts';
import { parseSchedule, planAttempt } from '../../../lib/webhooks/rules/schedule.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 10, 20, 9);
const schedule = parseSchedule('0,5,300,1800,7200,18000,36000,36000');
const pauses = breakerPauses(schedule);

/** Numbers from 0 to 1 that are the same in each run. */
function chances(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const well: EndpointHealth = healthAt(undefined, 1);
const attempted = (health: EndpointHealth, delivered: boolean, now: number, { probe = false, random = 0.5 } = {}) =>
  afterAttempt(health, { delivered, isProbe: probe, random, now }, pauses);
const run = (results: string, health = well, from = NOW, every = SECOND) =>
  [...results].reduce((known, result, index) => attempted(known, result === 's', from + index * every), health);

describe('the breaker', () => {
  test('deliveries 2.7: 10 failures in a row open it for 30 s; 9 do not', () => {
    expect(checkGate(run('f'.repeat(9)).breaker, NOW + 9 * SECOND)).toBe('closed');
    const open = run('f'.repeat(10));
    expect(checkGate(open.breaker, NOW + 10 * SECOND)).toEqual({ pausedUntil: NOW + 9 * SECOND + 30 * SECOND });
    expect(checkGate(open.breaker, NOW + 39 * SECOND)).toBe('probe');
  });

  test('deliveries 2.7: 70 % of at least 10 attempts within 5 minutes open it, also when successes lie between', () => {
    expect(checkGate(run('ffsffsffsf').breaker, NOW + 10 * SECOND)).toMatchObject({ pausedUntil: expect.any(Number) });
    expect(checkGate(run('fsfsfsfsfsfsfsfsfsfs').breaker, NOW + 20 * SECOND)).toBe('closed');
    // The same share in more than 5 minutes is not looked at as one.
    expect(checkGate(run('ffsffsffsf', well, NOW, MINUTE).breaker, NOW + 10 * MINUTE)).toBe('closed');
  });

  test('a failure now and then never opens it', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const random = chances(seed);
        let health = well;
        for (let i = 0; i < 2_000 && !health.breaker.open; i++)
          health = attempted(health, random() > 0.1, NOW + i * SECOND, { random: random() });
        expect(health.breaker.open).toBeUndefined();
      }),
      { numRuns: 20 },
    );
  });

  test('deliveries 2.7: each failed probe doubles the pause, up to 15 minutes; a successful one closes it', () => {
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

  test('deliveries 2.7: while one tries, all others are kept out; and let one in when it never ends', () => {
    const open = run('f'.repeat(10)).breaker;
    const tried = takeProbe(open, open.open!.until);
    expect(checkGate(tried, open.open!.until + 15 * SECOND)).toEqual({ pausedUntil: open.open!.until + 30 * SECOND });
    expect(checkGate(tried, open.open!.until + 30 * SECOND)).toBe('probe');
  });

  test('attempts that were under way when it opened neither close it nor make the pause longer, and cost no write', () => {
    const open = run('f'.repeat(10));
    expect(attempted(open, false, NOW + 12 * SECOND)).toBe(open);
    expect(attempted(open, true, NOW + 12 * SECOND).breaker).toBe(open.breaker);
  });

  test('those that were paused come back one after the other, none before the pause is over', () => {
    const { breaker } = run('f'.repeat(10));
    const times = [0, 0.5, 0.999].map((random) => resumeAt(breaker, NOW, random) - breaker.open!.until);
    expect(times).toEqual([0, 3_750, expect.closeTo(7_492, -1)]);
  });

  test('a short schedule, as in a test, is not stretched by long pauses', () => {
    expect(pauses).toEqual({ first: 30 * SECOND, longest: 15 * MINUTE });
    expect(breakerPauses(parseSchedule('0,1,2,4'))).toEqual({ first: 4 * SECOND, longest: 4 * SECOND });
    expect(breakerPauses(parseSchedule('0'))).toEqual({ first: SECOND, longest: SECOND });
  });
});

describe('what is known of an endpoint', () => {
  test('deliveries 2.9: a healthy endpoint costs no write', () => {
    expect(attempted(well, true, NOW)).toBe(well);
    const recovered = run('fs');
    expect(attempted(recovered, true, NOW + 10 * MINUTE)).toBe(recovered);
  });

  test('a change of the endpoint is a new beginning', () => {
    const open = run('f'.repeat(10));
    expect(healthAt(open, 1)).toBe(open);
    expect(healthAt(open, 2)).toEqual({ about: 2, breaker: closedBreaker, writtenAt: 0 });
  });

  test('of very many attempts only some cost a write, and the breaker opens all the same', () => {
    const random = chances(7);
    let health = well;
    let writes = 0;
    const step = (delivered: boolean, now: number) => {
      const next = attempted(health, delivered, now, { random: random() });
      if (next !== health) writes++;
      health = next;
    };
    // 1,000 attempts per second, every hundredth fails.
    for (let i = 0; i < 60_000; i++) step(i % 100 !== 0, NOW + i);
    expect(writes).toBeLessThan(60_000 / 25);
    expect(health.breaker.open).toBeUndefined();
    let until = 0;
    for (let i = 60_000; !health.breaker.open; until = ++i) step(false, NOW + i);
    expect(until - 60_000).toBeLessThan(3_000);
  });

  test('a sample stands for all: the window counts about as many as there were', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const random = chances(seed);
        let breaker: Breaker = { inARow: 0, window: { since: NOW, attempts: 0, failures: 0 } };
        for (let i = 0; i < 20_000; i++) {
          const weight = sampleWeight(breaker, NOW + 1, random());
          breaker = { inARow: 0, window: { since: NOW, attempts: breaker.window!.attempts + weight, failures: 0 } };
        }
        expect(breaker.window!.attempts).toBeGreaterThan(12_000);
        expect(breaker.window!.attempts).toBeLessThan(28_000);
      }),
      { numRuns: 20 },
    );
  });

  test('deliveries 2.9: a success after a long time of failures is written down for certain', () => {
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

describe('disabling an endpoint', () => {
  /** Fails every so often for a time; gives what is known then. */
  const failingFor = (time: number, every = 20 * MINUTE, from = NOW) => {
    let failing: Failing | undefined;
    for (let at = from; at <= from + time; at += every) failing = stillFailing(failing, at);
    return failing!;
  };

  test('facts B8: five days without a success disable it, a minute less does not', () => {
    expect(isGivenUp(failingFor(5 * DAY), NOW + 5 * DAY)).toBe(true);
    expect(isGivenUp(failingFor(5 * DAY), NOW + 5 * DAY - MINUTE)).toBe(false);
  });

  test('deliveries 2.9: failures on one day only never do, however long ago that was', () => {
    const once = failingFor(8 * HOUR);
    expect(once.days).toBe(1);
    expect(isGivenUp(once, NOW + 30 * DAY)).toBe(false);
    expect(warningDue(once, NOW + 30 * DAY)).toBeUndefined();
  });

  test('deliveries 2.9: failures count when they lie half a day apart', () => {
    const first = stillFailing(undefined, NOW);
    expect(stillFailing(first, NOW + 12 * HOUR - 1)).toBe(first);
    expect(stillFailing(first, NOW + 12 * HOUR)).toEqual({ since: NOW, last: NOW + 12 * HOUR, days: 1, warned: 0 });
    expect(stillFailing(first, NOW + 16 * HOUR)).toEqual({ since: NOW, last: NOW + 16 * HOUR, days: 2, warned: 0 });
  });

  test('deliveries 2.15 point 9: sporadic failures never disable it', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 1, max: 100 }), (seed, hours) => {
        const random = chances(seed);
        let health = well;
        let givenUp = false;
        // Failures of all kinds for 30 days, with a success at least every four days.
        for (let at = NOW, succeeded = NOW; at < NOW + 30 * DAY; at += random() * hours * HOUR * 0.1) {
          const delivered = at - succeeded > 4 * DAY * random();
          if (delivered) succeeded = at;
          health = attempted(health, delivered, at, { random: random() });
          givenUp ||= health.failing !== undefined && isGivenUp(health.failing, at);
        }
        expect(givenUp).toBe(false);
      }),
      { numRuns: 30 },
    );
  });

  test('deliveries 2.9: warnings come at day 1 and day 3, each once, before it is disabled', () => {
    const given: [number, string][] = [];
    let failing: Failing | undefined;
    for (let at = NOW; given.length < 3; at += HOUR) {
      failing = stillFailing(failing, at);
      const warning = warningDue(failing, at);
      if (warning) failing = { ...failing, warned: warning };
      if (warning || isGivenUp(failing, at)) given.push([(at - NOW) / DAY, warning ? `day ${warning}` : 'disabled']);
    }
    expect(given).toEqual([
      [1, 'day 1'],
      [3, 'day 3'],
      [5, 'disabled'],
    ]);
  });

  test('who was not seen for days gets the latest warning only', () => {
    expect(warningDue({ since: NOW, last: NOW, days: 2, warned: 0 }, NOW + 4 * DAY)).toBe(3);
    expect(warningDue({ since: NOW, last: NOW, days: 2, warned: 3 }, NOW + 4 * DAY)).toBeUndefined();
  });
});

describe('the rate limit', () => {
  /** The number of the table, with its one operation. */
  function slots() {
    let at: number | undefined;
    return (step: number, now: number) => {
      const slot = at === undefined || at < now - SLOT_TOLERANCE ? now : at;
      at = slot + step;
      return slot;
    };
  }

  /** Sends so many deliveries that come at once, and gives the times of all sends, and how often one was put off. */
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
    // The latest first.
    const coming: Coming[] = Array.from({ length: deliveries }, () => ({
      at: NOW + random() * 500,
      slot: undefined,
    })).sort((a, b) => b.at - a.at);
    const add = (one: Coming) => {
      let [low, high] = [0, coming.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (coming[middle]!.at > one.at) low = middle + 1;
        else high = middle;
      }
      coming.splice(low, 0, one);
    };
    const sends: number[] = [];
    let deferrals = 0;
    while (coming.length > 0) {
      const { at: came, slot: reserved } = coming.pop()!;
      // The worker reads the delivery, and asks for a slot with the clock of its own machine.
      const clock = came + random() * 20;
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
      // SQS knows whole seconds, and is up to 400 ms late; beyond 900 s the sweeper sends, at the second.
      const { delaySeconds } = planAttempt(decision.deferUntil, clock, 0);
      add({
        at: (delaySeconds === undefined ? decision.deferUntil : clock + delaySeconds * SECOND) + random() * 400,
        slot,
      });
    }
    return { sends: sends.sort((a, b) => a - b), deferrals };
  }

  /** The most sends within any second. */
  const peak = (sends: readonly number[]) => {
    let [most, first] = [0, 0];
    for (const [index, at] of sends.entries()) {
      while (sends[first]! <= at - SECOND) first++;
      most = Math.max(most, index - first + 1);
    }
    return most;
  };

  test.each([10, 50, 200])(
    'design 13: at %d per second, a minute of backlog never exceeds 1.1 times the limit in any second, and uses 0.9 of it',
    (rateLimit) => {
      const { sends, deferrals } = simulate(rateLimit, rateLimit * 60, chances(rateLimit));
      expect(sends).toHaveLength(rateLimit * 60);
      expect(peak(sends)).toBeLessThanOrEqual(rateLimit * 1.1);
      expect(sends.length / ((sends.at(-1)! - sends[0]!) / SECOND)).toBeGreaterThan(0.9 * rateLimit);
      expect(deferrals).toBeGreaterThan(0);
    },
  );

  test('a slot that is over is not used: what comes late together would exceed the limit', () => {
    expect(checkSlot(NOW - SLOT_TOLERANCE - 1, NOW)).toBe('expired');
    expect(checkSlot(NOW - SLOT_TOLERANCE, NOW)).toBe('wait');
    expect(checkSlot(NOW + 1_500, NOW)).toBe('wait');
    expect(checkSlot(NOW + MINUTE, NOW)).toEqual({ deferUntil: NOW + MINUTE - 1_500 });
  });
});
