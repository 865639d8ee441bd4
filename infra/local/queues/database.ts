import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Writes survive a crash of the process. A power failure may lose the last ones, whose work is also in the table, where
 * the worker `sweepShard` finds it.
 */
export function openDatabase(dataDir: string): DatabaseSync {
  const database = new DatabaseSync(join(dataDir, 'queues.db'));
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
  return database;
}

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
