import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { projectDir } from '../../infra/build/build.ts';
import { createEndpoint } from '../../infra/commands/newEndpoint.ts';

const copy = mkdtempSync(join(tmpdir(), 'project-'));
beforeAll(() => {
  for (const part of ['functions', 'lib', 'infra', 'package.json', 'tsconfig.json'])
    cpSync(join(projectDir, part), join(copy, part), { recursive: true });
  symlinkSync(join(projectDir, 'node_modules'), join(copy, 'node_modules'));
});
afterAll(() => rmSync(copy, { recursive: true }));

const read = (file: string) => readFileSync(join(copy, file), 'utf8');
const run = (args: string[]) => spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' });
const lines = (registry: string) => registry.split('\n').filter((line) => line.startsWith('export'));

/** What the compiler says of each file. */
function compile(files: string[]): string[] {
  const { compilerOptions } = JSON.parse(read('tsconfig.json'));
  writeFileSync(join(copy, 'tsconfig.some.json'), JSON.stringify({ compilerOptions, files }));
  const { stdout } = run(['node_modules/typescript/bin/tsc', '-p', 'tsconfig.some.json', '--pretty', 'false']);
  return files.map((file) =>
    stdout
      .split(/^(?=\S)/m)
      .filter((error) => error.startsWith(file))
      .join(''),
  );
}

/** The file with everything that the compiler asks for. */
function filledIn(source: string): string {
  return source
    .replace(
      '  input:',
      `  summary: 'Add a label', auth: 'apiKey', kind: 'write', message: 'Added.', impact: 'customers cannot add labels',
  example: { data: {}, result: { data: {} } },
  input:`,
    )
    .replace(/async \(.*\) => \{\n/, 'async () => {\n  return { data: {} };\n');
}

describe('npm run new:endpoint', () => {
  test('starts a file that the compiler sends back until it is filled in', () => {
    const [started, filled] = [
      createEndpoint(copy, 'v2/organizations/labels/add'),
      createEndpoint(copy, '/v2/organizations/labels/remove'),
    ];
    writeFileSync(join(copy, filled), filledIn(read(filled)));
    const [ofStarted, ofFilled] = compile([started, filled]);
    for (const missing of ['summary', 'auth', 'kind', 'message']) expect(ofStarted).toContain(missing);
    expect(ofFilled).toBe('');
  });

  test('puts one line into the registry, in its order', () => {
    const before = lines(read('functions/index.ts'));
    for (const path of ['v2/zones/send-all', 'v2/organizations/labels/get', 'v1/a/get']) createEndpoint(copy, path);
    expect(lines(read('functions/index.ts')).filter((line) => !before.includes(line))).toEqual([
      "export { endpoint as aGetV1 } from './v1/a/get.ts';",
      "export { endpoint as organizationsLabelsGet } from './v2/organizations/labels/get.ts';",
      "export { endpoint as zonesSendAll } from './v2/zones/send-all.ts';",
    ]);
    const modules = lines(read('functions/index.ts')).map((line) => line.split("'")[1]!);
    const position = modules.indexOf('./v2/organizations/labels/get.ts');
    expect(modules.slice(position - 1, position + 2)).toEqual(
      ['add', 'get', 'remove'].map((verb) => `./v2/organizations/labels/${verb}.ts`),
    );
    expect([modules[0], modules.at(-1)]).toEqual(['./v1/a/get.ts', './v2/zones/send-all.ts']);
  });

  test.each(['', 'v2/users', 'v3/users/add', 'v2/users/Add', 'v2/../users/add', 'v2/users/add.ts'])(
    'refuses the path "%s"',
    (path) => {
      const registry = read('functions/index.ts');
      expect(() => createEndpoint(copy, path)).toThrow(`${path} is not a path like v2/comments/add`);
      expect(read('functions/index.ts')).toBe(registry);
    },
  );

  test('overwrites nothing, and tells the operator in a line', () => {
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
  ])('says how it is used when it is called with %j', (args, status) => {
    const registry = read('functions/index.ts');
    const said = run(['infra/commands/newEndpoint.ts', ...args]);
    expect(said.status).toBe(status);
    expect(status === 0 ? said.stdout : said.stderr).toMatch(/^Usage: npm run new:endpoint -- <path>\n/);
    expect(read('functions/index.ts')).toBe(registry);
  });

  test('says where the file is', () => {
    expect(run(['infra/commands/newEndpoint.ts', 'v2/labels/colors/add'])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('functions/v2/labels/colors/add.ts'),
    });
    expect(read('functions/v2/labels/colors/add.ts')).toContain("path: '/v2/labels/colors/add'");
  });
});
