import { describe, expect, test } from '@jest/globals';
import type { CleanMarkup } from '../../../lib/app/rules/userRule.ts';
import { userMarkup } from '../../../lib/markup/userMarkup.ts';
import { cleanUserContent, fieldUse } from '../../../lib/userTokens/rules/userContent.ts';

const allowedDomains = ['ok.example', '*.files.example'];

async function clean(data: unknown, cleanMarkup: CleanMarkup | undefined = userMarkup): Promise<unknown> {
  const copy: unknown = structuredClone(data);
  await cleanUserContent(copy, { allowedDomains, cleanMarkup });
  return copy;
}

/** Returns the messages of the refusal. */
async function faults(data: unknown, cleanMarkup?: CleanMarkup): Promise<string[]> {
  try {
    await clean(data, cleanMarkup);
  } catch (error) {
    expect(error).toMatchObject({ status: 'INVALID_ARGUMENT' });
    return (error as { details: { issues: { message: string }[] } }).details.issues.map(({ message }) => message);
  }
  return [];
}

describe('markup in the data of a user', () => {
  test('is cleaned in declared fields and in free objects at any depth', async () => {
    const html = '<p onclick="alert(1)">a</p><script>alert(1)</script>';
    const sent = { comments: [{ commentHtml: html, metadata: { a: [{ bodyHTML: html, html: [html] }] } }], text: html };
    const cleaned = '<p>a</p>';
    expect(await clean(sent)).toEqual({
      comments: [{ commentHtml: cleaned, metadata: { a: [{ bodyHTML: cleaned, html: [cleaned] }] } }],
      text: html,
    });
  });

  test('keeps pictures of allowed domains only', async () => {
    const html =
      '<img src="https://www.ok.example/a"><img src="https://x.files.example/b"><img src="https://files.example/c">';
    expect(await clean({ html })).toEqual({
      html: '<img src="https://www.ok.example/a"><img src="https://x.files.example/b">',
    });
  });

  test('is refused where an endpoint stores none', async () => {
    expect(await faultsWithout({ location: { html: '<p>a</p>' } })).toEqual([
      'location.html must be left out: this endpoint takes no markup from user tokens',
    ]);
  });
  const faultsWithout = async (data: unknown) => {
    const thrown: unknown = await cleanUserContent(data, { allowedDomains, cleanMarkup: undefined }).catch(
      (error: unknown) => error,
    );
    return (thrown as { details: { issues: { message: string }[] } }).details.issues.map(({ message }) => message);
  };

  test('is refused above the limits of a field and of a call', async () => {
    const [field, call] = ['x'.repeat(32 * 1024 + 1), 'x'.repeat(32 * 1024)];
    expect(await faults({ html: field })).toEqual(['html must be at most 32768 bytes of UTF-8']);
    expect(await faults({ html: Array.from({ length: 8 }, () => call) })).toEqual([]);
    expect(await faults({ html: Array.from({ length: 9 }, () => call) })).toEqual([
      'html[8] must not exceed 262144 bytes of markup in one call',
    ]);
    expect(await faults({ html: '<i>'.repeat(6_000) })).toEqual([
      expect.stringMatching(/^html must be well-formed HTML/),
    ]);
  });
});

describe('URLs in the data of a user', () => {
  test.each([
    ['javascript:alert(1)'],
    ['data:text/html,x'],
    ['//any.example'],
    ['/path'],
    ['any.example'],
    ['https:any.example'],
    ['https://any.example/a b'],
    ['ftp://any.example'],
  ])('are refused with their path if they are %s', async (url) => {
    const sent = { attachments: [{ url }], pageInfo: { baseUrl: url, hrefs: [url] } };
    expect(await faults(sent)).toEqual([
      'attachments[0].url must be an http(s) URL',
      'pageInfo.baseUrl must be an http(s) URL',
      'pageInfo.hrefs[0] must be an http(s) URL',
    ]);
  });

  test('may be http(s), empty or missing', async () => {
    const sent = {
      attachments: [{ url: 'https://any.example/a.pdf', link: 5 }, { url: '' }, { url: null }],
      pageInfo: { url: 'http://localhost:3000/a' },
    };
    expect(await clean(sent)).toEqual(sent);
  });

  test.each([
    ['javascript:alert(1)'],
    [' \u0001JavaScript:alert(1)'],
    ['java\nscript:alert(1)'],
    ['\tvbscript:x'],
    ['data:text/html;base64,PHA+'],
    ['data: text/html,<script>'],
    ['data:,x'],
  ])('with an active scheme are refused in any other field of free objects: %j', async (text) => {
    for (const data of [
      { metadata: { target: text } },
      { context: { access: { team: [text] } } },
      { data: { a: { b: text } } },
    ])
      expect(await faults(data)).toHaveLength(1);
  });

  test.each([
    ['data: 5 rows'],
    ['javascript is fun'],
    ['see javascript:alert(1)'],
    ['mailto:a@b.example'],
    ['note: x, y'],
  ])('are not confused with other text in free objects: %j', async (target) => {
    expect(await faults({ metadata: { target } })).toEqual([]);
  });

  test('may begin texts, names and ids, which no page uses as a URL', async () => {
    const text = 'javascript:alert(1)';
    const plain = { commentText: text, title: text, userId: text, documentIds: [text], displayName: text };
    expect(await faults(plain)).toEqual([]);
    expect(await faults({ grid: text, context: text, valid: text })).toHaveLength(3);
  });
});

describe('pictures in the data of a user', () => {
  test.each([
    [{ thumbnail: 'https://evil.example/a' }, 'thumbnail'],
    [{ thumbnailUrl: 'https://evil.example/a' }, 'thumbnailUrl'],
    [{ attachments: [{ mimeType: 'image/png', url: 'https://evil.example/a' }] }, 'attachments[0].url'],
    [{ attachments: [{ type: 'png', url: 'https://evil.example/a' }] }, 'attachments[0].url'],
    [{ actions: [{ icon: 'https://evil.example/a.png' }] }, 'actions[0].icon'],
    [{ metadata: { images: ['https://evil.example/a'] } }, 'metadata.images[0]'],
  ])('are refused from another domain: %j', async (data, path) => {
    expect(await faults(data)).toEqual([`${path} must be on an allowed domain of the API key, as every picture`]);
  });

  test.each([
    [{ thumbnail: 'javascript:alert(1)' }, 'thumbnail'],
    [{ icon: 'data:image/svg+xml,x' }, 'icon'],
    [{ avatar: '//ok.example/a' }, 'avatar'],
    [{ photoUrl: 'javascript:alert(1)' }, 'photoUrl'],
  ])('are refused without http(s): %j', async (data, path) => {
    expect(await faults(data)).toEqual([`${path} must be an http(s) URL`]);
  });

  test('may come from allowed domains, and icons may be names and emojis', async () => {
    const sent = {
      attachments: [{ mimeType: 'image/png', url: 'https://a.files.example/a', thumbnail: 'https://ok.example/t' }],
      actions: [{ icon: '👍' }, { icon: 'check' }],
      from: { userId: 'ada', photoUrl: 'https://ok.example/ada' },
    };
    expect(await clean(sent)).toEqual(sent);
  });

  test('of users are left out if they are on another domain', async () => {
    expect(await clean({ from: { userId: 'ada', photoUrl: 'https://any.example/ada' } })).toEqual({
      from: { userId: 'ada' },
    });
  });
});

test.each([
  ['commentHtml', 'markup'],
  ['markup', 'markup'],
  ['photoUrl', 'picture'],
  ['thumbnail', 'picture'],
  ['imgSrc', 'picture'],
  ['src', 'picture'],
  ['url', 'url'],
  ['pageURL', 'url'],
  ['agentUrls', 'url'],
  ['href', 'url'],
  ['commentText', 'plain'],
  ['organizationId', 'plain'],
  ['android', 'unknown'],
  ['context', 'unknown'],
])('a field with the name %s is used as %s', (name, use) => {
  expect(fieldUse(name)).toBe(use);
});
