import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Identifies a record of a stream. */
export interface StreamPosition {
  readonly shard: string;
  readonly sequence: string;
}

/**
 * Stores a position for each event source. The event source has processed all records of its stream up to this
 * position.
 */
export class StreamPositions {
  readonly #database: DatabaseSync;
  readonly #set: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    database.exec(
      'CREATE TABLE IF NOT EXISTS positions (source TEXT PRIMARY KEY, stream TEXT NOT NULL, shard TEXT NOT NULL, sequence TEXT NOT NULL)',
    );
    this.#set = database.prepare('INSERT OR REPLACE INTO positions VALUES (?, ?, ?, ?)');
  }

  /**
   * Returns the stored position of an event source. Returns undefined if it has none in this stream. `stream` is the
   * engine's id of the stream. A table that is created again gets another id, so positions in its old stream do not
   * count.
   */
  get(source: string, stream: string): StreamPosition | undefined {
    const row = this.#database
      .prepare('SELECT shard, sequence FROM positions WHERE source = ? AND stream = ?')
      .get(source, stream);
    return row && { shard: String(row.shard), sequence: String(row.sequence) };
  }

  set(source: string, stream: string, { shard, sequence }: StreamPosition): void {
    this.#set.run(source, stream, shard, sequence);
  }
}
