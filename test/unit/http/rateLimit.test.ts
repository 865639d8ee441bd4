import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type Bucket,
  fullBucket,
  type Limit,
  mergeSharedBucket,
  takeTokens,
  timeOf,
  tokensOf,
  tokensPerWrite,
} from '../../../lib/http/rules/rateLimit.ts';
import { testProperty } from '../../support/testProperty.ts';
import { times } from '../../support/times.ts';

/** The largest rounding error that sums of fractions may have. */
const TINY = 1e-3;
const NOW = 1_800_000_000_000;
const limits: fc.Arbitrary<Limit> = fc.record({
  perSecond: fc.integer({ min: 1, max: 2_000 }),
  burstSeconds: fc.integer({ min: 1, max: 30 }),
});
/** The pauses between calls, in milliseconds. */
const pauses = fc.array(fc.integer({ min: 0, max: 500 }), { minLength: 1, maxLength: 300 });

/** Takes tokens until the bucket is empty, without a pause. Returns how many there were. */
function drain(bucket: Bucket, limit: Limit, now: number): { taken: number; bucket: Bucket; retryAfter: number } {
  for (let taken = 0; ; taken++) {
    const after = takeTokens(bucket, limit, now);
    if ('retryAfter' in after) return { taken, bucket, retryAfter: after.retryAfter };
    bucket = after;
  }
}

describe('a token bucket', () => {
  testProperty(
    'allows exactly its burst at once',
    [limits],
    (limit) => {
      expect(drain(fullBucket, limit, NOW).taken).toBe(limit.perSecond * limit.burstSeconds);
    },
    { numRuns: 50 },
  );

  testProperty('never allows more than its burst and its rate', [limits, pauses], (limit, waits) => {
    let [now, taken, bucket] = [NOW, 0, fullBucket];
    for (const wait of waits) {
      now += wait;
      for (let i = 0; i < 20; i++) {
        const after = takeTokens(bucket, limit, now);
        if ('retryAfter' in after) break;
        bucket = after;
        taken++;
      }
    }
    expect(taken).toBeLessThanOrEqual(Math.floor(((now - NOW) / 1000 + limit.burstSeconds) * limit.perSecond + TINY));
  });

  testProperty(
    'has a token exactly after the returned time',
    [limits, fc.integer({ min: 0, max: 5_000 })],
    (limit, later) => {
      const { bucket, retryAfter } = drain(drain(fullBucket, limit, NOW).bucket, limit, NOW + later);
      expect(takeTokens(bucket, limit, NOW + later + retryAfter)).not.toHaveProperty('retryAfter');
      if (retryAfter > 1) expect(takeTokens(bucket, limit, NOW + later + retryAfter - 2)).toHaveProperty('retryAfter');
    },
    { numRuns: 50 },
  );

  testProperty(
    'exceeds its limit by at most two unwritten batches of calls for each sharing process',
    [
      fc.record({ perSecond: fc.integer({ min: 1, max: 300 }), burstSeconds: fc.integer({ min: 1, max: 5 }) }),
      fc.integer({ min: 1, max: 8 }),
      fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 20 }), fc.integer({ min: 1, max: 60 })), {
        maxLength: 200,
      }),
    ],
    (limit, processes, turns) => {
      const views: Bucket[] = times(processes, () => fullBucket);
      let [shared, now, taken] = [0, NOW, 0];
      for (const [which, wait, calls] of turns) {
        now += wait;
        for (let i = 0; i < calls; i++) {
          const after = takeTokens(views[which % processes]!, limit, now);
          if ('retryAfter' in after) break;
          taken++;
          const due = after.unwrittenTokens >= tokensPerWrite(limit);
          if (due) shared = Math.max(shared, now) + timeOf(after.unwrittenTokens, limit);
          views[which % processes] = due ? mergeSharedBucket(after, after.unwrittenTokens, shared, limit) : after;
        }
      }
      const allowed = ((now - NOW) / 1000 + limit.burstSeconds) * limit.perSecond;
      expect(taken).toBeLessThanOrEqual(allowed + 2 * processes * tokensPerWrite(limit) + 1);
    },
  );

  test.each([
    [1, 1],
    [9, 1],
    [10, 1],
    [50, 5],
    [500, 50],
  ])('with a limit of %i calls per second writes to the shared bucket every %i calls', (perSecond, calls) => {
    expect(tokensPerWrite({ perSecond, burstSeconds: 1 })).toBe(calls);
  });
});

describe('the tokens of a write', () => {
  test.each([
    [{ items: 0 }, 500, 1],
    [{ items: 10 }, 500, 1],
    [{ items: 11 }, 500, 2],
    [{ items: 500 }, 100 * 1024, 60],
    [{ items: 0 }, 60 * 1024, 6],
    [{ items: 30, events: 2 }, 500, 3],
    [{ items: 30, events: 7 }, 500, 7],
  ])('of %j with a body of %i bytes are %i', (work, bytes, tokens) => {
    expect(tokensOf(work, bytes)).toBe(tokens);
  });

  testProperty(
    'of users never come from the last fifth of the bucket of the API key',
    [limits, fc.array(fc.integer({ min: 1, max: 5_000 }), { maxLength: 50 })],
    (limit, calls) => {
      let bucket = fullBucket;
      for (const tokens of calls) {
        const after = takeTokens(bucket, limit, NOW, { tokens, taken: 0, isOfUsers: true });
        if (!('retryAfter' in after)) bucket = after;
      }
      expect(bucket.used).toBeLessThanOrEqual(limit.perSecond * limit.burstSeconds * 0.8 + TINY);
    },
  );

  testProperty(
    'are available exactly after the returned time, however many there are',
    [limits, fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 1, max: 100_000 }), fc.boolean()],
    (limit, first, tokens, isOfUsers) => {
      const [one, two] = [first, tokens].map((count) => ({ tokens: count, taken: 0, isOfUsers }));
      const bucket = takeTokens(fullBucket, limit, NOW, one) as Bucket;
      expect(bucket).not.toHaveProperty('retryAfter');
      const after = takeTokens(bucket, limit, NOW, two);
      if (!('retryAfter' in after)) return;
      expect(takeTokens(bucket, limit, NOW + after.retryAfter, two)).not.toHaveProperty('retryAfter');
      if (after.retryAfter > 1)
        expect(takeTokens(bucket, limit, NOW + after.retryAfter - 2, two)).toHaveProperty('retryAfter');
    },
  );
});
