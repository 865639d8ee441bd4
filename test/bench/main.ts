/**
 * `npm run bench [name...]`: prints one table per bench. A row has the measured figure, and a limit or a comparison from the
 * same run. Each bench runs in its own process, so that no bench affects another one, and is killed after its time limit. The
 * exit code is always 0, so that a bench never fails a build.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** The time limit of each bench in seconds. The total is less than twenty minutes. */
const benches: Record<string, number> = {
  imports: 40,
  bundles: 20,
  chain: 40,
  calls: 30,
  http: 35,
  crdt: 60,
  organization: 180,
  memory: 180,
  deliveries: 182,
  local: 120,
};
/** The time between SIGTERM and SIGKILL, so that a bench can stop its child processes. */
const GRACE_MILLISECONDS = 5_000;

const requested = process.argv.slice(2);
const unknown = requested.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0)
  console.log(`There is no bench ${unknown.join(', ')}. There are ${Object.keys(benches).join(', ')}.`);
for (const [name, seconds] of Object.entries(benches)) {
  if (requested.length === 0 || requested.includes(name)) await run(name, seconds);
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
  const tooLate = setTimeout(() => end(child, 'SIGKILL'), seconds * 1000 + GRACE_MILLISECONDS);
  const [code] = (await once(child, 'exit')) as [number | null];
  clearTimeout(late);
  clearTimeout(tooLate);
  process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  if (code) console.log(`\n${name}: failed`);
  end(child, 'SIGKILL');
}

/** Signals the process group of a bench: the bench and its child processes, even if the bench itself has ended. */
function end(bench: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-bench.pid!, signal);
  } catch {
    // The process group has ended.
  }
}
