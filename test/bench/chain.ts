/**
 * Measures the CPU time of the middleware chain when the credentials are in memory. For comparison, measures only
 * parsing and serializing of the same request and answer.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ChainTimes } from './chainProbe.ts';
import { printTable, ratio, reached } from './report.ts';

/** The maximum µs that the chain may add, by log level. `SILENT` writes no access log. */
const GOALS = { SILENT: 5, INFO: 10 };

const rows = [];
for (const [level, logging] of [
  ['SILENT', 'without logging'],
  ['INFO', 'with the access log'],
] as const) {
  // The probe writes logs to its standard output, so that output is discarded.
  const probe = fork(join(import.meta.dirname, 'chainProbe.ts'), [level], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(probe, 'exit');
  const [times] = (await once(probe, 'message')) as [ChainTimes[]];
  await ended;
  for (const { label, ours, bare } of times) {
    const extra = ours - bare;
    rows.push([
      `${label}, ${logging}`,
      ours.toFixed(2),
      bare.toFixed(2),
      extra.toFixed(2),
      ratio(ours, bare),
      reached(extra, GOALS[level]),
    ]);
  }
}
printTable(
  `Middleware chain with warm credentials, µs of CPU time per call; goal: at most ${GOALS.SILENT} µs more than bare parse and stringify, ${GOALS.INFO} µs with the access log`,
  ['request and answer', 'ours', 'bare', 'more', 'ratio', 'reached'],
  rows,
);
