import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a folder with the files that `fill` writes, unless the folder exists. `fill` gets a temporary folder, which
 * is renamed at the end. So a killed process leaves no incomplete folder, and parallel processes do not disturb each
 * other.
 */
export async function createFolder(dir: string, fill: (draft: string) => Promise<void>): Promise<void> {
  if (existsSync(dir)) return;
  await mkdir(dirname(dir), { recursive: true });
  const draft = await mkdtemp(`${dir}.`);
  try {
    await fill(draft);
    await rename(draft, dir);
  } catch (error) {
    // If a parallel process has created the folder, the rename fails, and the folder can be used.
    if (!existsSync(dir)) throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
