import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { projectDir } from '../../infra/build/build.ts';
import { createEndpoint } from '../../infra/commands/newEndpoint.ts';
import { installTool } from '../../infra/tools/installTool.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

const copy = temporaryFolder();
let compiler: string;
beforeAll(async () => {
  compiler = join(await installTool('nativeCompiler'), 'typescript/bin/tsc');
  for (const part of ['functions', 'lib', 'infra', 'cdk.json', 'package.json', 'tsconfig.json'])
    cpSync(join(projectDir, part), join(copy, part), { recursive: true });
  symlinkSync(join(projectDir, 'node_modules'), join(copy, 'node_modules'));
});

const read = (file: string) => readFileSync(join(copy, file), 'utf8');
const run = (args: string[]) => spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' });
/** Returns the file names of the registered endpoints, in registered order. */
const registered = () =>
  [...read('functions/index.ts').matchAll(/^export \{[^}]*\} from '(.+)';$/gm)].map(([, file]) => file);

/** Returns the compiler errors of each file. */
function compile(files: string[]): string[] {
  const { compilerOptions } = JSON.parse(read('tsconfig.json'));
  writeFileSync(join(copy, 'tsconfig.some.json'), JSON.stringify({ compilerOptions, files }));
  const { stdout } = run([compiler, '-p', 'tsconfig.some.json', '--pretty', 'false', '--singleThreaded']);
  return files.map((file) =>
    stdout
      .split(/^(?=\S)/m)
      .filter((error) => error.startsWith(file))
      .join(''),
  );
}

/** Returns a generated declaration in which the missing fields are filled in. */
function filledIn(declaration: string): string {
  const fields = `summary: 'Add a label', auth: 'apiKey', kind: 'write', message: 'Added.', impact: 'customers cannot add labels',
  example: { data: {}, result: { data: {} } },`;
  return declaration
    .replace(/ +\/\/ Replace[^]*?\n\n/, fields)
    .replace(/async \(.*\) => \{\}/, 'async () => ({ data: {} })');
}

describe('npm run new:endpoint', () => {
  test('writes a declaration that does not compile until it is filled in', () => {
    const [started, filled] = ['v2/organizations/labels/add', '/v2/organizations/labels/remove'].map((path) =>
      createEndpoint(copy, path),
    ) as [string, string];
    writeFileSync(join(copy, filled), filledIn(read(filled)));
    const [ofStarted, ofFilled] = compile([started, filled]);
    for (const missing of ['summary', 'auth', 'kind', 'message']) expect(ofStarted).toContain(missing);
    expect(ofFilled).toBe('');
  });

  test('adds one line to the registry, and keeps the lines sorted', () => {
    const before = registered();
    const added = ['v1/a/get', 'v2/organizations/labels/get', 'v2/zones/send-all'];
    for (const path of added.toReversed()) createEndpoint(copy, path);
    expect(registered()).toEqual([...before, ...added.map((path) => `./${path}.ts`)].sort());
    expect(read('functions/index.ts')).toContain(
      "export { endpoint as zonesSendAll } from './v2/zones/send-all.ts';\n",
    );
    expect(read('functions/index.ts')).toContain("export { endpoint as aGetV1 } from './v1/a/get.ts';\n");
  });

  test.each(['', 'v2/users', 'v3/users/add', 'v2/users/Add', 'v2/../users/add', 'v2/users/add.ts'])(
    'refuses the path "%s"',
    (path) => {
      const registry = read('functions/index.ts');
      expect(() => createEndpoint(copy, path)).toThrow(`${path} is not a path like v2/comments/add`);
      expect(read('functions/index.ts')).toBe(registry);
    },
  );

  test('keeps a file that exists already, and prints its name', () => {
    const [existing, registry] = [read('functions/v2/users/add.ts'), read('functions/index.ts')];
    expect(run(['infra/commands/newEndpoint.ts', 'v2/users/add'])).toMatchObject({
      status: 1,
      stdout: '',
      stderr: 'functions/v2/users/add.ts exists already\n',
    });
    expect([read('functions/v2/users/add.ts'), read('functions/index.ts')]).toEqual([existing, registry]);
  });

  test.each([
    [[], 1],
    [['v2/labels/add', 'v2/labels/get'], 1],
    [['--help'], 0],
  ])('prints its usage when it is called with %j', (args, status) => {
    const registry = read('functions/index.ts');
    const printed = run(['infra/commands/newEndpoint.ts', ...args]);
    expect(printed.status).toBe(status);
    expect(status === 0 ? printed.stdout : printed.stderr).toMatch(/^Usage: npm run new:endpoint -- <path>\n/);
    expect(read('functions/index.ts')).toBe(registry);
  });

  test('prints the files and the checklist', () => {
    const { status, stdout } = run(['infra/commands/newEndpoint.ts', 'v2/labels/colors/add']);
    expect(status).toBe(0);
    for (const line of [
      'functions/v2/labels/colors/add.ts',
      'test/contract/examples -t /v2/labels/colors/add',
      '[ ] Fill in the declaration.',
      '[ ] Run npm test.',
    ])
      expect(stdout).toContain(line);
    expect(read('functions/v2/labels/colors/add.ts')).toContain("path: '/v2/labels/colors/add'");
  });
});
