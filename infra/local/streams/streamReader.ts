import type { EngineCall } from '../table/engineCall.ts';
import { StartError } from '../startError.ts';
import type { StreamPosition } from './streamPositions.ts';

/** A change of an item, as the streams API gives it. */
export interface StreamRecord {
  readonly eventID: string;
  readonly eventName: string;
  readonly dynamodb: {
    readonly Keys: Readonly<Record<string, unknown>>;
    readonly SequenceNumber: string;
    readonly ApproximateCreationDateTime: number;
  };
}

/** A record and where it stands. */
export interface ReadRecord {
  readonly record: StreamRecord;
  readonly position: StreamPosition;
}

/** The engine's own name of a table's stream: another one when the table was made anew. */
export async function streamOf(engine: EngineCall, table: string): Promise<string> {
  const { Table } = await engine<{ Table: { LatestStreamArn?: string } }>('DynamoDB_20120810.DescribeTable', {
    TableName: table,
  });
  if (Table.LatestStreamArn) return Table.LatestStreamArn;
  throw new StartError(
    `The table ${table} has no stream, which an event source reads. Set DATA_DIR to another directory, or delete it.`,
  );
}

/** Reads a stream from a position on, or from its beginning: its shards one after another, as each follows the one before. */
export class StreamReader {
  readonly #engine: EngineCall;
  readonly #stream: string;
  #last: StreamPosition | undefined;
  #shard: string | undefined;
  #iterator: string | undefined;

  constructor(engine: EngineCall, stream: string, after: StreamPosition | undefined) {
    this.#engine = engine;
    this.#stream = stream;
    this.#last = after;
    this.#shard = after?.shard;
  }

  /** What comes next; nothing when there is nothing new. After an error it can be asked again. */
  async next(): Promise<ReadRecord[]> {
    try {
      this.#iterator ??= await this.#open();
      if (this.#iterator === undefined) return [];
      const { Records, NextShardIterator } = await this.#call<{ Records: StreamRecord[]; NextShardIterator?: string }>(
        'GetRecords',
        { ShardIterator: this.#iterator },
      );
      const shard = this.#shard!;
      const read = Records.map((record) => ({ record, position: { shard, sequence: record.dynamodb.SequenceNumber } }));
      this.#last = read.at(-1)?.position ?? this.#last;
      this.#iterator = NextShardIterator;
      if (NextShardIterator === undefined) this.#shard = await this.#shardAfter(shard);
      return read;
    } catch (error) {
      // An iterator lasts for minutes only, which pass while a machine sleeps.
      this.#iterator = undefined;
      throw error;
    }
  }

  async #open(): Promise<string | undefined> {
    const shards = await this.#shards();
    // What the stream does not keep any more cannot be read on.
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

  /** The shard to read when this one has come to its end; itself, at its end, until there is one. */
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
