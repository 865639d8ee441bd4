import { jest } from '@jest/globals';

/** Runs `work` with a clock that stands still. Time limits of requests and cached values do not end. Real timers run on. */
export async function withStillClock<T>(work: () => Promise<T>): Promise<T> {
  const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now());
  try {
    return await work();
  } finally {
    clock.mockRestore();
  }
}
