import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { installTool } from '../../infra/tools/installTool.ts';
import { webhooks } from '../../lib/openapi/webhooks.ts';
import { documentOf } from '../support/documented.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { endpoints } from './cases.ts';

/** Each program by its path in the packages, with its arguments for a document and a folder, and the file that it writes. */
const generators = [
  { name: 'openapi-typescript/bin/cli.js', args: ['openapi.json', '-o', 'schema.ts'], file: 'schema.ts' },
  { name: '@hey-api/openapi-ts/bin/run.js', args: ['-i', 'openapi.json', '-o', 'hey-api'], file: 'hey-api/index.ts' },
  {
    name: 'orval/dist/bin/orval.mjs',
    args: ['--input', 'openapi.json', '--output', 'orval.ts', '--client', 'fetch'],
    file: 'orval.ts',
  },
  { name: 'openapi-zod-client/bin.js', args: ['openapi.json', '-o', 'zod.ts'], file: 'zod.ts' },
];

const run = promisify(execFile);
const folder = temporaryFolder();

test('client generators for TypeScript write code that compiles', async () => {
  const packages = await installTool('clientGenerators');
  const tsc = join(await installTool('nativeCompiler'), 'typescript/bin/tsc');
  await symlink(packages, join(folder, 'node_modules'));
  await writeFile(join(folder, 'openapi.json'), JSON.stringify(documentOf(endpoints, webhooks)));
  const start = (name: string, args: readonly string[]) =>
    run(process.execPath, [join(packages, name), ...args], { cwd: folder });
  for (const { name, args } of generators) await start(name, args);
  const compiler = '--noEmit --strict --skipLibCheck --target es2022 --module esnext --moduleResolution bundler'.split(
    ' ',
  );
  const files = generators.map(({ file }) => file);
  // The native compiler needs a third of the CPU time of the package `typescript`, and garbage collection would free little.
  const { stdout } = await run(
    process.execPath,
    [tsc, '--singleThreaded', ...compiler, '--lib', 'es2022,dom,dom.iterable', ...files],
    { cwd: folder, env: { GOGC: 'off', ...process.env } },
  ).catch((error: unknown) => error as { stdout: string });
  expect(stdout).toBe('');
});
