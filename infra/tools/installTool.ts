import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { cp, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { createFolder } from './createFolder.ts';

const run = promisify(execFile);

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

/** `npm ci` keeps this folder. */
export const TOOLS_DIR = resolve(import.meta.dirname, '../../dist/tools');

export async function installTool(tool: Tool, { npm = 'npm', toolsDir = TOOLS_DIR } = {}): Promise<string> {
  const source = join(import.meta.dirname, tool);
  const lock = await readFile(join(source, 'package-lock.json'));
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
