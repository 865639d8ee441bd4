import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { createFolder } from '../../infra/tools/createFolder.ts';
import { TOOLS_DIR } from '../../infra/tools/installTool.ts';

const run = promisify(execFile);

/**
 * Returns the folder with the packages of the `requirements.txt` in `folder`, which has their checksums. The first call installs
 * them. Throws an error with the output of pip if pip cannot install them. Only wheels are installed, so no script of a package runs.
 */
export async function installPythonPackages(folder = import.meta.dirname): Promise<string> {
  const requirements = join(folder, 'requirements.txt');
  const lockHash = hash('sha256', await readFile(requirements), 'hex').slice(0, 8);
  const dir = join(TOOLS_DIR, `python-${basename(folder)}-${lockHash}`);
  await createFolder(dir, async (draft) => {
    process.stderr.write(`Installing ${requirements} …\n`);
    const options = ['--quiet', '--disable-pip-version-check', '--only-binary', ':all:', '--require-hashes'];
    await run('python3', ['-m', 'pip', 'install', ...options, '--target', draft, '-r', requirements]);
  });
  return dir;
}
