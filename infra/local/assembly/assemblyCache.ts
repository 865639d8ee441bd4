import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { glob, mkdir, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { StartError } from '../startError.ts';

const projectDir = resolve(import.meta.dirname, '../../..');
const cacheDir = join(projectDir, 'dist/local');

/** The files that the templates and bundles are made of, as globs. The rest of `infra/local` only reads what is made. */
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

/** The most recently used assemblies are kept: another run may still load functions from its own. */
const KEPT = 5;

/**
 * The cloud assembly (templates and bundles) of the sources as they are now: from the cache, or made by a child process,
 * which keeps the CDK's 200 MB and its start-up time out of this one.
 */
export async function cachedAssembly(onSynthesis: () => void): Promise<string> {
  const dir = join(cacheDir, await hashOfSources());
  if (existsSync(dir)) await utimes(dir, new Date(), new Date());
  else {
    onSynthesis();
    await mkdir(cacheDir, { recursive: true });
    await synthesiseInto(dir);
  }
  // Two runs may prune at the same moment; what either of them removed is gone as it should be.
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

/** Written beside its place and moved there whole, so that a run that was interrupted leaves no half of an assembly. */
async function synthesiseInto(dir: string): Promise<void> {
  const draft = `${dir}.${process.pid}`;
  const child = spawn(process.execPath, [join(import.meta.dirname, 'synthesise.ts'), draft], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const stop = () => child.kill();
  process.once('exit', stop);
  const [code] = await once(child, 'exit');
  process.off('exit', stop);
  if (code !== 0) {
    await rm(draft, { recursive: true, force: true });
    throw new StartError('The templates and bundles could not be made: see above.');
  }
  await rename(draft, dir).catch(async (error: unknown) => {
    await rm(draft, { recursive: true, force: true });
    // Another run made the same assembly meanwhile.
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
