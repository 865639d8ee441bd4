import { once } from 'node:events';
import { createReadStream, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseJson } from '../../../lib/shared/parseJson.ts';
import { fill, type LogLine } from '../assembly/queries/readQuery.ts';
import type { SavedQuery } from '../assembly/queries/savedQueries.ts';
import { ACCESS_LOG, FUNCTION_LOG } from '../functions/functionLog.ts';
import { type Result, runQuery } from './runQuery.ts';

/**
 * A query reads at most this much of the end of a log file. Reading more would stop the other work of this process for
 * seconds.
 */
const MAX_BYTES = 50 * 1024 * 1024;

const files = { functions: FUNCTION_LOG, access: ACCESS_LOG };

/** Runs a query over the lines since a time (epoch ms). `values` replace its placeholders. */
export async function runSavedQuery(
  dataDir: string,
  { log, commands, searches }: SavedQuery,
  values: Readonly<Record<string, string>>,
  since: number,
): Promise<Result> {
  const lines: LogLine[] = [];
  for await (const line of linesOf(join(dataDir, files[log]))) {
    if (Number(line['@timestamp']) >= since && searches(line)) lines.push(line);
  }
  return runQuery(fill(commands, values), lines);
}

/** Returns the lines that are JSON with a time, which becomes `@timestamp`. */
async function* linesOf(file: string): AsyncGenerator<LogLine> {
  if (!existsSync(file)) return;
  const input = createReadStream(file, { start: Math.max(0, statSync(file).size - MAX_BYTES) });
  await once(input, 'open');
  for await (const text of createInterface({ input, crlfDelay: Infinity })) {
    const line = parseJson(text);
    if (typeof line !== 'object' || line === null) continue;
    const { timestamp, time } = line as { readonly timestamp?: unknown; readonly time?: unknown };
    const at = typeof timestamp === 'string' ? Date.parse(timestamp) : Number(time);
    if (!Number.isNaN(at)) yield { ...line, '@timestamp': at };
  }
}
