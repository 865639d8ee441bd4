import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { projectDir } from '../../../infra/build/build.ts';
import { registeredRoutes } from '../../../infra/build/registry.ts';
import { generatedTables, pages, withGeneratedTables } from '../../../infra/commands/readme.ts';
import { entities } from '../../../lib/table/entity.ts';
import { queues } from '../../../lib/workers/queues.ts';
import { times } from '../../support/times.ts';

const texts = new Map(pages().map(({ file, text }) => [file, text]));

/** Returns the anchors of a page's headings, as GitHub makes them. An anchor that is repeated gets a number. */
function anchorsOf(markdown: string): string[] {
  const seen = new Map<string, number>();
  return [...prose(markdown).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
    const anchor = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\-_ ]/gu, '')
      .replaceAll(' ', '-');
    const occurrences = seen.get(anchor) ?? 0;
    seen.set(anchor, occurrences + 1);
    return occurrences === 0 ? anchor : `${anchor}-${occurrences}`;
  });
}

/**
 * Returns a page's broken links to files and sections of the project. `exists` says whether a path from the root
 * exists.
 */
function brokenLinks(file: string, all: ReadonlyMap<string, string>, exists: (path: string) => boolean): string[] {
  return [...prose(all.get(file)!).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => {
      if (/^[a-z]+:/.test(link)) return false;
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? file : normalize(join(dirname(file), path));
      if (anchor === undefined) return !exists(target);
      return !anchorsOf(all.get(target) ?? '').includes(anchor);
    });
}

/**
 * Returns whether a path in a page leads to a file. The path may start at the folder of the page, at the rules in this
 * folder, at `lib` or at the root.
 */
function leadsToFile(file: string, path: string, exists: (path: string) => boolean): boolean {
  const folders = [dirname(file), join(dirname(file), 'rules'), 'lib', '.'];
  return folders.some((folder) => exists(normalize(join(folder, path))));
}

/** Returns the file names in code font on a page that lead to no file. */
function missingFiles(file: string, text: string, exists: (path: string) => boolean): string[] {
  return [...prose(text).matchAll(/`([\w./-]+\.(?:ts|mjs|md))`/g)]
    .map(([, path = '']) => path)
    .filter((path) => !leadsToFile(file, path, exists));
}

/** Returns the paths in code font on a page that are neither folders nor parts of endpoint paths. */
function missingPaths(
  file: string,
  text: string,
  exists: (path: string) => boolean,
  routes: readonly string[],
): string[] {
  return [...prose(text).matchAll(/`(\/?[a-z][\w-]*(?:\/[\w-]+)+)`/g)]
    .map(([, path = '']) => path)
    .filter((path) => !routes.some((route) => `/${route}/`.includes(`/${path}/`)))
    .filter((path) => !leadsToFile(file, path, exists));
}

/** Returns the names in code font on a page, such as `startJob` or `TABLE_NAME`, that do not occur in the code. */
function missingNames(text: string, code: ReadonlySet<string>): string[] {
  return [...prose(text).matchAll(/`([A-Za-z]+[a-z\d]*[A-Z_]\w*)(?:\(\))?`/g)]
    .map(([, name = '']) => name)
    .filter((name) => !code.has(name));
}

/** Returns the npm scripts that a page names but that do not exist. */
function missingScripts(text: string, scripts: readonly string[]): string[] {
  return [...text.matchAll(/\bnpm (?:run (?:-s )?([\w:-]+)|(test|start)\b)/g)]
    .map(([, script, other]) => script ?? other ?? '')
    .filter((script) => !scripts.includes(script));
}

/**
 * Returns the sentences of a page that are hard to read: longer than 30 words, or with several semicolons. Any text in
 * code font counts as one word.
 */
function hardSentences(text: string): string[] {
  const paragraphs = prose(text)
    .replace(/<!-- generated:(\w+) -->[^]*?<!-- \/generated:\1 -->/g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/`[^`]*`/g, 'code')
    .split(/\n\s*\n|\n(?=#|\||\s*[-*] |\s*\d+\. )|(?<!\\)\|/);
  return paragraphs
    .flatMap((paragraph) => paragraph.replace(/\s+/g, ' ').split(/(?<=[.!?:]["*)]*) (?=["*([]*[A-Z\d]|code)/))
    .map((sentence) => sentence.trim())
    .filter((sentence) => wordsIn(sentence) > MAX_WORDS || (sentence.match(/;/g) ?? []).length > 1);
}

const MAX_WORDS = 30;

function wordsIn(sentence: string): number {
  return sentence.split(' ').filter((word) => /[A-Za-z0-9]/.test(word)).length;
}

/** Removes code blocks, whose comments look like headings. */
function prose(markdown: string): string {
  return markdown.replace(/^```[^]*?^```$/gm, '');
}

/** Returns the rows of a generated table, without the head. */
function rowsOf(name: string): string[][] {
  return generatedTables[name]!()
    .split('\n')
    .slice(2)
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** Returns whether a path exists. Commands write the folder `dist`, which a fresh clone lacks, so its content is not checked. */
const inProject = (path: string) => path.startsWith('dist/') || existsSync(join(projectDir, path));
const wordsOfCode = new Set(
  globSync('{functions,lib,infra,test}/**/*.{ts,mjs,json}', { cwd: projectDir }).flatMap(
    (file) => readFileSync(join(projectDir, file), 'utf8').match(/\w+/g) ?? [],
  ),
);
const { scripts } = JSON.parse(readFileSync(join(projectDir, 'package.json'), 'utf8')) as { scripts: object };

describe('the pages of the project', () => {
  test('have up-to-date tables from npm run readme', () => {
    for (const [, text] of texts) expect(withGeneratedTables(text)).toBe(text);
  });

  test('have each generated table once', () => {
    const names = [...texts.values()].flatMap((text) =>
      [...text.matchAll(/^<!-- generated:(\w+) -->$/gm)].map(([, name]) => name),
    );
    expect(names.sort()).toEqual(Object.keys(generatedTables).sort());
  });

  test.each([...texts.keys()])('%s has no broken link', (file) => {
    expect(brokenLinks(file, texts, inProject)).toEqual([]);
  });

  test.each([...texts])('%s names only code, files, endpoints and npm scripts that exist', (file, text) => {
    // Only pages below `lib` are checked for names. Other pages also use names of AWS and of customers' programs.
    if (file.startsWith('lib/')) expect(missingNames(text, wordsOfCode)).toEqual([]);
    const routes = registeredRoutes().map(({ path }) => path);
    expect(missingFiles(file, text, inProject)).toEqual([]);
    expect(missingPaths(file, text, inProject, routes)).toEqual([]);
    expect(missingScripts(text, Object.keys(scripts))).toEqual([]);
  });

  test.each([...texts.keys()])('%s has no sentence that is hard to read', (file) => {
    expect(hardSentences(texts.get(file)!)).toEqual([]);
  });

  test('give operators the number of executions that workers of queues use at most', () => {
    const executions = Object.values(queues).reduce((sum, { maxConcurrency }) => sum + maxConcurrency, 0);
    expect(texts.get('infra/README.md')).toContain(`up to ${executions} executions`);
  });

  test('list every decision once under its title', () => {
    const decisions = [...texts].filter(([file]) => /^lib\/decisions\/\d/.test(file));
    const links = decisions.map(([file, text]) => `- [${text.split('\n')[0]?.slice(2)}](${file.split('/').at(-1)})`);
    expect(
      texts
        .get('lib/decisions/README.md')!
        .split('\n')
        .filter((line) => line.startsWith('- '))
        .toSorted(),
    ).toEqual(links.toSorted());
  });

  // The index of decisions is a list of links.
  const folderPages = [...texts.keys()].filter(
    (file) => /^\w+\/\w+\/README\.md$/.test(file) && file !== 'lib/decisions/README.md',
  );
  test.each(folderPages)('%s has at most 700 words', (file) => {
    expect(texts.get(file)!.trim().split(/\s+/).length).toBeLessThanOrEqual(700);
  });

  test('include a page for each folder of lib', () => {
    const folders = readdirSync(join(projectDir, 'lib'), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    expect(folders.map(({ name }) => `lib/${name}/README.md`).filter((file) => !texts.has(file))).toEqual([]);
  });

  test('start with a README.md of at most 200 lines', () => {
    expect(texts.get('README.md')!.trimEnd().split('\n').length).toBeLessThanOrEqual(200);
  });
});

describe('brokenLinks', () => {
  const page = '# One thing\n## `npm start`, twice\n## Same\n## Same\n```\n# no heading\n```\n';
  const of = (text: string) =>
    brokenLinks(
      'lib/a.md',
      new Map([
        ['lib/a.md', `${page}${text}`],
        ['b.md', '# Other'],
      ]),
      (path) => ['lib/a.md', 'b.md', 'lib/code.ts'].includes(path),
    );

  test('accepts links to existing headings, pages and files', () => {
    expect(
      of(
        '[a](#one-thing) [b](#npm-start-twice) [c](#same) [d](#same-1) [e](../b.md#other) [f](../b.md) [g](code.ts) [h](https://example.com/#x)',
      ),
    ).toEqual([]);
  });

  test('returns links to missing headings, pages and files', () => {
    const wrong = ['#no-heading', '#same-2', '../b.md#none', '../c.md', '../c.md#other', 'none.ts'];
    expect(of(wrong.map((link) => `[a](${link})`).join(' '))).toEqual(wrong);
  });
});

describe('missingNames, missingFiles, missingPaths and missingScripts', () => {
  const exists = (path: string) => ['lib/a/x.ts', 'lib/b/y.ts', 'test/z.ts', 'lib/b/rules'].includes(path);

  test('accept names in the code, and paths from the folder of the page, lib or the root', () => {
    const page = '`x.ts` `b/y.ts` `test/z.ts` `b/rules` `users/get` `/v2/users/get` `npm run check` `npm test`';
    expect(missingNames('`startJob` `TABLE_NAME` `emit()` `plain`', new Set(['startJob', 'TABLE_NAME']))).toEqual([]);
    expect(missingFiles('lib/a/README.md', page, exists)).toEqual([]);
    expect(missingPaths('lib/a/README.md', page, exists, ['/v2/users/get'])).toEqual([]);
    expect(missingScripts(page, ['check', 'test'])).toEqual([]);
  });

  test('return names, files, paths and scripts that do not exist', () => {
    const page = '`y.ts` `test/x.ts` `a/rules` `users/add` `sers/get` `npm run -s chek` `npm start`';
    expect(missingNames('`startJob` `TABLE_NAME`', new Set(['start']))).toEqual(['startJob', 'TABLE_NAME']);
    expect(missingFiles('lib/a/README.md', page, exists)).toEqual(['y.ts', 'test/x.ts']);
    expect(missingPaths('lib/a/README.md', page, exists, ['/v2/users/get'])).toEqual([
      'a/rules',
      'users/add',
      'sers/get',
    ]);
    expect(missingScripts(page, ['check', 'test'])).toEqual(['chek', 'start']);
  });
});

describe('hardSentences', () => {
  const words = (count: number) => times(count, () => 'word').join(' ');

  test('returns sentences of more than 30 words', () => {
    expect(hardSentences(`${words(30)}. Next ${words(29)}.`)).toEqual([]);
    expect(hardSentences(`Short. ${words(15)}\n${words(16)}.`)).toHaveLength(1);
    expect(hardSentences(`| ${words(16)} | ${words(16)} |\n- ${words(16)}\n- ${words(16)}`)).toEqual([]);
  });

  test('returns sentences with several semicolons', () => {
    expect(hardSentences('One; two.')).toEqual([]);
    expect(hardSentences('One; two; three.')).toEqual(['One; two; three.']);
  });

  test('counts text in code font as one word and skips code blocks', () => {
    expect(hardSentences(`\`${words(40)}\`\n\n\`\`\`\n${words(40)}\n\`\`\`\n`)).toEqual([]);
  });
});

describe('withGeneratedTables', () => {
  const page = 'before\n<!-- generated:errors -->\nold\n<!-- /generated:errors -->\nafter\n';

  test('replaces the text between the markers only', () => {
    expect(withGeneratedTables(page)).toBe(
      `before\n<!-- generated:errors -->\n\n${generatedTables.errors!()}\n\n<!-- /generated:errors -->\nafter\n`,
    );
    expect(withGeneratedTables('no markers')).toBe('no markers');
  });

  test('changes nothing when it is repeated', () => {
    const once = withGeneratedTables(page);
    expect(withGeneratedTables(once)).toBe(once);
  });

  test('fills each pair of markers', () => {
    const twice = withGeneratedTables(`${page}${page.replaceAll('errors', 'settings')}`);
    expect(twice).toContain(generatedTables.errors!());
    expect(twice).toContain(generatedTables.settings!());
    expect(twice).not.toContain('old');
  });

  test('refuses an unknown table name', () => {
    expect(() => withGeneratedTables(page.replaceAll('errors', 'mistakes'))).toThrow(
      'There is no generated block named mistakes, only errors,',
    );
  });
});

describe('generatedTables', () => {
  test('have the HTTP status of each error, and whether to retry', () => {
    expect(
      rowsOf('errors')
        .find(([status]) => status === '`UNAVAILABLE`')
        ?.slice(0, 3),
    ).toEqual(['`UNAVAILABLE`', '503', 'yes']);
  });

  test('have the type, scope and keys of each entity', () => {
    expect(rowsOf('entities')).toHaveLength(entities().length);
    expect(rowsOf('entities').find(([type]) => type === 'AuthToken')).toEqual([
      'AuthToken',
      '1',
      'tenant',
      '`T#<apiKey>`',
      '`TOKEN#<tokenId>`',
      'workspace',
      'An auth token of an API key, with its encrypted text',
    ]);
  });

  test('have a placeholder for every part of every key', () => {
    const keys = [
      ...rowsOf('entities').map((row) => row.slice(3, 5)),
      ...rowsOf('indexes').map((row) => row.slice(2, 4)),
    ].flat();
    expect(keys.filter((key) => !/^`[^`]+`$/.test(key) || /undefined|NaN|\d{5}/.test(key))).toEqual([]);
  });

  test('have the default, the values and the meaning of each setting', () => {
    const row = (setting: string) =>
      rowsOf('settings')
        .find(([name]) => name === `\`${setting}\``)
        ?.slice(1, 3);
    expect(row('unverifiedGraceDays')).toEqual(['`14`', '1 to 3650']);
    expect(row('workspaceCreation')).toEqual(['`closed`', 'closed, open']);
    expect(row('alarmEmail')).toEqual(['none', '']);
    for (const [, , , meaning] of rowsOf('settings')) expect(meaning).toMatch(/\.$/);
  });
});
