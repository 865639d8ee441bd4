import { activeSimulation } from './simulation.ts';

const readClock = Date.now;
let stillAt = 0;
let stepMilliseconds = 0;
let running = 0;

// Code under test keeps references to `Date.now`. It must keep this function, which can stand still or be simulated.
Date.now = () => activeSimulation.getStore()?.clock() ?? (running > 0 ? (stillAt += stepMilliseconds) : readClock());

/**
 * Runs `work` with a clock that stands still, now or at another time, or that moves on by `step` milliseconds with each
 * reading. Without a step, time limits of requests and cached values do not end. Real timers run on.
 */
export async function withStillClock<T>(work: () => Promise<T>, at = readClock(), step = 0): Promise<T> {
  if (running === 0) [stillAt, stepMilliseconds] = [at, step];
  running += 1;
  try {
    return await work();
  } finally {
    running -= 1;
  }
}
