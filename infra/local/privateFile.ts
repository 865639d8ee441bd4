import { open, rename } from 'node:fs/promises';

/** Writes a value as JSON to a file with mode 0600, as `writePrivateText` does. */
export async function writePrivateJson(file: string, value: unknown): Promise<void> {
  await writePrivateText(file, `${JSON.stringify(value, undefined, 2)}\n`);
}

/** Writes a file with mode 0600, atomically. The text is on disk when the promise resolves. */
export async function writePrivateText(file: string, text: string): Promise<void> {
  const draft = `${file}.draft`;
  const handle = await open(draft, 'w', 0o600);
  try {
    // The mode of `open` applies to new files only. A draft left by a crash may have another mode.
    await handle.chmod(0o600);
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}
