import { createWriteStream, existsSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROTATE_BYTES = 50 * 1024 * 1024;

/** The log file of all functions. It receives their standard output and standard error. */
export interface FunctionLog {
  write(chunk: Uint8Array | string): void;
  close(): Promise<void>;
}

/**
 * Opens `functions.log` for appending. If the file exceeds 50 MB, first renames it to `functions.log.1`. If the file
 * cannot be written, for example on a full disk, the log prints the reason once and drops later lines.
 */
export function openFunctionLog(dataDir: string, toStdout: boolean): FunctionLog {
  const file = join(dataDir, 'functions.log');
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
