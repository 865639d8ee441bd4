import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { projectDir } from '../../infra/build/build.ts';
import { registeredEndpoints, registeredPages, registeredWorkers } from '../../infra/build/registry.ts';
import { limitClasses } from '../../lib/app/rules/limits.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

/**
 * A script that imports modules without environment variables. It prints the numbers of their exports, the variables
 * and clocks that the modules read, and the handles that they opened.
 */
const probe = `
  const noted = [];
  const note = (name) => {
    const [, , , caller = ''] = new Error().stack.split('\\n');
    // Reads by libraries are allowed.
    if (/\\/(lib|functions)\\//.test(caller) && !caller.includes('node_modules')) noted.push(name);
  };
  const { now } = Date;
  Date.now = () => { note('Date.now'); return now(); };
  process.env = new Proxy({}, { get: (target, name) => { note(name); return target[name]; } });
  // Reading these properties opens them, which is not an effect of the module.
  const { stdout, stderr } = process;
  const before = process.getActiveResourcesInfo();
  const modules = await Promise.all(process.argv.slice(1).map((file) => import(file)));
  const open = process.getActiveResourcesInfo().slice(before.length);
  stdout.write(JSON.stringify({ exports: modules.map((module) => Object.keys(module).length), noted, open }), () => process.exit());
`;

function effectsOfImporting(...files: string[]): { exports: number[]; noted: string[]; open: string[] } {
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '--eval', probe, ...files], {
      cwd: projectDir,
      env: {},
      encoding: 'utf8',
    }),
  );
}

test('importing the registries reads no environment variable and no clock, and opens no handle', () => {
  const registries = ['functions/index.ts', 'functions/pages.ts', 'functions/workers/index.ts'];
  expect(effectsOfImporting(...registries.map((file) => join(projectDir, file)))).toEqual({
    exports: [registeredEndpoints(), registeredPages(), registeredWorkers()].map(({ length }) => length),
    noted: [],
    open: [],
  });
});

const folder = temporaryFolder();

test('the check of imports finds a module with side effects', () => {
  mkdirSync(join(folder, 'lib'));
  const file = join(folder, 'lib', 'eager.mjs');
  writeFileSync(
    file,
    'export const name = process.env.TABLE_NAME;\nexport const today = Date.now();\nsetInterval(() => {}, 1000);\n',
  );
  expect(effectsOfImporting(file)).toEqual({ exports: [2], noted: ['TABLE_NAME', 'Date.now'], open: ['Timeout'] });
});

test('only endpoints for editors, extraction, semantic search and user data have the limit class "expensive"', () => {
  const isExpensive = (path: string) => /\/crdt\/|\/agents\/extract$|\/memory\/search$|\/users\/data\//.test(path);
  expect(limitClasses).toContain('expensive');
  for (const { path, twinOf, limitClass } of registeredEndpoints())
    expect([path, limitClass]).toEqual([path, isExpensive(twinOf ?? path) ? 'expensive' : undefined]);
});
