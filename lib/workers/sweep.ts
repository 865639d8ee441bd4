import * as z from 'zod';
import type { Uses } from '../app/capability.ts';
import type { WorkerCall } from '../app/worker.ts';
import * as logMessages from '../observability/logMessages.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { ItemPage } from '../table/pages.ts';
import { shardNumbers } from '../table/queryShards.ts';
import type { PageOptions } from '../table/table.ts';

export type SweepCall = Pick<WorkerCall<Uses>, 'clock' | 'deadline' | 'log' | 'measures'>;

export type Sweep = (call: SweepCall) => Promise<void>;

export type ShardSweep = (shard: number, call: SweepCall) => Promise<void>;

export const sweptWork = ['deliveries', 'firstAttempts', 'events', 'mails', 'jobs'] as const;
export type SweptWork = (typeof sweptWork)[number];

export const SweepMessage = z.object({ work: z.enum(sweptWork), shard: z.number().int().min(0) });
export type SweepMessage = z.output<typeof SweepMessage>;

const PAGE = 100;
/** Milliseconds. A run reads no further pages with less time left. The next run starts with the oldest work. */
const STOP_BEFORE_DEADLINE = 5_000;
const MESSAGE_LIFETIME = 60_000;

/** A failed sweep does not stop the others. Throws the first failure when all have ended. */
export async function runSweeps(sweeps: readonly Sweep[], call: SweepCall): Promise<void> {
  const results = await Promise.allSettled(sweeps.map((sweep) => sweep(call)));
  const failures = results.filter((result) => result.status === 'rejected');
  for (const { reason } of failures) call.log.error(logMessages.sweepFailed, { error: reason as unknown });
  const [first] = failures;
  if (first) throw first.reason;
}

/** Ignores a message that is older than a minute, so that messages do not pile up while workers are too slow. */
export async function sweepShard(
  sweeps: Readonly<Record<SweptWork, ShardSweep>>,
  { work, shard }: SweepMessage,
  sentAt: number,
  call: SweepCall,
): Promise<void> {
  if (call.clock() - sentAt <= MESSAGE_LIFETIME) await sweeps[work](shard, call);
}

export async function sweepPages<T>(
  { clock, deadline }: Pick<SweepCall, 'clock' | 'deadline'>,
  read: (options: PageOptions) => Promise<ItemPage<T>>,
  work: (values: readonly T[]) => Promise<void>,
): Promise<void> {
  let after: string | undefined;
  do {
    const { values, next } = await read({ limit: PAGE, after });
    await work(values);
    after = next;
  } while (after !== undefined && clock() < deadline - STOP_BEFORE_DEADLINE);
}

export async function sweepShards<T>(
  shards: number,
  call: Pick<SweepCall, 'clock' | 'deadline'>,
  read: (shard: number, options: PageOptions) => Promise<ItemPage<T>>,
  work: (values: readonly T[]) => Promise<void>,
): Promise<void> {
  await inParallel(shardNumbers(shards), shards, (shard) => sweepPages(call, (options) => read(shard, options), work));
}
