import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { glob, mkdir, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { StartError } from '../startError.ts';

const projectDir = resolve(import.meta.dirname, '../../..');
const cacheDir = join(projectDir, 'dist/local');

/** Source files of the templates and bundles, as globs. The rest of `infra/local` only reads the result. */
export const sources = [
  'functions/**/*.ts',
  'lib/**/*.ts',
  'infra/app.ts',
  'infra/{build,commands,constructs,monitoring,stacks}/**/*.ts',
  'infra/local/assembly/{synthesise,assemblySettings}.ts',
  'cdk.json',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];

/** Number of assemblies to keep. Another run may still load functions from an older one. */
const KEPT = 5;

/**
 * Returns the folder of the cloud assembly (templates and bundles) of the current sources. Without a cached one, a
 * child process makes it, so that this process does not need the CDK's 200 MB and start-up time.
 */
export async function cachedAssembly(onSynthesis: () => void): Promise<string> {
  const dir = join(cacheDir, await hashOfSources());
  if (existsSync(dir)) await utimes(dir, new Date(), new Date());
  else {
    onSynthesis();
    await mkdir(cacheDir, { recursive: true });
    await synthesiseInto(dir);
  }
  // Another run may prune at the same time.
  await prune().catch(() => undefined);
  return dir;
}

async function hashOfSources(): Promise<string> {
  const files: string[] = [];
  for await (const entry of glob(sources, { cwd: projectDir, withFileTypes: true })) {
    if (entry.isFile()) files.push(join(entry.parentPath, entry.name));
  }
  const hash = createHash('sha256');
  for (const file of files.sort())
    hash
      .update(`${relative(projectDir, file)}\0`)
      .update(await readFile(file))
      .update('\0');
  return hash.digest('hex').slice(0, 16);
}

/** Writes to a draft folder and renames it, so that an interrupted run leaves no partial assembly. */
async function synthesiseInto(dir: string): Promise<void> {
  const draft = `${dir}.${process.pid}`;
  const child = spawn(process.execPath, [join(import.meta.dirname, 'synthesise.ts'), draft], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const stop = () => child.kill();
  process.once('exit', stop);
  const [code] = (await once(child, 'exit')) as [code: number | null];
  process.off('exit', stop);
  if (code !== 0) {
    await rm(draft, { recursive: true, force: true });
    throw new StartError('The templates and bundles could not be made: see above.');
  }
  await rename(draft, dir).catch(async (error: unknown) => {
    await rm(draft, { recursive: true, force: true });
    // Another run made the same assembly.
    if (!existsSync(dir)) throw error;
  });
}

async function prune(): Promise<void> {
  const used = await Promise.all(
    (await readdir(cacheDir)).map(async (name) => ({ name, at: (await stat(join(cacheDir, name))).mtimeMs })),
  );
  const old = used.sort((a, b) => b.at - a.at).slice(KEPT);
  await Promise.all(old.map(({ name }) => rm(join(cacheDir, name), { recursive: true, force: true })));
}
