import { ScanCommand, type ScanCommandOutput } from '@aws-sdk/lib-dynamodb';
import { outboxShards, pendingEvents } from '../../lib/events/outbox.ts';
import { dueJobIndex } from '../../lib/jobs/jobStore.ts';
import { dueMailIndex } from '../../lib/mail/mailStore.ts';
import { indexPartition } from '../../lib/table/entity.ts';
import type { Table } from '../../lib/table/table.ts';
import { dueDeliveryIndex } from '../../lib/webhooks/deliveries.ts';
import { dueGroupIndex } from '../../lib/webhooks/firstAttempts.ts';
import type { DueIndex } from '../../lib/workers/dueShards.ts';
import { type ShardSweep, type SweepCall, SweepMessage, sweepShard, type SweptWork } from '../../lib/workers/sweep.ts';
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
export async function withoutEmptyPartitions(table: Table): Promise<Pick<Table, 'queryIndex'>> {
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
