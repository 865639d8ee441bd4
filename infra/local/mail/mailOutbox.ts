import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { writePrivateText } from '../privateFile.ts';
import { emlOf, type OutgoingMail } from './eml.ts';

export interface Outbox {
  put(message: OutgoingMail): Promise<string>;
}

/**
 * A file `<time>-<id>.eml` appears in the folder `outbox` when it is complete, so a program that watches the folder
 * reads no partial mail.
 */
export async function openOutbox(dataDir: string): Promise<Outbox> {
  const dir = join(dataDir, 'outbox');
  await mkdir(dir, { recursive: true, mode: 0o700 });
  return {
    async put(message) {
      const [id, date] = [randomUUID(), new Date()];
      await writePrivateText(
        join(dir, `${date.toISOString().replace(/[-:.]/g, '')}-${id}.eml`),
        emlOf(message, { id, date }),
      );
      return id;
    },
  };
}
