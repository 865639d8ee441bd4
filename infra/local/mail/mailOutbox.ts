import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { emlOf, type Message } from './eml.ts';
import { writeTextPrivately } from '../privateFile.ts';

/** Where mail ends on one machine. */
export interface Outbox {
  /** Keeps a mail and gives its id. */
  put(message: Message): Promise<string>;
}

/**
 * The folder `outbox` of the data directory: one `.eml` file for each mail, named by its time. A file appears under that
 * name when it is whole, so that a watcher never reads half of one.
 */
export async function openOutbox(dataDir: string): Promise<Outbox> {
  const dir = join(dataDir, 'outbox');
  await mkdir(dir, { recursive: true, mode: 0o700 });
  return {
    async put(message) {
      const [id, date] = [randomUUID(), new Date()];
      await writeTextPrivately(
        join(dir, `${date.toISOString().replace(/[-:.]/g, '')}-${id}.eml`),
        emlOf(message, { id, date }),
      );
      return id;
    },
  };
}
