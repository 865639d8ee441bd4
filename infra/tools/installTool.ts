import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { cp, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { createFolder } from './createFolder.ts';

const run = promisify(execFile);

/** A tool that only some commands or tests need. The folder of this name has its package.json and package-lock.json. */
export type Tool =
  | 'cdk'
  | 'chromium'
  | 'clientGenerators'
  | 'dynamoDbLocal'
  | 'editorBindings'
  | 'lambdaRuntime'
  | 'nativeCompiler'
  | 'openapiLinter'
  | 'stryker';

/** Shorter than the timeout of a test, so that a test fails with an error that names the tool. */
const INSTALL_MILLISECONDS = 240_000;

/** The folder of all installed tools. `npm ci` keeps it. */
export const TOOLS_DIR = resolve(import.meta.dirname, '../../dist/tools');

/**
 * Returns the folder `node_modules` of a tool. The first call installs the packages that the tool's package-lock.json
 * names. Throws an error with the output of npm if npm cannot install them.
 */
export async function installTool(tool: Tool, { npm = 'npm', toolsDir = TOOLS_DIR } = {}): Promise<string> {
  const source = join(import.meta.dirname, tool);
  const lock = await readFile(join(source, 'package-lock.json'));
  // After a change of the lock file, the name is another one and the tool is installed again.
  const lockHash = hash('sha256', lock, 'hex').slice(0, 8);
  const dir = join(toolsDir, `${tool}-${lockHash}`);
  await createFolder(dir, async (draft) => {
    process.stderr.write(`Installing infra/tools/${tool} …\n`);
    await cp(source, draft, { recursive: true });
    const options = { cwd: draft, timeout: INSTALL_MILLISECONDS };
    await run(npm, ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], options).catch((error: unknown) => {
      throw new Error(`npm cannot install the packages of infra/tools/${tool}: ${(error as Error).message}`);
    });
  });
  return join(dir, 'node_modules');
}
