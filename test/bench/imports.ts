/** From the start of a process to its handler being loaded: bundles of functions beside a bare handler. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as registry from '../../functions/index.ts';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import { buildInTemporary } from './bundle.ts';
import { printTable, quantile, ratio, reached } from './report.ts';

const GOAL = 4.5;
const STARTS = 21;
/** The function without an SDK, one with the table's client, and one with that of secrets as well. */
const shown = ['default', 'v2.organizations.get', 'v2.workspace.authtoken.reset'];

const { built, dir, remove } = await buildInTemporary(Object.values<Endpoint>(registry));
try {
  const loader = join(dir, 'loader.mjs');
  await writeFile(loader, 'await import(process.argv[2]);\nprocess.stdout.write("loaded");\n');
  const bare = join(dir, 'bare.mjs');
  await writeFile(bare, 'export const handler = async () => ({ statusCode: 200 });\n');
  const bundles = [bare, ...shown.map((id) => join(built.folder(id), 'index.mjs'))];
  const times = bundles.map((): number[] => []);
  // One round more than counted: the first reads the files from the disk.
  for (let round = 0; round <= STARTS; round++) {
    for (const [at, file] of bundles.entries()) {
      const milliseconds = await startUp(loader, file);
      if (round > 0) times[at]!.push(milliseconds);
    }
  }
  const [bareMedian, ...medians] = times.map((each) => quantile(each, 0.5)) as [number, ...number[]];
  printTable(
    `Process start to handler loaded, median of ${STARTS} interleaved starts in ms; goal: at most ${GOAL}× a bare handler`,
    ['function', 'ours', 'bare', 'ratio', 'reached'],
    medians.map((median, at) => [
      shown[at]!,
      median.toFixed(1),
      bareMedian.toFixed(1),
      ratio(median, bareMedian),
      reached(median / bareMedian, GOAL),
    ]),
  );
} finally {
  await remove();
}

/** From spawning the process to reading what it prints when the bundle is loaded. */
async function startUp(loader: string, file: string): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [loader, file], { stdio: ['ignore', 'pipe', 'inherit'], env: {} });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  const milliseconds = performance.now() - startedAt;
  await ended;
  return milliseconds;
}
