/**
 * `npm run bench [name...]` prints one table per bench. A row has the measured figure, and a limit or a figure for
 * comparison from the same run. Each bench runs in its own process, so that no bench affects another one. After its
 * time limit, a bench is killed. The exit code is always 0, so that a bench never fails a build.
 *
 * `npm run bench <name...> -- --against <commit>` compares the benches with those of another commit. It runs both
 * versions three times in turn and prints the figures that differ. The commit is checked out into a temporary folder
 * and uses the packages of this folder.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { projectDir } from '../../infra/build/build.ts';
import { compareRuns, type Figure, figuresOf, type Spread } from './comparison.ts';
import { printTable, ratio } from './report.ts';

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
  live: 178,
};
/** The time between SIGTERM and SIGKILL. A bench uses it to stop its child processes. */
const GRACE_MILLISECONDS = 5_000;

/** How often each version runs in a comparison. */
const ROUNDS = 3;

const {
  positionals: requested,
  values: { against },
} = parseArgs({ options: { against: { type: 'string' } }, allowPositionals: true });
const unknown = requested.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0)
  console.log(`There is no bench ${unknown.join(', ')}. There are ${Object.keys(benches).join(', ')}.`);
const selected = Object.keys(benches).filter((name) => requested.length === 0 || requested.includes(name));
if (against === undefined) for (const name of selected) await run(name, projectDir, 'inherit');
else await compareWith(against);
console.log();

/** Runs each bench in turn in this folder and in a checkout of the commit. Prints the figures that differ. */
async function compareWith(commit: string): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'bench-against-'));
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: projectDir, stdio: ['ignore', 'ignore', 'inherit'] });
  git('worktree', 'add', '--detach', '--force', dir, commit);
  try {
    await symlink(join(projectDir, 'node_modules'), join(dir, 'node_modules'));
    for (const name of selected) {
      const [ours, theirs]: [Figure[][], Figure[][]] = [[], []];
      for (let round = 0; round < ROUNDS; round++) {
        ours.push(figuresOf(await run(name, projectDir, 'pipe')));
        theirs.push(figuresOf(await run(name, dir, 'pipe')));
      }
      const comparisons = compareRuns(ours, theirs);
      const differing = comparisons.filter(({ differs }) => differs);
      const cell = ({ median, least, most }: Spread) => `${median} (${least} to ${most})`;
      printTable(
        `${name} against ${commit}, median and spread of ${ROUNDS} runs each; the spreads of ${comparisons.length - differing.length} other figures overlap`,
        ['figure', 'now', commit, 'ratio'],
        differing.map((figure) => [
          figure.name,
          cell(figure.ours),
          cell(figure.theirs),
          ratio(figure.ours.median, figure.theirs.median),
        ]),
      );
    }
  } finally {
    git('worktree', 'remove', '--force', dir);
  }
}

/** Runs the project's bench in a folder. Returns its output if `output` is `pipe`, and otherwise an empty text. */
async function run(name: string, dir: string, output: 'inherit' | 'pipe'): Promise<string> {
  const seconds = benches[name] ?? 0;
  const child = spawn(process.execPath, [join(dir, 'test/bench', `${name}.ts`)], {
    cwd: dir,
    stdio: ['inherit', output, 'inherit'],
    detached: true,
  });
  const printed = child.stdout ? text(child.stdout) : '';
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
  return printed;
}

/** Sends a signal to the bench and its child processes. The children get it even if the bench itself has ended. */
function end(bench: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-bench.pid!, signal);
  } catch {
    // All processes have ended already.
  }
}
