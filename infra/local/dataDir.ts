import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { chmod, lstat, mkdir, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartError } from './startError.ts';

const OWNER_ONLY = 0o077;

const LOCK_FILE = 'lock';

/**
 * Creates the data directory if it is missing, and returns its real path. Others lose access to it and to files of an
 * earlier run, and get none to new files.
 */
export async function openDataDir(path: string): Promise<string> {
  process.umask(OWNER_ONLY);
  await mkdir(path, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(`${path} cannot be created (${code}). Set DATA_DIR to a directory that you can write.`);
  });
  // `endProcesses` finds the engine of an earlier run by the path without links.
  const dataDir = await realpath(path);
  const { mode } = await lstat(dataDir);
  const isOfEarlierRun = existsSync(join(dataDir, LOCK_FILE));
  if (!isOfEarlierRun && (mode & OWNER_ONLY) !== 0 && (await readdir(dataDir)).length > 0) {
    throw new StartError(
      `${dataDir} holds files of something else and others may read it. Set DATA_DIR to a directory for the run alone.`,
    );
  }
  if (isOfEarlierRun) await removeOtherPermissions(dataDir);
  else await chmod(dataDir, 0o700);
  return dataDir;
}

async function removeOtherPermissions(path: string): Promise<void> {
  const stats = await lstat(path).catch((error: unknown) => {
    // An earlier run that has not quite ended may delete the file.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  });
  if (!stats || stats.isSymbolicLink()) return;
  if ((stats.mode & OWNER_ONLY) !== 0) await chmod(path, stats.mode & ~OWNER_ONLY & 0o777);
  if (!stats.isDirectory()) return;
  for (const name of await readdir(path)) await removeOtherPermissions(join(path, name));
}

/**
 * Locks the data directory until the process ends or releases the lock: the kernel frees a lock of SQLite even after a
 * crash. Throws a `StartError` if another run holds it.
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
