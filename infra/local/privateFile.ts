import { open, rename } from 'node:fs/promises';

/** Writes JSON that only the owner may read: whole or not at all, and on the disk when this resolves. */
export async function writePrivately(file: string, value: unknown): Promise<void> {
  const draft = `${file}.draft`;
  const handle = await open(draft, 'w', 0o600);
  try {
    // The mode above is for new files only; a draft that a crash left behind may have another one.
    await handle.chmod(0o600);
    await handle.writeFile(`${JSON.stringify(value, undefined, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}
