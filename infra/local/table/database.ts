import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Where queues and positions in streams are kept. What is written survives the end of the process, however it ends; only a
 * power cut may take the last moments, which the table itself, where everything is that the messages are about, outlives.
 */
export function openDatabase(dataDir: string): DatabaseSync {
  const database = new DatabaseSync(join(dataDir, 'queues.db'));
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
  return database;
}

/** Runs statements as one: all of them happen or none. */
export function inTransaction<T>(database: DatabaseSync, run: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = run();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}
