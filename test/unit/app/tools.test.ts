import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createFolder } from '../../../infra/tools/createFolder.ts';
import { installTool } from '../../../infra/tools/installTool.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

const dir = temporaryFolder();

const fillWith = (content: string) => (draft: string) => writeFile(join(draft, 'file'), content);

describe('createFolder', () => {
  test('fills a folder once', async () => {
    const folder = join(dir, 'once/folder');
    await createFolder(folder, fillWith('first'));
    await createFolder(folder, fillWith('second'));
    expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('first');
  });

  test('leaves one whole folder and no draft if several processes create it at the same time', async () => {
    const parent = join(dir, 'parallel');
    await Promise.all(['a', 'b', 'c'].map((content) => createFolder(join(parent, 'folder'), fillWith(content))));
    expect(readdirSync(parent)).toEqual(['folder']);
    expect(readdirSync(join(parent, 'folder'))).toEqual(['file']);
  });

  test('leaves nothing if the folder cannot be filled, and throws the error', async () => {
    const parent = join(dir, 'failed');
    const filled = createFolder(join(parent, 'folder'), async (draft) => {
      await writeFile(join(draft, 'half'), '');
      throw new Error('no space left');
    });
    await expect(filled).rejects.toThrow('no space left');
    expect(readdirSync(parent)).toEqual([]);
  });
});

describe('installTool', () => {
  const fakeNpm = (name: string, script: string) => {
    const file = join(dir, name);
    writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return file;
  };

  test('throws an error that names the tool and what npm printed, if npm cannot install it', async () => {
    const npm = fakeNpm('failingNpm', 'echo "npm error code ENOTFOUND" >&2; exit 1');
    await expect(installTool('cdk', { npm, toolsDir: join(dir, 'tools') })).rejects.toThrow(
      /^npm cannot install the packages of infra\/tools\/cdk: [^]*npm error code ENOTFOUND/,
    );
  });

  test('installs the lock file of the tool once, without install scripts', async () => {
    const npm = fakeNpm(
      'npm',
      'mkdir node_modules; cp package-lock.json node_modules; echo "$@" > node_modules/arguments',
    );
    const options = { npm, toolsDir: join(dir, 'tools') };
    const packages = await installTool('cdk', options);
    expect(readFileSync(join(packages, 'arguments'), 'utf8')).toMatch(/^ci --ignore-scripts /);
    expect(JSON.parse(readFileSync(join(packages, 'package-lock.json'), 'utf8'))).toMatchObject({ name: 'cdk' });
    expect(await installTool('cdk', { ...options, npm: fakeNpm('unusedNpm', 'exit 1') })).toBe(packages);
  });
});
