import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { html } from '../../lib/shared/html.ts';

const run = promisify(execFile);

const projectDir = resolve(import.meta.dirname, '../..');
const packageDir = join(projectDir, 'node_modules/@sparticuz/chromium');

/** What starts a browser. */
export interface BrowserProgram {
  readonly executablePath: string;
  readonly env: Record<string, string>;
}

/**
 * Returns the Chromium in the package `@sparticuz/chromium`, so tests need no installed browser. The first call
 * unpacks it into `dist`. If `CHROME_PATH` is set, returns that program instead.
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
  const { version } = JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8')) as { version: string };
  const dir = join(projectDir, 'dist', `chromium-${version}`);
  if (!existsSync(dir)) await unpackInto(dir);
  const program = { executablePath: join(dir, 'chromium'), env: { ...env, FONTCONFIG_FILE: join(dir, 'fonts.conf') } };
  return (await starts(program)) ? program : withOwnLibraries(program, dir);
}

/**
 * Unpacks into a temporary folder and then renames it. A killed run then leaves no incomplete program, and parallel
 * runs do not disturb each other.
 */
async function unpackInto(dir: string): Promise<void> {
  await mkdir(join(dir, '..'), { recursive: true });
  const draft = await mkdtemp(`${dir}.`);
  try {
    // With this variable, the package also unpacks libraries that Lambda and minimal systems lack.
    await run(process.execPath, [join(import.meta.dirname, 'unpackChromium.mjs')], {
      env: { ...process.env, TMPDIR: draft, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' },
    });
    // The browser uses only the fonts of the package, so texts have the same width on every machine.
    await writeFile(
      join(draft, 'fonts.conf'),
      `<?xml version="1.0"?>\n${String(html`<fontconfig><dir>${join(dir, 'fonts')}</dir><cachedir>${join(dir, 'fonts-cache')}</cachedir></fontconfig>`)}\n`,
    );
    await rename(draft, dir);
  } catch (error) {
    // If a parallel run has created the folder, the rename fails, and the folder can be used.
    if (!existsSync(dir)) throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
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
