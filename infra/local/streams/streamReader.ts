import { StartError } from '../startError.ts';
import type { EngineCall } from '../table/engineCall.ts';
import type { StreamPosition } from './streamPositions.ts';

/** A change of an item, in the format of the DynamoDB Streams API. */
export interface StreamRecord {
  readonly eventID: string;
  readonly eventName: string;
  readonly dynamodb: {
    readonly Keys: Readonly<Record<string, unknown>>;
    readonly SequenceNumber: string;
    readonly ApproximateCreationDateTime: number;
  };
}

/** A record with its position. */
export interface ReadRecord {
  readonly record: StreamRecord;
  readonly position: StreamPosition;
}

/** Returns the engine's id of a table's stream. A table that is created again gets another id. */
export async function streamOf(engine: EngineCall, table: string): Promise<string> {
  const { Table } = await engine<{ Table: { LatestStreamArn?: string } }>('DynamoDB_20120810.DescribeTable', {
    TableName: table,
  });
  if (Table.LatestStreamArn) return Table.LatestStreamArn;
  throw new StartError(
    `The table ${table} has no stream, which an event source reads. Set DATA_DIR to another directory, or delete it.`,
  );
}

/** The result of one GetRecords call. */
interface Read {
  readonly Records: readonly StreamRecord[];
  readonly NextShardIterator?: string;
}

/**
 * Shares the results of reads between the readers of one stream, so records are read and parsed once. Until `expire` is
 * called, a reader at the same position as an earlier reader gets the earlier result.
 */
export class SharedReads {
  readonly #reads = new Map<string, Promise<Read>>();

  /** Returns the records after a position. Calls `read` unless another reader has already read from this position. */
  after(position: string, read: () => Promise<Read>): Promise<Read> {
    const earlier = this.#reads.get(position);
    if (earlier) return earlier;
    const answer = read();
    this.#reads.set(position, answer);
    const forget = () => this.#reads.get(position) === answer && this.#reads.delete(position);
    answer.then(({ Records }) => Records.length === 0 && forget(), forget);
    return answer;
  }

  /** Discards all results. Call it when there may be new records. */
  expire(): void {
    this.#reads.clear();
  }
}

/** Reads a stream after a position, or from the beginning. Reads the stream's shards one after the other. */
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

  /** Returns the next records. Returns an empty list if there are none yet. After an error, it can be called again. */
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
      // The iterator may have expired, for example while the machine was asleep. The next call opens a new iterator.
      this.#iterator = undefined;
      throw error;
    }
  }

  async #open(): Promise<string | undefined> {
    const shards = await this.#shards();
    // If the stream does not have this shard any more, reading continues with the oldest shard.
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

  /** Returns the shard after this one. Returns this shard if it is the last one. */
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
