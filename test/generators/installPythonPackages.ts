import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createFolder } from '../../infra/tools/createFolder.ts';
import { TOOLS_DIR } from '../../infra/tools/installTool.ts';

const run = promisify(execFile);

/**
 * Returns the folder with the packages of `requirements.txt`, which has their checksums. The first call installs
 * them. Throws an error with the output of pip if pip cannot install them. Only wheels are installed, so no script of a package runs.
 */
export async function installPythonPackages(): Promise<string> {
  const requirements = join(import.meta.dirname, 'requirements.txt');
  const lockHash = hash('sha256', await readFile(requirements), 'hex').slice(0, 8);
  const dir = join(TOOLS_DIR, `pythonGenerators-${lockHash}`);
  await createFolder(dir, async (draft) => {
    process.stderr.write('Installing test/generators/requirements.txt …\n');
    const options = ['--quiet', '--disable-pip-version-check', '--only-binary', ':all:', '--require-hashes'];
    await run('python3', ['-m', 'pip', 'install', ...options, '--target', draft, '-r', requirements]);
  });
  return dir;
}
