/**
 * Measures the CPU time from the start of a process until its handler is loaded. Compares bundles of functions with a
 * handler that imports nothing.
 */
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import * as registry from '../../functions/index.ts';
import { type Endpoint, endpointId } from '../../lib/app/endpoint.ts';
import { buildInTemporary } from './bundle.ts';
import { printTable, quantile, ratio, reached } from './report.ts';

const GOAL = 2.2;
const STARTS = 15;
/**
 * The first function has no SDK. The second has the DynamoDB client. The third also has the client of Secrets Manager.
 */
const functionIds = ['default', 'v2.organizations.get', 'v2.workspace.authtoken.reset'];

const endpoints = Object.values<Endpoint>(registry).filter(({ path }) => functionIds.includes(endpointId(path)));
const { built, dir, remove } = await buildInTemporary(endpoints);
try {
  const loader = join(dir, 'loader.mjs');
  await writeFile(loader, 'await import(process.argv[2]);\nconsole.log(JSON.stringify(process.cpuUsage()));\n');
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
    `CPU time from process start to handler loaded, median of ${STARTS} interleaved starts in ms; goal: at most ${GOAL}× a bare handler`,
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
 * Returns the CPU time from the start of a process until the bundle is loaded, in milliseconds. Unlike the duration, it
 * does not contain the waits of a busy machine.
 */
async function startUp(loader: string, file: string): Promise<number> {
  const child = spawn(process.execPath, [loader, file], { stdio: ['ignore', 'pipe', 'inherit'], env: {} });
  const { user, system } = JSON.parse(await text(child.stdout)) as NodeJS.CpuUsage;
  return (user + system) / 1_000;
}
