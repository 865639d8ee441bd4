import type { Uses } from '../app/capability.ts';
import type { WorkerCall } from '../app/worker.ts';
import * as logMessages from '../observability/logMessages.ts';
import { inParallel } from '../shared/inParallel.ts';

export type SweepCall = Pick<WorkerCall<Uses>, 'clock' | 'deadline' | 'log' | 'measures'>;

/** Finds overdue work of one kind in the table and starts it. Each feature with such work registers one. */
export type Sweep = (call: SweepCall) => Promise<void>;

const PAGE = 100;
/** No page is started in the last milliseconds of a run. The next run continues with the oldest work. */
const SPARE = 5_000;

/** Runs all sweeps in parallel. One that fails does not stop the others. Throws the first failure at the end. */
export async function runSweeps(sweeps: readonly Sweep[], call: SweepCall): Promise<void> {
  const results = await Promise.allSettled(sweeps.map((sweep) => sweep(call)));
  const failures = results.filter((result) => result.status === 'rejected');
  for (const { reason } of failures) call.log.error(logMessages.sweepFailed, { error: reason as unknown });
  const [first] = failures;
  if (first) throw first.reason;
}

/** Reads the shards of an index in parallel, page by page, and passes each page to `work`, until the time is nearly over. */
export async function sweepShards<T>(
  shards: number,
  { clock, deadline }: SweepCall,
  read: (
    shard: number,
    options: { limit: number; after: string | undefined },
  ) => Promise<{ values: readonly T[]; next: string | undefined }>,
  work: (values: readonly T[]) => Promise<void>,
): Promise<void> {
  await inParallel([...Array(shards).keys()], shards, async (shard) => {
    let after: string | undefined;
    do {
      const { values, next } = await read(shard, { limit: PAGE, after });
      await work(values);
      after = next;
    } while (after !== undefined && clock() < deadline - SPARE);
  });
}
