import type { DatabaseSync, StatementSync } from 'node:sqlite';

export interface StreamPosition {
  readonly shard: string;
  readonly sequence: string;
}

/** All records up to the position of an event source are processed or skipped. */
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
   * `stream` is the ARN of the table's stream. A table that is created again has another stream, and so no position.
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
