import { DatabaseSync } from 'node:sqlite';

/**
 * Adds a missing index to dynoxide's stream records. The engine scans all records at every write and every read. With
 * 24,000 records a write took 9 ms; with the index it takes 0.6 ms. Must be called between the engine's start and the
 * first call.
 */
export function indexStreamRecords(file: string): void {
  withDatabase(file, (database) =>
    database.exec(
      'CREATE INDEX IF NOT EXISTS stream_sequence ON _stream_records (table_name, CAST(sequence_number AS INTEGER))',
    ),
  );
}

/** Limits the delay of a start to half a second. */
const MAX_DELETED_RECORDS = 20_000;

/** Deletes stream records of a table before this one, oldest first. The engine never deletes any. */
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
