import { DatabaseSync } from 'node:sqlite';

/**
 * Without this index, dynoxide reads all stream records for each call: with 24,000 records, a write took 9 ms instead
 * of 0.6 ms. Call it between the engine's start and its first call.
 */
export function indexStreamRecords(file: string): void {
  withDatabase(file, (database) =>
    database.exec(
      'CREATE INDEX IF NOT EXISTS stream_sequence ON _stream_records (table_name, CAST(sequence_number AS INTEGER))',
    ),
  );
}

/** One start deletes at most so many records, which takes half a second. */
const MAX_DELETED_RECORDS = 20_000;

/** Deletes the oldest records before a sequence number. The engine itself deletes none. */
export function deleteStreamRecords(file: string, table: string, sequence: string): void {
  const oldest =
    'SELECT id FROM _stream_records WHERE table_name = ? AND CAST(sequence_number AS INTEGER) < CAST(? AS INTEGER) ORDER BY id LIMIT ?';
  withDatabase(file, (database) =>
    database.prepare(`DELETE FROM _stream_records WHERE id IN (${oldest})`).run(table, sequence, MAX_DELETED_RECORDS),
  );
}

function withDatabase(file: string, run: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  try {
    run(database);
  } finally {
    database.close();
  }
}
