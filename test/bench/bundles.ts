/** Measures the sizes of the function bundles. A test finds AWS clients that a function does not use. */
import { basename, dirname } from 'node:path';
import * as registry from '../../functions/index.ts';
import { bundleEntries } from '../../infra/build/build.ts';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import { buildInTemporary } from './bundle.ts';
import { printTable, quantile, reached } from './report.ts';

const GOAL_BYTES = 520_000;
const SHOWN_BUNDLES = 5;

const endpoints = Object.values<Endpoint>(registry);
const { built, remove } = await buildInTemporary(endpoints);
await remove();

const outputs = new Map(
  Object.entries(built.metafile.outputs).map(([file, output]) => [basename(dirname(file)), output]),
);
const bundles = Object.keys(bundleEntries(endpoints))
  .map((id) => ({ id, ...outputs.get(basename(built.folder(id)))! }))
  .sort((a, b) => b.bytes - a.bytes);
const sizes = bundles.map(({ bytes }) => bytes);
printTable(
  `Bundle sizes in bytes, minified, of ${bundles.length} functions; goal: at most ${GOAL_BYTES}`,
  ['what', 'bytes', 'reached'],
  [
    ['smallest', Math.min(...sizes), reached(Math.min(...sizes), GOAL_BYTES)],
    ['median', quantile(sizes, 0.5), reached(quantile(sizes, 0.5), GOAL_BYTES)],
    ...bundles.slice(0, SHOWN_BUNDLES).map(({ id, bytes }) => [id, bytes, reached(bytes, GOAL_BYTES)]),
  ],
);
