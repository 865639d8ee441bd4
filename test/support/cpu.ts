/** The loop in `slowdownNow` takes this CPU time on a machine of reference speed. */
const REFERENCE_MILLISECONDS = 30;
const RUNS = 3;

/**
 * Returns the CPU time of `work` in milliseconds, converted to a machine of reference speed. It is the smallest time
 * of at most three runs. No more runs follow one that is below `limit`.
 * A busy or slow machine changes the result little. A quadratic algorithm makes it many times larger.
 */
export function cpuMilliseconds(work: () => unknown, { limit = 0, runs = RUNS } = {}): number {
  let smallest = Infinity;
  for (let run = 0; run < runs && smallest >= limit; run++) {
    const slowdown = slowdownNow();
    const from = process.cpuUsage();
    work();
    smallest = Math.min(smallest, cpuMillisecondsSince(from) / slowdown);
  }
  return smallest;
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
