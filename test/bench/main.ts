/**
 * `npm run bench [name...]`: prints one table per bench, our figure beside a bound or a peer measured in the same run.
 * Each runs in a process of its own, so that none heats or fills what another measures, and is ended when it takes too
 * long. A bench never fails a build: this ends with 0 whatever happens.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** How many seconds each may take; less than twenty minutes in all. */
const benches: Record<string, number> = {
  imports: 40,
  bundles: 20,
  chain: 40,
  calls: 30,
  http: 35,
  crdt: 60,
  organization: 180,
  memory: 180,
  deliveries: 600,
};
/** From being asked to end to being ended, so that a bench can end what it started. */
const PATIENCE_MILLISECONDS = 5_000;

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0)
  console.log(`There is no bench ${unknown.join(', ')}. There are ${Object.keys(benches).join(', ')}.`);
for (const [name, seconds] of Object.entries(benches)) {
  if (asked.length === 0 || asked.includes(name)) await run(name, seconds);
}
console.log();

async function run(name: string, seconds: number): Promise<void> {
  const child = spawn(process.execPath, [join(import.meta.dirname, `${name}.ts`)], {
    stdio: 'inherit',
    detached: true,
  });
  const interrupt = () => {
    end(child, 'SIGTERM');
    process.exit();
  };
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  const late = setTimeout(() => {
    console.log(`\n${name}: not done after ${seconds} s`);
    end(child, 'SIGTERM');
  }, seconds * 1000);
  const tooLate = setTimeout(() => end(child, 'SIGKILL'), seconds * 1000 + PATIENCE_MILLISECONDS);
  const [code] = (await once(child, 'exit')) as [number | null];
  clearTimeout(late);
  clearTimeout(tooLate);
  process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  if (code) console.log(`\n${name}: failed`);
  end(child, 'SIGKILL');
}

/** Ends a bench and whatever it started, which is in its process group, also when the bench itself is gone. */
function end(bench: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-bench.pid!, signal);
  } catch {
    // None of them is left.
  }
}
