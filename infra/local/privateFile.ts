import { open, rename } from 'node:fs/promises';

export async function writePrivateJson(file: string, value: unknown): Promise<void> {
  await writePrivateText(file, `${JSON.stringify(value, undefined, 2)}\n`);
}

/** Writes a file with mode 0600. After a crash, the file has the old text or the new one. */
export async function writePrivateText(file: string, text: string): Promise<void> {
  const draft = `${file}.draft`;
  const handle = await open(draft, 'w', 0o600);
  try {
    // `open` sets the mode of new files only, and a crash may have left a draft.
    await handle.chmod(0o600);
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}
