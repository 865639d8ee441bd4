import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type Imports, importsOf } from '../../support/imports.ts';

const projectDir = join(import.meta.dirname, '../../..');

/**
 * Returns the circles of imports. A circle is a group of files that all reach each other (Tarjan's strongly connected
 * components).
 */
function circles(imports: Imports): string[][] {
  const groups: string[][] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const path: string[] = [];
  const onPath = new Set<string>();
  const visit = (file: string) => {
    order.set(file, order.size);
    lowest.set(file, order.get(file)!);
    path.push(file);
    onPath.add(file);
    for (const target of imports.get(file) ?? []) {
      if (!order.has(target)) visit(target);
      if (onPath.has(target)) lowest.set(file, Math.min(lowest.get(file)!, lowest.get(target)!));
    }
    if (lowest.get(file) !== order.get(file)) return;
    const group = path.splice(path.indexOf(file));
    for (const member of group) onPath.delete(member);
    if (group.length > 1) groups.push(group.sort());
  };
  for (const file of imports.keys()) if (!order.has(file)) visit(file);
  return groups;
}

const isRule = (file: string) => /^lib\/\w+\/rules(\.ts$|\/)/.test(file);

/** Files that rules may import in addition to other rules: shared helpers and pure adapters. */
const pure = /^lib\/(shared|files|net)\/|^lib\/crypto\/publicKey\.ts$/;

/** Returns `importer -> imported` for each import of a rule that is neither another rule nor a pure file. */
function impureRules(imports: Imports): string[] {
  return [...imports]
    .filter(([file]) => isRule(file))
    .flatMap(([file, targets]) =>
      targets.filter((target) => !isRule(target) && !pure.test(target)).map((target) => `${file} -> ${target}`),
    );
}

const files = globSync('{functions,lib,infra}/**/*.{ts,mjs}', { cwd: projectDir });
const project = importsOf(new Map(files.map((file) => [file, readFileSync(join(projectDir, file), 'utf8')])));

describe('the layout', () => {
  test('has no circle of imports', () => {
    expect(circles(project)).toEqual([]);
  });

  test('has rules that import only rules and pure helpers', () => {
    expect(impureRules(project)).toEqual([]);
  });

  test('has no file directly in lib', () => {
    expect(globSync('lib/*.{ts,mjs}', { cwd: projectDir })).toEqual([]);
  });

  test('has no file in lib that imports functions or infra', () => {
    const outside = [...project].flatMap(([file, targets]) =>
      targets.filter(
        (target) => file.startsWith('lib/') && !file.startsWith('lib/client/') && /^(functions|infra)\//.test(target),
      ),
    );
    expect(outside).toEqual([]);
  });

  test('has no folder of lib with 15 % of its code or more', () => {
    const sizes = new Map<string, number>();
    for (const file of files.filter((name) => name.startsWith('lib/'))) {
      const folder = file.split('/')[1]!;
      sizes.set(folder, (sizes.get(folder) ?? 0) + readFileSync(join(projectDir, file)).length);
    }
    const all = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    expect([...sizes].filter(([, size]) => size >= 0.15 * all)).toEqual([]);
  });
});

describe('the checks of the layout', () => {
  const of = (sources: Record<string, string>) => importsOf(new Map(Object.entries(sources)));

  test('find a circle of three files', () => {
    const imports = of({
      'lib/a/a.ts': "import { b } from '../b/b.ts';",
      'lib/b/b.ts': "import type { C } from './c.ts';",
      'lib/b/c.ts': "import { a } from '../a/a.ts';",
      'lib/d.ts': "import { a } from './a/a.ts';",
    });
    expect(circles(imports)).toEqual([['lib/a/a.ts', 'lib/b/b.ts', 'lib/b/c.ts']]);
  });

  test('find a rule that imports a store', () => {
    const imports = of({
      'lib/a/rules/one.ts':
        "import { b } from '../b.ts';\nimport { c } from './c.ts';\nimport { d } from '../../shared/d.ts';",
      'lib/a/b.ts': '',
      'lib/a/rules/c.ts': '',
      'lib/shared/d.ts': '',
    });
    expect(impureRules(imports)).toEqual(['lib/a/rules/one.ts -> lib/a/b.ts']);
  });
});
