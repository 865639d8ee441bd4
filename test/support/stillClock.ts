const readClock = Date.now;
let stillAt = 0;
let running = 0;

// Code under test keeps references to `Date.now`. It must keep this function, which can stand still.
Date.now = () => (running > 0 ? stillAt : readClock());

/**
 * Runs `work` with a clock that stands still, now or at another time. Time limits of requests and cached values do not end. Real
 * timers run on.
 */
export async function withStillClock<T>(work: () => Promise<T>, at = readClock()): Promise<T> {
  if (running === 0) stillAt = at;
  running += 1;
  try {
    return await work();
  } finally {
    running -= 1;
  }
}
