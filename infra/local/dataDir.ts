import { existsSync } from 'node:fs';
import { chmod, lstat, mkdir, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { LOCK_FILE } from './dataLock.ts';
import { StartError } from './startError.ts';

const OWNER_ONLY = 0o077;

/**
 * Creates the data directory and returns its real path. Only the owner may read it, because it contains credentials,
 * mails and the table. Also restricts files of an earlier run. New files get their mode from the umask, which the table
 * engine inherits.
 */
export async function openDataDir(path: string): Promise<string> {
  process.umask(OWNER_ONLY);
  await mkdir(path, { recursive: true, mode: 0o700 });
  // `endProcesses` finds the engine of an earlier run by this path, so the path must be the same at every start.
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

/** Removes the permissions of group and others from a folder and its contents. Does not follow links. */
async function removeOtherPermissions(path: string): Promise<void> {
  const stats = await lstat(path).catch((error: unknown) => {
    // Another run that is still ending may delete files meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  });
  if (!stats || stats.isSymbolicLink()) return;
  if ((stats.mode & OWNER_ONLY) !== 0) await chmod(path, stats.mode & ~OWNER_ONLY & 0o777);
  if (!stats.isDirectory()) return;
  for (const name of await readdir(path)) await removeOtherPermissions(join(path, name));
}
