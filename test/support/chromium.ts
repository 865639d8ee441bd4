import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createFolder } from '../../infra/tools/createFolder.ts';
import { installTool } from '../../infra/tools/installTool.ts';
import { html } from '../../lib/shared/html.ts';

const run = promisify(execFile);

/** What starts a browser. */
interface BrowserProgram {
  readonly executablePath: string;
  readonly env: Record<string, string>;
}

/**
 * Returns the Chromium in the package `@sparticuz/chromium`, so tests need no installed browser. The first call
 * installs and unpacks it. If `CHROME_PATH` is set, returns that program instead.
 */
export async function browserProgram(): Promise<BrowserProgram> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const { CHROME_PATH: chosen } = env;
  if (chosen) return { executablePath: chosen, env };
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(
      `The tests have a Chromium for Linux on x64 only, not for ${process.platform} on ${process.arch}. Set CHROME_PATH to the program of an installed Chrome or Chromium.`,
    );
  }
  const toolDir = dirname(await installTool('chromium'));
  const dir = join(toolDir, 'unpacked');
  await createFolder(dir, (draft) => unpack(toolDir, draft, dir));
  const program = { executablePath: join(dir, 'chromium'), env: { ...env, FONTCONFIG_FILE: join(dir, 'fonts.conf') } };
  return (await starts(program)) ? program : withOwnLibraries(program, dir);
}

/** Unpacks the package into the folder `draft`, which is renamed to `dir` later. */
async function unpack(toolDir: string, draft: string, dir: string): Promise<void> {
  // The package unpacks into the folder that `TMPDIR` names, so this needs another process. With the second variable,
  // the package also unpacks libraries that Lambda and minimal systems lack.
  const script = "import chromium from '@sparticuz/chromium'; await chromium.executablePath();";
  await run(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: toolDir,
    env: { ...process.env, TMPDIR: draft, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' },
  });
  // The browser uses only the fonts of the package, so texts have the same width on every machine.
  await writeFile(
    join(draft, 'fonts.conf'),
    `<?xml version="1.0"?>\n${String(html`<fontconfig><dir>${join(dir, 'fonts')}</dir><cachedir>${join(dir, 'fonts-cache')}</cachedir></fontconfig>`)}\n`,
  );
}

/**
 * Adds the package's libraries on a system without NSS. Other systems use their own libraries, because the package's
 * need glibc 2.34.
 */
async function withOwnLibraries(program: BrowserProgram, dir: string): Promise<BrowserProgram> {
  const programWithLibraries = { ...program, env: { ...program.env, LD_LIBRARY_PATH: join(dir, 'al2023/lib') } };
  if (await starts(programWithLibraries)) return programWithLibraries;
  const reason = await run(program.executablePath, ['--version'], { env: program.env }).catch(
    (error: unknown) => (error as Error).message,
  );
  throw new Error(
    `Chromium does not start on this machine. Install the missing library, or set CHROME_PATH to the program of an installed Chrome or Chromium. Its output: ${JSON.stringify(reason)}`,
  );
}

/** Returns whether the system finds all libraries of the program. */
function starts({ executablePath, env }: BrowserProgram): Promise<boolean> {
  return run(executablePath, ['--version'], { env }).then(
    () => true,
    () => false,
  );
}
