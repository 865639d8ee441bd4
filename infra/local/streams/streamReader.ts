import { StartError } from '../startError.ts';
import type { EngineCall } from '../table/engineCall.ts';
import type { StreamPosition } from './streamPositions.ts';

export interface StreamRecord {
  readonly eventID: string;
  readonly eventName: string;
  readonly dynamodb: {
    readonly Keys: Readonly<Record<string, unknown>>;
    readonly SequenceNumber: string;
    readonly ApproximateCreationDateTime: number;
  };
}

export interface ReadRecord {
  readonly record: StreamRecord;
  readonly position: StreamPosition;
}

/** Returns the ARN of the table's stream. Throws a `StartError` if there is no stream. */
export async function streamOf(engine: EngineCall, table: string): Promise<string> {
  const { Table } = await engine<{ Table: { LatestStreamArn?: string } }>('DynamoDB_20120810.DescribeTable', {
    TableName: table,
  });
  if (Table.LatestStreamArn) return Table.LatestStreamArn;
  throw new StartError(
    `The table ${table} has no stream, which an event source reads. Set DATA_DIR to another directory, or delete it.`,
  );
}

interface Read {
  readonly Records: readonly StreamRecord[];
  readonly NextShardIterator?: string;
}

/**
 * Readers of a stream at the same position share one read, so records are parsed once. Empty and failed reads are
 * forgotten at once, all others at `expire`.
 */
export class SharedReads {
  readonly #reads = new Map<string, Promise<Read>>();

  after(position: string, read: () => Promise<Read>): Promise<Read> {
    const earlier = this.#reads.get(position);
    if (earlier) return earlier;
    const answer = read();
    this.#reads.set(position, answer);
    const forget = () => this.#reads.get(position) === answer && this.#reads.delete(position);
    answer.then(({ Records }) => Records.length === 0 && forget(), forget);
    return answer;
  }

  /** Call this when there may be new records. */
  expire(): void {
    this.#reads.clear();
  }
}

/** Reads one shard after the other, from a position or the beginning. */
export class StreamReader {
  readonly #engine: EngineCall;
  readonly #stream: string;
  readonly #shared: SharedReads;
  #last: StreamPosition | undefined;
  #shard: string | undefined;
  #iterator: string | undefined;

  constructor(engine: EngineCall, stream: string, after: StreamPosition | undefined, shared = new SharedReads()) {
    this.#engine = engine;
    this.#stream = stream;
    this.#shared = shared;
    this.#last = after;
    this.#shard = after?.shard;
  }

  /** Returns an empty list if there are no records yet. Can be called again after an error. */
  async next(): Promise<ReadRecord[]> {
    try {
      this.#iterator ??= await this.#open();
      const shard = this.#shard;
      if (this.#iterator === undefined || shard === undefined) return [];
      const iterator = this.#iterator;
      const position = JSON.stringify([shard, this.#last]);
      const { Records, NextShardIterator } = await this.#shared.after(position, () =>
        this.#call<Read>('GetRecords', { ShardIterator: iterator }),
      );
      const read = Records.map((record) => ({ record, position: { shard, sequence: record.dynamodb.SequenceNumber } }));
      this.#last = read.at(-1)?.position ?? this.#last;
      this.#iterator = NextShardIterator;
      if (NextShardIterator === undefined) this.#shard = await this.#shardAfter(shard);
      return read;
    } catch (error) {
      // The iterator may have expired while the machine was asleep.
      this.#iterator = undefined;
      throw error;
    }
  }

  async #open(): Promise<string | undefined> {
    const shards = await this.#shards();
    // If the stream no longer has this shard, reading continues with the oldest one.
    if (this.#shard === undefined || !shards.includes(this.#shard)) this.#shard = shards[0];
    if (this.#shard === undefined) return undefined;
    const begin =
      this.#last?.shard === this.#shard
        ? { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: this.#last.sequence }
        : { ShardIteratorType: 'TRIM_HORIZON' };
    const { ShardIterator } = await this.#call<{ ShardIterator: string }>('GetShardIterator', {
      StreamArn: this.#stream,
      ShardId: this.#shard,
      ...begin,
    });
    return ShardIterator;
  }

  async #shardAfter(shard: string): Promise<string> {
    const shards = await this.#shards();
    return shards[shards.indexOf(shard) + 1] ?? shard;
  }

  async #shards(): Promise<string[]> {
    const { StreamDescription } = await this.#call<{ StreamDescription: { Shards: { ShardId: string }[] } }>(
      'DescribeStream',
      { StreamArn: this.#stream },
    );
    return StreamDescription.Shards.map(({ ShardId }) => ShardId);
  }

  #call<T>(operation: string, input: object): Promise<T> {
    return this.#engine<T>(`DynamoDBStreams_20120810.${operation}`, input);
  }
}
