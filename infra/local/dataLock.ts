import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartError } from './startError.ts';

/** The name of the SQLite file in the data directory that a run locks. */
export const LOCK_FILE = 'lock';

/**
 * Locks the data directory until the process ends or releases the lock. Throws a `StartError` if another run holds the
 * lock. The kernel frees the lock of SQLite even if the process crashes. So a lock always belongs to a running process.
 */
export function lockDataDir(dataDir: string): { release(): void } {
  const ownerFile = join(dataDir, 'lock.pid');
  const lock = new DatabaseSync(join(dataDir, LOCK_FILE));
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if ((error as { errstr?: string }).errstr !== 'database is locked') throw error;
    throw new StartError(
      `Another run (process ${readFileSync(ownerFile, 'utf8')}) uses ${dataDir}. Stop it, or set DATA_DIR to another directory.`,
    );
  }
  writeFileSync(ownerFile, String(process.pid));
  return { release: () => lock.close() };
}
