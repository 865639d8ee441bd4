import { open, rename } from 'node:fs/promises';

/** Writes JSON that only the owner may read, as `writeTextPrivately` does. */
export async function writePrivately(file: string, value: unknown): Promise<void> {
  await writeTextPrivately(file, `${JSON.stringify(value, undefined, 2)}\n`);
}

/** Writes a file that only the owner may read: whole or not at all, and on the disk when this resolves. */
export async function writeTextPrivately(file: string, text: string): Promise<void> {
  const draft = `${file}.draft`;
  const handle = await open(draft, 'w', 0o600);
  try {
    // The mode above is for new files only; a draft that a crash left behind may have another one.
    await handle.chmod(0o600);
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}
