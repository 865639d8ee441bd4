import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type Imports, importsOf } from '../../support/imports.ts';

const projectDir = join(import.meta.dirname, '../../..');

/**
 * The folders of `lib` by tier, the lowest tier first. A file imports only files of its own tier and of lower ones. Inside a tier,
 * any order of the folders without a circle will do.
 */
const tiers = {
  kernel: [
    'shared',
    'markup',
    'app',
    'crypto',
    'net',
    'observability',
    'files',
    'bedrock',
    'table',
    'http',
    'workers',
    'jobs',
  ],
  ground: ['events', 'workspaces', 'directory', 'userTokens'],
  content: [
    'content',
    'recordings',
    'editors',
    'memory',
    'agents',
    'activities',
    'comments',
    'reactions',
    'notifications',
    'presence',
    'liveState',
    'invitations',
  ],
  channels: ['mail', 'webhooks', 'live', 'chat'],
  composition: ['apiKeys', 'fanOut', 'userData', 'locations', 'kinds', 'deletion', 'migration'],
  edges: ['openapi', 'client', 'heartbeat'],
};

/**
 * Returns the groups of nodes that all reach each other (Tarjan's strongly connected components). A group comes after the groups
 * that it imports.
 */
function components(imports: Imports): string[][] {
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
    groups.push(group.sort());
  };
  for (const file of imports.keys()) if (!order.has(file)) visit(file);
  return groups;
}

const circles = (imports: Imports) => components(imports).filter((group) => group.length > 1);

/** Returns the folder or loose file of `root` that contains a file, or undefined for a file elsewhere. */
const roomOf = (file: string, root: string) =>
  file.startsWith(`${root}/`) ? file.slice(root.length + 1).split('/')[0] : undefined;

/** Returns the imports between the rooms of `root`. */
function importsOfRooms(imports: Imports, root: string): Imports {
  const rooms = new Map<string, Set<string>>();
  for (const [file, targets] of imports) {
    const room = roomOf(file, root);
    if (room === undefined) continue;
    const imported = rooms.get(room) ?? new Set();
    rooms.set(room, imported);
    for (const target of targets.map((name) => roomOf(name, root)))
      if (target !== undefined && target !== room) imported.add(target);
  }
  return new Map([...rooms].map(([room, imported]) => [room, [...imported]]));
}

/** Returns `importer -> imported` for each import from a lower tier into a higher one. */
function importsUp(imports: Imports): string[] {
  const ranks = new Map(Object.values(tiers).flatMap((rooms, rank) => rooms.map((room) => [room, rank] as const)));
  const rankOf = (file: string) => ranks.get(roomOf(file, 'lib') ?? '');
  return [...imports].flatMap(([file, targets]) =>
    targets
      .filter((target) => (rankOf(file) ?? Infinity) < (rankOf(target) ?? -1))
      .map((target) => `${file} -> ${target}`),
  );
}

/** Returns the rooms of a tier with those that they import first. Rooms that reach each other are joined by `=`. */
const orderOf = (imports: Imports, tier: readonly string[]) =>
  components(new Map(tier.map((room) => [room, (imports.get(room) ?? []).filter((target) => tier.includes(target))])))
    .map((group) => group.join(' = '))
    .join(' < ');

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
const sources = new Map(files.map((file) => [file, readFileSync(join(projectDir, file), 'utf8')]));
const project = importsOf(sources);
const rooms = importsOfRooms(project, 'lib');

describe('the layout', () => {
  test('has no circle of imports', () => {
    expect(circles(project)).toEqual([]);
  });

  test('has every folder of lib with code in one tier', () => {
    expect(Object.values(tiers).flat().sort()).toEqual([...rooms.keys()].sort());
  });

  test('has no import from a lower tier of lib into a higher one', () => {
    expect(importsUp(project)).toEqual([]);
  });

  test.each(Object.entries(tiers).map(([tier, folders]) => [tier, orderOf(rooms, folders)]))(
    'has an order of the folders in the tier %s: %s',
    (_tier, order) => {
      expect(order).not.toContain('=');
    },
  );

  test.each(['infra', 'infra/local'])('has no circle of folders and loose files in %s', (folder) => {
    expect(circles(importsOfRooms(project, folder))).toEqual([]);
  });

  test('is the table of folders in lib/README.md', () => {
    const rows = readFileSync(join(projectDir, 'lib/README.md'), 'utf8').matchAll(/^\| (\w*) \| (\[.*?) \|/gm);
    const written: Record<string, string[]> = {};
    let tier = '';
    for (const [, name, links] of rows) {
      if (name) written[(tier = name)] = [];
      written[tier]!.push(...[...links!.matchAll(/\[(\w+)\]/g)].map(([, room]) => room!));
    }
    const sorted = (folders: Record<string, string[]>) =>
      Object.entries(folders).map(([name, list]) => [name, list.toSorted()]);
    expect(sorted(written)).toEqual(sorted(tiers));
  });

  test('has rules that import only rules and pure helpers', () => {
    expect(impureRules(project)).toEqual([]);
  });

  test('has no file directly in lib, and none there that imports functions or infra', () => {
    const inLib = [...project].filter(([file]) => file.startsWith('lib/'));
    expect(inLib.filter(([file]) => file.split('/').length === 2)).toEqual([]);
    // Only the typed client has types of the endpoints.
    const importsOutside = inLib.filter(([, targets]) => targets.some((target) => /^(functions|infra)\//.test(target)));
    expect(importsOutside.map(([file]) => file)).toEqual(['lib/client/methods.ts']);
  });

  test('has no folder of lib with 15 % of its code or more', () => {
    const sizes = new Map<string, number>();
    for (const [file, { length }] of sources) {
      const folder = roomOf(file, 'lib');
      if (folder !== undefined) sizes.set(folder, (sizes.get(folder) ?? 0) + length);
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

  test('find folders that import each other, also types and through a third one', () => {
    const imports = of({
      'lib/a/a.ts': "import { b } from '../b/b.ts';",
      'lib/b/b.ts': '',
      'lib/b/other.ts': "import type { C } from '../c/inner/c.ts';",
      'lib/c/inner/c.ts': "export { a } from '../../a/a.ts';",
      'lib/d/d.ts': "import { a } from '../a/a.ts';",
      'infra/local/main.ts': "import { a } from './table/a.ts';",
      'infra/local/table/a.ts': "import { d } from '../../../lib/d/d.ts';\nexport * from '../main.ts';",
    });
    expect(circles(imports)).toEqual([['infra/local/main.ts', 'infra/local/table/a.ts']]);
    expect(circles(importsOfRooms(imports, 'lib'))).toEqual([['a', 'b', 'c']]);
    expect(circles(importsOfRooms(imports, 'infra/local'))).toEqual([['main.ts', 'table']]);
    expect(orderOf(importsOfRooms(imports, 'lib'), ['d', 'a', 'b', 'c'])).toBe('a = b = c < d');
    expect(orderOf(importsOfRooms(imports, 'lib'), ['d', 'a', 'b'])).toBe('b < a < d');
  });

  test('find an import of a type from a lower tier into a higher one', () => {
    const imports = of({
      'lib/shared/a.ts': "import type { B } from '../directory/rules/b.ts';",
      'lib/directory/rules/b.ts': "import { a } from '../../shared/a.ts';\nimport { c } from '../../events/c.ts';",
      'lib/events/c.ts': '',
      'functions/v2/d.ts': "import { a } from '../../lib/shared/a.ts';",
    });
    expect(importsUp(imports)).toEqual(['lib/shared/a.ts -> lib/directory/rules/b.ts']);
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
