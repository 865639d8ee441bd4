/**
 * Measures the time from the start of a process until its handler is loaded. Compares bundles of functions with a
 * handler that imports nothing.
 */
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
/**
 * The first function has no SDK. The second has the DynamoDB client. The third also has the client of Secrets Manager.
 */
const functionIds = ['default', 'v2.organizations.get', 'v2.workspace.authtoken.reset'];

const { built, dir, remove } = await buildInTemporary(Object.values<Endpoint>(registry));
try {
  const loader = join(dir, 'loader.mjs');
  await writeFile(loader, 'await import(process.argv[2]);\nprocess.stdout.write("loaded");\n');
  const bare = join(dir, 'bare.mjs');
  await writeFile(bare, 'export const handler = async () => ({ statusCode: 200 });\n');
  const bundles = [bare, ...functionIds.map((id) => join(built.folder(id), 'index.mjs'))];
  const times = bundles.map((): number[] => []);
  // The first round is not counted, because it reads the files from the disk.
  for (let round = 0; round <= STARTS; round++) {
    for (const [index, file] of bundles.entries()) {
      const milliseconds = await startUp(loader, file);
      if (round > 0) times[index]!.push(milliseconds);
    }
  }
  const [bareMedian, ...medians] = times.map((each) => quantile(each, 0.5)) as [number, ...number[]];
  printTable(
    `Process start to handler loaded, median of ${STARTS} interleaved starts in ms; goal: at most ${GOAL}× a bare handler`,
    ['function', 'ours', 'bare', 'ratio', 'reached'],
    medians.map((median, index) => [
      functionIds[index]!,
      median.toFixed(1),
      bareMedian.toFixed(1),
      ratio(median, bareMedian),
      reached(median / bareMedian, GOAL),
    ]),
  );
} finally {
  await remove();
}

/**
 * Returns the milliseconds from the start of the process to its first output. The process prints it when the bundle is
 * loaded.
 */
async function startUp(loader: string, file: string): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [loader, file], { stdio: ['ignore', 'pipe', 'inherit'], env: {} });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  const milliseconds = performance.now() - startedAt;
  await ended;
  return milliseconds;
}
