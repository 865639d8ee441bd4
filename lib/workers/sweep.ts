import type { Uses } from '../app/capability.ts';
import type { WorkerCall } from '../app/worker.ts';
import * as logMessages from '../observability/logMessages.ts';
import { inParallel } from '../shared/inParallel.ts';
import { shardNumbers } from '../table/queryShards.ts';

export type SweepCall = Pick<WorkerCall<Uses>, 'clock' | 'deadline' | 'log' | 'measures'>;

/** Finds overdue work of one kind in the table and starts it. Each feature with such work registers a sweep. */
export type Sweep = (call: SweepCall) => Promise<void>;

const PAGE = 100;
/** How long before its deadline a run stops to read pages, in milliseconds. The next run starts with the oldest work. */
const STOP_BEFORE_DEADLINE = 5_000;

/** Runs all sweeps in parallel. A failed sweep does not stop other sweeps. Throws the first failure after all sweeps have ended. */
export async function runSweeps(sweeps: readonly Sweep[], call: SweepCall): Promise<void> {
  const results = await Promise.allSettled(sweeps.map((sweep) => sweep(call)));
  const failures = results.filter((result) => result.status === 'rejected');
  for (const { reason } of failures) call.log.error(logMessages.sweepFailed, { error: reason as unknown });
  const [first] = failures;
  if (first) throw first.reason;
}

/** Reads the shards of an index in parallel and passes each page to `work`. Stops 5 seconds before the deadline of the run. */
export async function sweepShards<T>(
  shards: number,
  { clock, deadline }: Pick<SweepCall, 'clock' | 'deadline'>,
  read: (
    shard: number,
    options: { limit: number; after: string | undefined },
  ) => Promise<{ values: readonly T[]; next: string | undefined }>,
  work: (values: readonly T[]) => Promise<void>,
): Promise<void> {
  await inParallel(shardNumbers(shards), shards, async (shard) => {
    let after: string | undefined;
    do {
      const { values, next } = await read(shard, { limit: PAGE, after });
      await work(values);
      after = next;
    } while (after !== undefined && clock() < deadline - STOP_BEFORE_DEADLINE);
  });
}
