/**
 * `npm run bench [name...]`: prints one table per bench, our figure beside a bound or a peer measured in the same run.
 * Each runs in a process of its own, so that none heats or fills what another measures, and is ended when it takes too
 * long. A bench never fails a build: this ends with 0 whatever happens.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** How many seconds each may take; three minutes in all. */
const benches: Record<string, number> = { imports: 45, bundles: 25, chain: 45, calls: 30, http: 35 };
/** From being asked to end to being ended, so that a bench can end what it started. */
const PATIENCE_MILLISECONDS = 5_000;

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0) console.log(`There is no bench ${unknown.join(', ')}. There are ${Object.keys(benches).join(', ')}.`);
for (const [name, seconds] of Object.entries(benches)) {
  if (asked.length === 0 || asked.includes(name)) await run(name, seconds);
}
console.log();

async function run(name: string, seconds: number): Promise<void> {
  // A process group of its own, which is ended as a whole: a bench starts engines and other processes.
  const child = spawn(process.execPath, [join(import.meta.dirname, `${name}.ts`)], { stdio: 'inherit', detached: true });
  const signal = (kind: NodeJS.Signals) => child.exitCode ?? child.signalCode ?? process.kill(-child.pid!, kind);
  const interrupt = () => {
    signal('SIGTERM');
    process.exit();
  };
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  const late = setTimeout(() => {
    console.log(`\n${name}: not done after ${seconds} s`);
    signal('SIGTERM');
  }, seconds * 1000);
  const tooLate = setTimeout(() => signal('SIGKILL'), seconds * 1000 + PATIENCE_MILLISECONDS);
  const [code] = (await once(child, 'exit')) as [number | null];
  clearTimeout(late);
  clearTimeout(tooLate);
  process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  if (code !== 0 && code !== null) console.log(`\n${name}: failed`);
}
