import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { projectDir } from '../../../infra/build/build.ts';
import { sources } from '../../../infra/local/assembly/assemblyCache.ts';
import { importsOf } from '../../support/imports.ts';

test('the cache key covers every source file of templates and bundles', () => {
  const files = globSync('{functions,lib,infra}/**/*.ts', { cwd: projectDir });
  const imports = importsOf(new Map(files.map((file) => [file, readFileSync(join(projectDir, file), 'utf8')])));
  const reached = new Set(['infra/local/assembly/synthesise.ts']);
  for (const file of reached) for (const target of imports.get(file) ?? []) reached.add(target);
  const hashed = new Set(globSync(sources, { cwd: projectDir }));
  expect(reached.size).toBeGreaterThan(300);
  expect([...reached].filter((file) => !hashed.has(file))).toEqual([]);
});
