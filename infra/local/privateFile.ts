import { open, rename } from 'node:fs/promises';

/** Writes a value as JSON with `writePrivateText`. */
export async function writePrivateJson(file: string, value: unknown): Promise<void> {
  await writePrivateText(file, `${JSON.stringify(value, undefined, 2)}\n`);
}

/**
 * Writes a file that only its owner can read (mode 0600). The file is replaced atomically. When the promise resolves,
 * the text is on the disk.
 */
export async function writePrivateText(file: string, text: string): Promise<void> {
  const draft = `${file}.draft`;
  const handle = await open(draft, 'w', 0o600);
  try {
    // `open` sets the mode of new files only. A crash may have left a draft with another mode.
    await handle.chmod(0o600);
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}
