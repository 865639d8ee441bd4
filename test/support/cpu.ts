/** CPU milliseconds of the reference loop on the reference machine. */
const REFERENCE_MILLISECONDS = 30;
const RUNS = 3;

/**
 * Returns the CPU time of some work in milliseconds of the reference machine: the smallest of at most three runs, divided
 * by how much slower this machine is right now. A busy or slow machine changes it little, a quadratic algorithm by orders
 * of magnitude. A run below `limit` is the last one: the test has its answer.
 */
export function cpuMilliseconds(work: () => unknown, { limit = 0, runs = RUNS } = {}): number {
  let least = Infinity;
  for (let run = 0; run < runs && least >= limit; run++) {
    const slowdown = slowdownNow();
    const from = process.cpuUsage();
    work();
    least = Math.min(least, sinceIn(from) / slowdown);
  }
  return least;
}

/** Returns how many times slower this machine is than the reference machine; at least 1. */
export function slowdownNow(): number {
  const from = process.cpuUsage();
  let hash = 0;
  for (let step = 0; step < 20_000_000; step++) hash = (Math.imul(hash ^ step, 0x01000193) + step) | 0;
  if (hash === 1) throw new Error('The loop is not left out');
  return Math.max(1, sinceIn(from) / REFERENCE_MILLISECONDS);
}

function sinceIn(from: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1_000;
}
