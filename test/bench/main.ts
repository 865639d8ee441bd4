/**
 * `npm run bench [name...]` prints one table per bench. A row has the measured figure, and a limit or a figure for
 * comparison from the same run. Each bench runs in its own process, so that no bench affects another one. After its
 * time limit, a bench is killed. The exit code is always 0, so that a bench never fails a build.
 *
 * `npm run bench <name...> -- --against <commit>` compares the benches with those of another commit. It runs both
 * versions three times in turn and prints the figures that differ. The commit is checked out into a temporary folder
 * and uses the packages of this folder. A figure is compared if its table, row and column have the same texts in both
 * versions.
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

/** The time limit of each bench in seconds. All limits together are less than thirteen minutes. */
const benches: Record<string, number> = {
  imports: 15,
  bundles: 15,
  chain: 30,
  calls: 45,
  http: 35,
  crdt: 35,
  versions: 45,
  organization: 75,
  memory: 85,
  deliveries: 105,
  mails: 118,
  local: 45,
  live: 110,
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
const startedAt = performance.now();
if (against === undefined) await runAll();
else await compareWith(against);
console.log(`\nTotal: ${secondsSince(startedAt)} s\n`);

async function runAll(): Promise<void> {
  for (const name of selected) {
    const benchStartedAt = performance.now();
    await run(name, projectDir, 'inherit');
    console.log(`\n${name}: ${secondsSince(benchStartedAt)} s`);
  }
}

/** Runs each bench in turn in this folder and in a checkout of the commit. Prints the figures that differ. */
async function compareWith(commit: string): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'bench-against-'));
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: projectDir, stdio: ['ignore', 'ignore', 'pipe'] });
  git('worktree', 'add', '--detach', '--force', dir, commit);
  process.once('exit', () => git('worktree', 'remove', '--force', dir));
  await symlink(join(projectDir, 'node_modules'), join(dir, 'node_modules'));
  for (const name of selected) {
    const [ours, theirs]: [Figure[][], Figure[][]] = [[], []];
    const sides = [
      { label: 'now', projectDir, runs: ours },
      { label: commit, projectDir: dir, runs: theirs },
    ];
    for (let round = 1; round <= ROUNDS; round++) {
      for (const side of sides) {
        const runStartedAt = performance.now();
        const figures = figuresOf(await run(name, side.projectDir, 'pipe'));
        side.runs.push(figures);
        console.log(
          `${name}, ${side.label}, round ${round} of ${ROUNDS}: ${figures.length} figures in ${secondsSince(runStartedAt)} s`,
        );
      }
      // Each side runs first in about half of the rounds, because a machine can become slower during a round.
      sides.reverse();
    }
    printComparison(name, commit, ours, theirs);
  }
}

function printComparison(
  name: string,
  commit: string,
  ours: readonly (readonly Figure[])[],
  theirs: readonly (readonly Figure[])[],
): void {
  const { comparisons, unmatched } = compareRuns(ours, theirs);
  const differing = comparisons.filter(({ differs }) => differs);
  const cell = ({ median, least, most }: Spread) => `${median} (${least} to ${most})`;
  if (differing.length > 0)
    printTable(
      `${name} against ${commit}, median and spread of ${ROUNDS} runs each`,
      ['figure', 'now', commit, 'ratio'],
      differing.map((figure) => [
        figure.name,
        cell(figure.ours),
        cell(figure.theirs),
        ratio(figure.ours.median, figure.theirs.median),
      ]),
    );
  console.log(
    `\n${name}: ${differing.length} figures differ; the spreads of ${comparisons.length - differing.length} other figures overlap`,
  );
  if (unmatched.length > 0)
    console.log(
      `\n${name}: ${unmatched.length} figures are not in every run, for example because a run failed or a table has another title:`,
      ...unmatched.map((figure) => `\n  ${figure}`),
    );
}

function secondsSince(startedAt: number): number {
  return Math.round((performance.now() - startedAt) / 1000);
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
