/**
 * Runs the benches of webhook deliveries on loopback. Each has its own process, so that none slows the next one. All
 * of them together take less than two minutes. `local.ts` measures deliveries through `npm start`.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** The time limit of each bench in seconds. */
const parts: Record<string, number> = { cost: 22, hour: 10, send: 16, rate: 20, neighbours: 42 };

for (const [part, seconds] of Object.entries(parts)) {
  const child = fork(join(import.meta.dirname, 'deliveries', `${part}.ts`), {
    stdio: 'inherit',
    timeout: seconds * 1000,
  });
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  if (signal) console.log(`\ndeliveries, ${part}: not done after ${seconds} s`);
  else if (code !== 0) console.log(`\ndeliveries, ${part}: failed`);
}
