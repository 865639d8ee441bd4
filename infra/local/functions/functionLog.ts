import { createWriteStream, existsSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROTATE_BYTES = 50 * 1024 * 1024;

/** The log that receives the functions' standard output and standard error. */
export interface FunctionLog {
  write(chunk: Uint8Array | string): void;
  close(): Promise<void>;
}

/** Opens `functions.log` for appending. First renames a file of more than 50 MB to `functions.log.1`. */
export function openFunctionLog(dataDir: string, toStdout: boolean): FunctionLog {
  const file = join(dataDir, 'functions.log');
  if (existsSync(file) && statSync(file).size > ROTATE_BYTES) renameSync(file, `${file}.1`);
  const stream = createWriteStream(file, { flags: 'a' });
  return {
    write(chunk) {
      stream.write(chunk);
      if (toStdout) process.stdout.write(chunk);
    },
    close: () => new Promise((resolve) => stream.end(resolve)),
  };
}
