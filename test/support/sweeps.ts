import { ScanCommand, type ScanCommandOutput } from '@aws-sdk/lib-dynamodb';
import { outboxShards, OutboxStore, pendingEvents } from '../../lib/events/outbox.ts';
import type { FanOutPorts } from '../../lib/fanOut/fanOut.ts';
import { sweepOutbox } from '../../lib/fanOut/sweepOutbox.ts';
import { dueJobIndex, JobSweeper } from '../../lib/jobs/jobStore.ts';
import { sweepDueJobs } from '../../lib/jobs/jobSweep.ts';
import { dueMailIndex } from '../../lib/mail/mailStore.ts';
import { indexPartition } from '../../lib/table/entity.ts';
import type { Table } from '../../lib/table/table.ts';
import { dueDeliveryIndex } from '../../lib/webhooks/deliveries.ts';
import { EndpointHealthStore } from '../../lib/webhooks/endpointHealth.ts';
import { dueGroupIndex } from '../../lib/webhooks/firstAttempts.ts';
import {
  type DeliverySweepPorts,
  measureUnhealthyEndpoints,
  sweepDeliveries,
  sweepFirstAttempts,
} from '../../lib/webhooks/sweepDeliveries.ts';
import { type DueIndex, DueIndexReader, sendDueShards } from '../../lib/workers/dueShards.ts';
import type { QueueSender } from '../../lib/workers/sender.ts';
import {
  runSweeps,
  type ShardSweep,
  type SweepCall,
  SweepMessage,
  sweepShard,
  type SweptWork,
} from '../../lib/workers/sweep.ts';
import { deliveryRoles } from './deliveryRoles.ts';

/** The sweep finds events that have been in the outbox for this long, in milliseconds. */
export const RECONCILE_AFTER = 3 * 60_000;

/** The index that the timer reads for each kind of work. */
export const dueIndexes: Readonly<Record<SweptWork, DueIndex>> = {
  deliveries: dueDeliveryIndex,
  firstAttempts: dueGroupIndex,
  events: { shards: outboxShards, partition: pendingEvents, dueAfterMs: RECONCILE_AFTER },
  mails: dueMailIndex,
  jobs: dueJobIndex,
};

/**
 * Returns a table whose queries of `gsi3` do not call the engine for a partition that has no entries at the time of
 * this call. The timer queries about 400 partitions, and most of them are empty in tests.
 */
async function withoutEmptyPartitions(table: Table): Promise<Pick<Table, 'queryIndex'>> {
  const { client, name } = table.connection;
  const scan = new ScanCommand({ TableName: name, IndexName: 'gsi3' });
  const { Items = [] } = await client.send<ScanCommandOutput>(scan);
  const partitions = new Set(Items.map(({ gsi3pk }) => gsi3pk as unknown));
  return {
    queryIndex: async (index, partition, options) =>
      partitions.has(indexPartition(partition))
        ? table.queryIndex(index, partition, options)
        : { keys: [], sortKeys: [], positions: [], next: undefined },
  };
}

interface ShardPorts extends DeliverySweepPorts {
  readonly table: Table;
  readonly fanOut: FanOutPorts;
  readonly mails: ShardSweep;
  readonly queues: { readonly jobs: QueueSender; readonly embed: QueueSender };
}

/** The sweep of each kind of work. */
export function shardSweepsOf({ table, fanOut, mails, queues, ...ports }: ShardPorts): Record<SweptWork, ShardSweep> {
  const { isBacklogged } = ports;
  return {
    deliveries: sweepDeliveries(ports),
    firstAttempts: sweepFirstAttempts(ports),
    events: sweepOutbox({ outbox: new OutboxStore(table), fanOut, isBacklogged, reconcileAfterMs: RECONCILE_AFTER }),
    mails,
    jobs: sweepDueJobs({ jobs: new JobSweeper(table), queues }),
  };
}

/** Runs the timer of the sweep. Without `isComplete`, it does not read empty partitions. */
export async function runTimer(table: Table, queue: QueueSender, call: SweepCall, isComplete = false): Promise<void> {
  const reader = new DueIndexReader(isComplete ? table : await withoutEmptyPartitions(table));
  const sweeps = [
    sendDueShards({ reader, indexes: dueIndexes, queue }),
    measureUnhealthyEndpoints(new EndpointHealthStore(table)),
  ];
  await deliveryRoles.sweep(() => runSweeps(sweeps, call));
}

/**
 * Runs the worker of the queue `sweep` for all messages in parallel. If some fail, throws the first failure after all
 * have ended.
 */
export async function runShardSweeps(
  sweeps: Readonly<Record<SweptWork, ShardSweep>>,
  messages: readonly object[],
  call: SweepCall,
): Promise<void> {
  const results = await Promise.allSettled(
    messages.map((message) =>
      deliveryRoles.sweepShard(() => sweepShard(sweeps, SweepMessage.parse(message), call.clock(), call)),
    ),
  );
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
