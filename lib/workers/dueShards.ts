import { inParallel } from '../shared/inParallel.ts';
import { isoTime } from '../shared/isoTime.ts';
import { shardNumbers } from '../table/queryShards.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import type { QueueSender } from './sender.ts';
import { type Sweep, type SweepMessage, type SweptWork, sweptWork } from './sweep.ts';

/** The partitions of gsi3 with one kind of work, one per shard. Sort keys begin with a time. */
export interface DueIndex {
  readonly shards: number;
  readonly partition: (shard: number) => readonly string[];
  /** An entry is due this long after the time in its sort key. The default is 0. */
  readonly dueAfterMs?: number;
}

const PARALLEL = 50;

export class DueIndexReader {
  readonly #table: Pick<Table, 'queryIndex'>;

  constructor(table: Pick<Table, 'queryIndex'>) {
    this.#table = table;
  }

  /** Returns the sort key of the oldest entry that was due before `time` (epoch ms). */
  async oldestDue({ partition, dueAfterMs = 0 }: DueIndex, shard: number, time: number): Promise<string | undefined> {
    const { sortKeys } = await this.#table.queryIndex('gsi3', partition(shard), {
      between: [isoTime(0), isoTime(time - dueAfterMs)],
      limit: 1,
    });
    return sortKeys[0];
  }
}

export const readDueIndexes = /* @__PURE__ */ storeCapability(DueIndexReader, [], ['gsi3']);

export interface DueShardPorts {
  readonly reader: Pick<DueIndexReader, 'oldestDue'>;
  readonly indexes: Readonly<Record<SweptWork, DueIndex>>;
  readonly queue: QueueSender;
}

/**
 * Sends a message for each shard with due work, in the order of their oldest sort keys. If a query fails, the other
 * shards still get their messages, and then the sweep throws the first error.
 */
export function sendDueShards({ reader, indexes, queue }: DueShardPorts): Sweep {
  return async ({ clock }) => {
    const now = clock();
    const due: { readonly oldest: string; readonly body: SweepMessage }[] = [];
    const errors: unknown[] = [];
    const shards = sweptWork.flatMap((work) => shardNumbers(indexes[work].shards).map((shard) => ({ work, shard })));
    await inParallel(shards, PARALLEL, async (body) => {
      try {
        const oldest = await reader.oldestDue(indexes[body.work], body.shard, now);
        if (oldest !== undefined) due.push({ oldest, body });
      } catch (error) {
        errors.push(error);
      }
    });
    if (due.length > 0)
      await queue.send(due.sort((a, b) => (a.oldest < b.oldest ? -1 : 1)).map(({ body }) => ({ body })));
    if (errors.length > 0) throw errors[0];
  };
}
