import { DatabaseSync } from 'node:sqlite';

/**
 * Adds an index to dynoxide's table of stream records. Without it, the engine reads all records for each write and each
 * read. With 24,000 records, a write took 9 ms without the index and 0.6 ms with it. Call it after the engine has
 * started and before the first call to the engine.
 */
export function indexStreamRecords(file: string): void {
  withDatabase(file, (database) =>
    database.exec(
      'CREATE INDEX IF NOT EXISTS stream_sequence ON _stream_records (table_name, CAST(sequence_number AS INTEGER))',
    ),
  );
}

/** The largest number of records that one start deletes. Deleting them takes half a second. */
const MAX_DELETED_RECORDS = 20_000;

/**
 * Deletes stream records of a table that are before a sequence number, oldest first. The engine itself does not delete
 * stream records.
 */
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
