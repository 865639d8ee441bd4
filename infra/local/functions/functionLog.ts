import { createWriteStream, existsSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROTATE_BYTES = 50 * 1024 * 1024;

export const FUNCTION_LOG = 'functions.log';
export const ACCESS_LOG = 'access.log';

export interface LogFile {
  write(chunk: Uint8Array | string): void;
  close(): Promise<void>;
}

/**
 * Opens a log file for appending. A file above 50 MB is first renamed to `<name>.1`. After an error such as a full
 * disk, the log prints the reason once and drops later lines.
 */
export function openLogFile(dataDir: string, name: string, toStdout = false): LogFile {
  const file = join(dataDir, name);
  if (existsSync(file) && statSync(file).size > ROTATE_BYTES) renameSync(file, `${file}.1`);
  const stream = createWriteStream(file, { flags: 'a' });
  stream.once('error', ({ message }) => console.error(`${file} misses the lines from now on: ${message}`));
  return {
    write(chunk) {
      stream.write(chunk);
      if (toStdout) process.stdout.write(chunk);
    },
    close: () => new Promise((resolve) => stream.end(resolve)),
  };
}
