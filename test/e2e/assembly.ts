import { cp, mkdir, mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedAssembly } from '../../infra/local/assembly/assemblyCache.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

interface Template {
  readonly Resources: Record<string, any>;
}

/** A copy of the current cloud assembly in its own directory. Tests may change it. It is removed after the tests. */
interface AssemblyCopy {
  readonly dir: string;
  /** Calls `change` with one template after the other until it does not return false. Saves that template. */
  changeTemplate(change: (template: Template) => boolean | undefined): Promise<void>;
  /** Adds a module `index.mjs` as an asset. Returns the object key that a function's `Code` must name. */
  addCode(name: string, code: string): Promise<string>;
}

const copies = temporaryFolder();

export async function copyAssembly(): Promise<AssemblyCopy> {
  const original = await cachedAssembly(() => undefined);
  const dir = await mkdtemp(join(copies, 'assembly-'));
  for (const entry of await readdir(original, { withFileTypes: true })) {
    const [from, to] = [join(original, entry.name), join(dir, entry.name)];
    await (entry.isDirectory() ? symlink(from, to) : cp(from, to));
  }
  const filesOf = async (ending: string) =>
    (await readdir(dir))
      .filter((name) => name.endsWith(ending))
      .sort()
      .map((name) => join(dir, name));
  return {
    dir,
    async changeTemplate(change) {
      for (const file of await filesOf('.template.json')) {
        const template = JSON.parse(await readFile(file, 'utf8')) as Template;
        if (change(template) === false) continue;
        return writeFile(file, JSON.stringify(template));
      }
      throw new Error('No template accepts the change');
    },
    async addCode(name, code) {
      await mkdir(join(dir, name));
      await writeFile(join(dir, name, 'index.mjs'), code);
      const [file = ''] = await filesOf('.assets.json');
      const assets = JSON.parse(await readFile(file, 'utf8')) as { files: Record<string, object> };
      assets.files[name] = { source: { path: name }, destinations: { local: { objectKey: `${name}.zip` } } };
      await writeFile(file, JSON.stringify(assets));
      return `${name}.zip`;
    },
  };
}
