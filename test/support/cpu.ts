/** The loop in `slowdownNow` takes this CPU time on a machine of reference speed. */
const REFERENCE_MILLISECONDS = 30;
const RUNS = 3;

/**
 * Returns the CPU time of `work` in milliseconds. It is the smallest time of at most three runs. No more runs follow one
 * that is below `limit`. A time at or above `limit` is converted to a machine of reference speed.
 * A busy or slow machine changes the result little. A quadratic algorithm makes it many times larger.
 */
export function cpuMilliseconds(work: () => unknown, { limit, runs = RUNS }: { limit: number; runs?: number }): number {
  let smallest = Infinity;
  for (let run = 0; run < runs && smallest >= limit; run++) {
    const from = process.cpuUsage();
    work();
    smallest = Math.min(smallest, comparableTo(limit, cpuMillisecondsSince(from)));
  }
  return smallest;
}

/** Converts a CPU time at or above `limit` to a machine of reference speed. Returns a smaller one as it is. */
export function comparableTo(limit: number, milliseconds: number): number {
  return milliseconds < limit ? milliseconds : milliseconds / slowdownNow();
}

/** Returns how many times slower this machine is now than a machine of reference speed. Returns at least 1. */
export function slowdownNow(): number {
  const from = process.cpuUsage();
  let hash = 0;
  for (let step = 0; step < 20_000_000; step++) hash = (Math.imul(hash ^ step, 0x01000193) + step) | 0;
  if (hash === 1) throw new Error('Unreachable. The condition keeps the loop from being optimised away');
  return Math.max(1, cpuMillisecondsSince(from) / REFERENCE_MILLISECONDS);
}

function cpuMillisecondsSince(from: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1_000;
}
