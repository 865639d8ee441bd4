import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { projectDir } from '../../../infra/build/build.ts';
import { generatedTables, pages, withGeneratedTables } from '../../../infra/commands/readme.ts';
import { entities } from '../../../lib/table/entity.ts';

const texts = new Map(pages().map(({ file, text }) => [file, text]));

/** Returns the anchors of a page's headings like GitHub: a repeated one gets a number. */
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

/** Returns the broken links of a page within the project. `exists` tells whether a path from the root exists. */
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

describe('the pages of the project', () => {
  test('have up-to-date generated tables; npm run readme writes them', () => {
    for (const [, text] of texts) expect(withGeneratedTables(text)).toBe(text);
  });

  test('have each generated table once', () => {
    const names = [...texts.values()].flatMap((text) =>
      [...text.matchAll(/^<!-- generated:(\w+) -->$/gm)].map(([, name]) => name),
    );
    expect(names.sort()).toEqual(Object.keys(generatedTables).sort());
  });

  test.each([...texts.keys()])('%s has no broken link', (file) => {
    expect(brokenLinks(file, texts, (path) => existsSync(join(projectDir, path)))).toEqual([]);
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
      'There is no generated table named mistakes, only errors,',
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
      'The auth tokens of an API key, their text encrypted',
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
