import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Context } from 'aws-lambda';
import { retryOnConflict, withRetryContext } from '../../../lib/table/retryOnConflict.ts';
import { testHandler } from '../../support/endpoint.ts';
import { eventOf } from '../../support/requests.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { virtualTime } from '../../support/virtualTime.ts';

const conflict = async (): Promise<'conflict'> => 'conflict';
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

beforeAll(() => void (process.env.POWERTOOLS_LOG_LEVEL = 'SILENT'));
// The real clock stands still, so only the virtual one advances.
beforeEach(() => void jest.spyOn(Date, 'now').mockReturnValue(1_800_000_000_000));
afterEach(() => void jest.restoreAllMocks());

describe('retryOnConflict', () => {
  test('retries for 8 s with growing pauses, then throws ABORTED', async () => {
    const time = virtualTime();
    await expect(time.run(() => retryOnConflict(conflict))).rejects.toMatchObject({
      status: 'ABORTED',
      message: 'Other requests are changing the same resource. Send the request again.',
    });
    expect(sum(time.sleeps)).toBe(8_000);
    const full = time.sleeps.slice(0, -1);
    expect(full.length).toBeGreaterThan(10);
    expect(full).toEqual(full.toSorted((a, b) => a - b));
  });

  test('lets each of 60 writers of one item succeed although their attempts compete for one processor', async () => {
    const { sleep, clock, runAll } = virtualSchedule();
    let [version, busyUntil] = [0, 0];
    const write = () =>
      retryOnConflict(async () => {
        const read = version;
        busyUntil = Math.max(clock(), busyUntil) + 12;
        await sleep(busyUntil - clock());
        return version === read ? ++version : 'conflict';
      });
    await withRetryContext({ clock, sleep, random: seededRandom(1) }, () => runAll(Array.from({ length: 60 }, write)));
    expect(version).toBe(60);
  });

  test('pauses for a random part of the maximum pause', async () => {
    const draws = [0, 0.25, 0.999];
    const time = virtualTime({ random: () => draws.shift() ?? 0.5 });
    let tries = 0;
    expect(await time.run(() => retryOnConflict(async () => (++tries === 4 ? 'done' : 'conflict')))).toBe('done');
    expect(time.sleeps).toEqual([0, 0.25 * 80, 0.999 * 160]);
  });

  test('ends before 8 s when the function has less time left', async () => {
    const time = await withStillClock(async () => virtualTime({ until: Date.now() + 500 }));
    await expect(time.run(() => retryOnConflict(conflict))).rejects.toMatchObject({ status: 'ABORTED' });
    expect(sum(time.sleeps)).toBe(500);
  });

  test('stops nested retries at the time limit of the outer retries', async () => {
    const time = virtualTime();
    await expect(time.run(() => retryOnConflict(() => retryOnConflict(conflict)))).rejects.toMatchObject({
      status: 'ABORTED',
    });
    expect(sum(time.sleeps)).toBe(8_000);
  });

  test('does not retry after an error that is not a conflict', async () => {
    const time = virtualTime();
    await expect(
      time.run(() =>
        retryOnConflict(async () => {
          throw new Error('The table is away');
        }),
      ),
    ).rejects.toThrow('The table is away');
    expect(time.sleeps).toEqual([]);
  });

  test('ends early enough that a request answers ABORTED instead of DEADLINE_EXCEEDED', async () => {
    const handler = testHandler({ run: () => retryOnConflict(conflict) });
    const time = virtualTime();
    const { statusCode, body } = await time.run(() =>
      handler(eventOf('{"data":{}}'), { awsRequestId: 'aws', getRemainingTimeInMillis: () => 2_000 } as Context),
    );
    expect([statusCode, JSON.parse(body ?? '').error.status]).toEqual([409, 'ABORTED']);
    expect(sum(time.sleeps)).toBeLessThanOrEqual(500);
  });
});

/** Returns a clock that advances to the end of the next sleep when all of the work sleeps. */
function virtualSchedule() {
  let now = 0;
  const sleepers: { readonly until: number; readonly wake: () => void }[] = [];
  return {
    clock: () => now,
    sleep: (milliseconds: number) =>
      new Promise<void>((wake) => void sleepers.push({ until: now + milliseconds, wake })),
    runAll: async (works: readonly Promise<unknown>[]) => {
      const results = Promise.all(works);
      for (let next; await setImmediate(), (next = sleepers.sort((a, b) => b.until - a.until).pop());) {
        now = next.until;
        next.wake();
      }
      return results;
    },
  };
}

/** Returns a function that returns the same random numbers in each run. */
function seededRandom(seed: number): () => number {
  return () => (seed = (seed * 1_664_525 + 1_013_904_223) % 2 ** 32) / 2 ** 32;
}
