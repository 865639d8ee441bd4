import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartError } from './startError.ts';

/** Every run leaves this file in its data directory. */
export const LOCK_FILE = 'lock';

/**
 * Makes this process the only run on a data directory, until it ends or releases the lock. SQLite's lock belongs to the
 * kernel, which frees it however the process dies: there are no stale locks and no process ids to compare.
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
