import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartError } from './startError.ts';

/** The SQLite file whose lock a run holds. Every run creates it in its data directory. */
export const LOCK_FILE = 'lock';

/**
 * Locks the data directory until the process ends or releases the lock. Throws a `StartError` if another run holds the
 * lock. SQLite locks through the kernel, which frees the lock even if the process crashes. So no lock can be stale.
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
