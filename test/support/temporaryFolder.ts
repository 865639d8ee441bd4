import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';

/**
 * Creates a folder. Returns its path without symbolic links. Removes it after the tests of the file, or of the `describe` that calls this function. If a process uses the
 * folder, the `afterAll` that stops the process must come before.
 */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'tests-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  return folder;
}
