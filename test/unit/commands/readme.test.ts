import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { projectDir } from '../../../infra/build/build.ts';
import { generatedTables, pages, withGeneratedTables } from '../../../infra/commands/readme.ts';
import { entities } from '../../../lib/table/entity.ts';

const texts = new Map(pages().map(({ file, text }) => [file, text]));

/** The anchors of a page's headings as GitHub makes them: a repeated one gets a number. */
function anchorsOf(markdown: string): string[] {
  const seen = new Map<string, number>();
  return [...prose(markdown).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
    const anchor = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\-_ ]/gu, '')
      .replaceAll(' ', '-');
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  });
}

/** The links of a page within the project that lead to no file or heading. `exists` says whether a path from the root exists. */
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

/** Without blocks of code, whose comments look like headings. */
function prose(markdown: string): string {
  return markdown.replace(/^```[^]*?^```$/gm, '');
}

/** The rows of a generated table, cell by cell, below its head. */
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

describe('the pages', () => {
  test('have the tables that the code generates; npm run readme writes them', () => {
    for (const [, text] of texts) expect(withGeneratedTables(text)).toBe(text);
  });

  test('have each generated table once', () => {
    const names = [...texts.values()].flatMap((text) =>
      [...text.matchAll(/^<!-- generated:(\w+) -->$/gm)].map(([, name]) => name),
    );
    expect(names.sort()).toEqual(Object.keys(generatedTables).sort());
  });

  test.each([...texts.keys()])('%s has no link that leads nowhere', (file) => {
    expect(brokenLinks(file, texts, (path) => existsSync(join(projectDir, path)))).toEqual([]);
  });

  test('begin with a README.md of at most 200 lines', () => {
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

  test('accepts links to headings, pages and files that exist', () => {
    expect(
      of(
        '[a](#one-thing) [b](#npm-start-twice) [c](#same) [d](#same-1) [e](../b.md#other) [f](../b.md) [g](code.ts) [h](https://example.com/#x)',
      ),
    ).toEqual([]);
  });

  test('returns links to headings, pages and files that do not exist', () => {
    const wrong = ['#no-heading', '#same-2', '../b.md#none', '../c.md', '../c.md#other', 'none.ts'];
    expect(of(wrong.map((link) => `[a](${link})`).join(' '))).toEqual(wrong);
  });
});

describe('withGeneratedTables', () => {
  const page = 'before\n<!-- generated:errors -->\nold\n<!-- /generated:errors -->\nafter\n';

  test('replaces what stands between the markers, and nothing else', () => {
    expect(withGeneratedTables(page)).toBe(
      `before\n<!-- generated:errors -->\n\n${generatedTables.errors!()}\n\n<!-- /generated:errors -->\nafter\n`,
    );
    expect(withGeneratedTables('no markers')).toBe('no markers');
  });

  test('changes nothing when it is done again', () => {
    const once = withGeneratedTables(page);
    expect(withGeneratedTables(once)).toBe(once);
  });

  test('fills each pair of markers on its own', () => {
    const twice = withGeneratedTables(`${page}${page.replaceAll('errors', 'settings')}`);
    expect(twice).toContain(generatedTables.errors!());
    expect(twice).toContain(generatedTables.settings!());
    expect(twice).not.toContain('old');
  });

  test('refuses a name that no table has', () => {
    expect(() => withGeneratedTables(page.replaceAll('errors', 'mistakes'))).toThrow(
      'There is no generated table named mistakes, only errors,',
    );
  });
});

describe('the generated tables', () => {
  test('tell of a status how it is sent and whether to send the request again', () => {
    expect(
      rowsOf('errors')
        .find(([status]) => status === '`UNAVAILABLE`')
        ?.slice(0, 3),
    ).toEqual(['`UNAVAILABLE`', '503', 'yes']);
  });

  test('tell of an entity where its items lie, in the words of its keys', () => {
    expect(rowsOf('entities')).toHaveLength(entities().length);
    expect(rowsOf('entities').find(([type]) => type === 'AuthToken')).toEqual([
      'AuthToken',
      '1',
      'tenant',
      '`T#<apiKey>`',
      '`TOKEN#<tokenId>`',
      'workspace',
      'The auth tokens of an API key, their text encrypted',
    ]);
  });

  test('have a word for every part of every key', () => {
    const keys = [
      ...rowsOf('entities').map((row) => row.slice(3, 5)),
      ...rowsOf('indexes').map((row) => row.slice(2, 4)),
    ].flat();
    expect(keys.filter((key) => !/^`[^`]+`$/.test(key) || /undefined|NaN|\d{5}/.test(key))).toEqual([]);
  });

  test('tell of a setting its default, its values where they can be listed, and its meaning', () => {
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
