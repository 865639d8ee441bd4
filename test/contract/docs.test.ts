import { beforeAll, describe, expect, test } from '@jest/globals';
import MiniSearch from 'minisearch';
import { asset } from '../../functions/docs.ts';
import { docsTexts } from '../../infra/build/docs/docsFile.ts';
import { searchOptions } from '../../infra/build/docs/searchOptions.ts';
import { placeholders } from '../../lib/openapi/deployment.ts';
import { openApiDocument } from '../../lib/openapi/document.ts';
import { endpoints } from './cases.ts';

/** Lambda's limit for an answer in bytes, as JSON. */
const ANSWER_BYTES = 6_000_000;

const openApi = openApiDocument(endpoints, { ...placeholders, version: '1.0.0' });
let texts: Readonly<Record<string, string>>;
let pages: (readonly [name: string, text: string])[];
beforeAll(async () => {
  texts = await docsTexts(openApi);
  pages = Object.entries(texts).filter(([name]) => !name.includes('.'));
});

const idsIn = (text: string) => [...text.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id);
const linksIn = (text: string) => [...text.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, href = '']) => href);

describe('the documentation', () => {
  test('has the guides and a page for each tag', () => {
    const names = pages.map(([name]) => name);
    expect(names).toEqual(expect.arrayContaining(['', 'first-calls', 'api', 'api-webhooks', 'browsers', 'reference']));
    expect(names).toEqual(
      expect.arrayContaining(openApi.tags.map(({ name }) => `reference-${name.toLowerCase().replaceAll(' ', '-')}`)),
    );
  });

  test('describes every endpoint and webhook under its name as an id, and its page links to it', () => {
    const operations = [...Object.values(openApi.paths), ...Object.values(openApi.webhooks)].map(({ post }) => post);
    for (const { operationId } of operations) {
      const found = pages.filter(([, text]) => text.includes(`<details class="item" id="${operationId}"`));
      expect([operationId, found.length]).toEqual([operationId, 1]);
      expect(texts.reference).toContain(`href="/docs/${found[0]![0]}#${operationId}"`);
    }
  });

  test('shows v2 before v1', () => {
    const ids = idsIn(texts.reference!).filter((id) => /^v\d\./.test(id));
    expect(ids.map((id) => id.slice(0, 2))).toEqual(
      ids
        .map((id) => id.slice(0, 2))
        .sort()
        .reverse(),
    );
    expect(new Set(ids.map((id) => id.slice(0, 2)))).toEqual(new Set(['v1', 'v2']));
  });

  test('links only to what exists, and to other hosts only in the text of guides', () => {
    const ids = new Map(pages.map(([name, text]) => [name, new Set(idsIn(text))]));
    const broken = pages.flatMap(([name, text]) =>
      linksIn(text)
        .filter((href) => {
          if (/^(https:\/\/|data:,$)|^\/openapi\.json$/.test(href)) return false;
          const { pathname, hash } = new URL(href, `https://docs.test/docs${name && `/${name}`}`);
          const page = pathname.replace(/^\/docs\/?/, '');
          if (page in texts && hash === '') return !pathname.startsWith('/docs');
          return !ids.get(page)?.has(decodeURIComponent(hash.slice(1)));
        })
        .map((href) => `${name}: ${href}`),
    );
    expect(broken).toEqual([]);
    expect(pages.filter(([, text]) => /\bsrc="http|stylesheet" href="http/.test(text)).map(([name]) => name)).toEqual(
      [],
    );
  });

  test('has each id once in a page', () => {
    const repeated = pages.flatMap(([name, text]) => {
      const ids = idsIn(text);
      return ids.filter((id, index) => ids.indexOf(id) < index).map((id) => `${name}: ${id}`);
    });
    expect(repeated).toEqual([]);
  });

  test('folds the errors of an endpoint and its examples', () => {
    const [, users = ''] =
      /id="v2\.users\.get"(.*?)\n<\/details>\n<details class="item"/s.exec(texts['reference-users']!) ?? [];
    expect(users).toContain('<details class="error"><summary>403: PERMISSION_DENIED</summary>');
    expect(users).not.toMatch(/<details[^>]* open/);
  });

  test('finds sections of guides, endpoints and webhooks', () => {
    const index = MiniSearch.loadJSON(texts['search.json']!, searchOptions);
    const first = (query: string) =>
      index
        .search(query)
        .slice(0, 5)
        .map(({ id }) => id as string);
    expect(first('idempotency')).toContain('/docs/api-retrying');
    expect(first('rotate secret')).toContain(
      '/docs/reference-workspace#v2.workspace.advancedwebhook.endpoints.secret.rotate',
    );
    expect(first('comment.add')).toContain('/docs/reference-advanced-webhooks#webhooks.comment.add');
    expect(first('zzz')).toEqual([]);
  });

  test('has the licence of the library in its script', () => {
    expect(texts['docs.js']).toMatch(/MiniSearch[^]+Permission is hereby granted/);
  });

  test('has no answer that is too large for Lambda', () => {
    for (const [name, text] of Object.entries(texts))
      expect([name, Buffer.byteLength(JSON.stringify(text)) < ANSWER_BYTES]).toEqual([name, true]);
  });

  test('has the address and the header names of the deployment, escaped', () => {
    const { pages: served = {} } = asset.make(
      { 'docs.json': JSON.stringify(texts) },
      { deployment: { url: 'https://api.acme.test', serviceName: 'a"<b' } },
    );
    expect(served['first-calls']?.text).toContain('BASE_URL=https://api.acme.test ');
    expect(served['reference-users']?.text).toContain('data-header="x-a&#34;&#60;b-api-key"');
    expect(Object.values(served).filter(({ text }) => /\.invalid/.test(text))).toEqual([]);
  });
});
