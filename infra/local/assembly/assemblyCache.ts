import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { glob, mkdir, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { StartError } from '../startError.ts';

const projectDir = resolve(import.meta.dirname, '../../..');
const cacheDir = join(projectDir, 'dist/local');

/** The files from which templates and bundles are made, as globs. Other files of `infra/local` only read the result. */
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

/** The number of assemblies in the cache. Another run may still load functions from an older assembly. */
const MAX_CACHED = 5;

/**
 * Returns the folder of the cloud assembly (templates and bundles) of the current sources, with the heartbeat if `hasHeartbeat`. If the
 * assembly is not cached, calls `onSynthesis` and makes the assembly in a child process, because the CDK needs 200 MB of memory.
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
  // A run that prunes at the same time may delete the same folders.
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

/** Makes the assembly in a draft folder and renames the folder, so that an interrupted run leaves no partial assembly. */
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
    // Another run may have made the same assembly meanwhile.
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
