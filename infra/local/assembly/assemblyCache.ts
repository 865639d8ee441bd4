import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { glob, mkdir, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { StartError } from '../startError.ts';

const projectDir = resolve(import.meta.dirname, '../../..');
const cacheDir = join(projectDir, 'dist/local');

/**
 * If one of these files changes, the next run makes new templates and bundles. The name of a cached assembly contains
 * the hash of these files.
 */
export const sources = [
  'functions/**/*.ts',
  'lib/**/*.ts',
  'infra/app.ts',
  'infra/{build,commands,constructs,cost,monitoring,settings,stacks}/**/*.ts',
  'infra/local/assembly/{synthesise,assemblySettings}.ts',
  'cdk.json',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];

/** More than one, because another run may still load functions from its assembly. */
const MAX_CACHED = 5;

/**
 * Returns the folder of the templates and bundles of the current sources. A child process makes them if they are not
 * cached: the CDK needs 200 MB of memory, which the end of that process frees.
 */
export async function cachedAssembly(
  onSynthesis: () => void,
  { hasHeartbeat = false }: { readonly hasHeartbeat?: boolean } = {},
): Promise<string> {
  const variant = hasHeartbeat ? ['heartbeat'] : [];
  const dir = join(cacheDir, [await hashOfSources(), ...variant].join('-'));
  if (existsSync(dir)) await utimes(dir, new Date(), new Date());
  else {
    onSynthesis();
    await mkdir(cacheDir, { recursive: true });
    await synthesiseInto(dir, variant);
  }
  // Another run may delete the same folders at the same time.
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

/** Renames a draft folder at the end, so an interrupted run leaves no incomplete assembly. */
async function synthesiseInto(dir: string, variant: readonly string[]): Promise<void> {
  const draft = `${dir}.${process.pid}`;
  const child = spawn(process.execPath, [join(import.meta.dirname, 'synthesise.ts'), draft, ...variant], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const stop = () => child.kill();
  process.once('exit', stop);
  const [code] = (await once(child, 'exit')) as [code: number | null];
  process.off('exit', stop);
  if (code !== 0) {
    await rm(draft, { recursive: true, force: true });
    throw new StartError('The templates and bundles could not be made. See the error above.');
  }
  await rename(draft, dir).catch(async (error: unknown) => {
    await rm(draft, { recursive: true, force: true });
    // The rename also fails if another run has made the same assembly.
    if (!existsSync(dir)) throw error;
  });
}

async function prune(): Promise<void> {
  const used = await Promise.all(
    (await readdir(cacheDir)).map(async (name) => ({ name, at: (await stat(join(cacheDir, name))).mtimeMs })),
  );
  const old = used.sort((a, b) => b.at - a.at).slice(MAX_CACHED);
  await Promise.all(old.map(({ name }) => rm(join(cacheDir, name), { recursive: true, force: true })));
}
