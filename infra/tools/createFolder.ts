import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Does nothing if the folder exists. `fill` writes a temporary folder, which is renamed at the end: a killed process
 * leaves no incomplete folder, and parallel processes do not disturb each other.
 */
export async function createFolder(dir: string, fill: (draft: string) => Promise<void>): Promise<void> {
  if (existsSync(dir)) return;
  await mkdir(dirname(dir), { recursive: true });
  const draft = await mkdtemp(`${dir}.`);
  try {
    await fill(draft);
    await rename(draft, dir);
  } catch (error) {
    if (!existsSync(dir)) throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
