import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { userFieldsAfter } from '../../../lib/content/rules/userFields.ts';
import { isAllowedLink, withoutForeignLinks, withoutForeignUrls } from '../../../lib/content/rules/userLinks.ts';
import { eventMailContent, parseEventContent } from '../../../lib/mail/rules/eventMailContent.ts';
import { httpUrl } from '../../support/httpUrl.ts';
import { testProperty } from '../../support/testProperty.ts';

const domains = ['example.com', '*.example.org', 'localhost'];

describe('a text of a user in a mail', () => {
  test.each([
    ['see https://evil.test/login now', 'see [link removed] now'],
    ['HTTP://EVIL.TEST', '[link removed]'],
    ['see www.evil.test/x', 'see [link removed]'],
    ['ftp://example.com/x', '[link removed]'],
    ['https://example.com@evil.test/', '[link removed]'],
    ['https://evil.test\\@example.com/', '[link removed]'],
    ['https://example.com。evil.test/', '[link removed]'],
    ['open evil.test/login', 'open evil. test/login'],
    ['a.evil.test', 'a. evil. test'],
    ['mail bob@evil.test', 'mail bob@evil. test'],
    ['example.com.evil.test', 'example. com. evil. test'],
    ['evil。test', 'evil. test'],
    ['javascript:https://evil.test', '[link removed]'],
  ])('shows no link to a foreign host: %j becomes %j', (text, expected) => {
    expect(withoutForeignLinks(text, domains)).toBe(expected);
  });

  test.each([
    'see https://example.com/a?b=c#d now',
    'see http://localhost:3000/x',
    'www.example.com',
    'https://a.b.example.org/',
    'bob@example.com',
    'Clause 3.5 takes 1.2.3 and ends. Next, two lines\nof text…',
  ])('keeps allowed links and other text: %j', (text) => {
    expect(withoutForeignLinks(text, domains)).toBe(text);
  });

  testProperty(
    'has no URL of a foreign host, wherever it stands',
    [fc.string(), httpUrl, fc.string()],
    (before, url, after) => {
      const shown = withoutForeignLinks(before + url + after, ['example.com']);
      for (const [link] of shown.matchAll(/https?:\/\/[^\s<>"]*/gi))
        expect(isAllowedLink(link, ['example.com'])).toBe(true);
    },
  );
});

test('a location of a user loses the texts with foreign links, and is left out if its id is one', () => {
  const location = {
    id: 'page.two',
    url: 'https://evil.test',
    list: ['//evil.test', 'x'],
    page: 'https://example.com/x',
  };
  expect(withoutForeignUrls(location, domains)).toEqual({ id: 'page.two', list: ['x'], page: 'https://example.com/x' });
  expect(withoutForeignUrls({ id: 'javascript:alert(1)' }, domains)).toBeUndefined();
  expect(withoutForeignUrls({ id: 4, locationName: 'Section: 4' }, domains)).toEqual({
    id: 4,
    locationName: 'Section: 4',
  });
});

test.each([
  [undefined, { pageInfo: {} }, true, ['pageInfo']],
  [['pageInfo'], { status: 'x' }, false, ['pageInfo']],
  [['pageInfo'], { pageInfo: {} }, false, undefined],
  [['pageInfo'], { status: 'x' }, true, ['pageInfo', 'status']],
])(
  'of the fields %j, after a write of %j by a user token (%j), user tokens wrote %j',
  (before, sent, byUser, after) => {
    expect(userFieldsAfter(before, sent, ['pageInfo', 'status'], byUser)).toEqual(after);
  },
);

describe('the mail about an event', () => {
  const content = (written?: { thread: string[]; comments: number[] }) => {
    const targetComment = { commentId: 1, commentText: 'https://evil.test/quote' };
    const event = {
      commentAnnotation: { pageInfo: { url: 'https://evil.test/page' } },
      targetComment,
      metadata: { document: { url: 'https://docs.test/nda' } },
      newStatus: { id: 'S', name: 'evil.test' },
    };
    const { link, quote, headline } = eventMailContent(
      'comment_annotation.status_change',
      parseEventContent(event),
      'ada',
      written && { ...written, domains },
    );
    return [link, quote, headline];
  };

  test('has no foreign links of what user tokens wrote', () => {
    expect(content({ thread: ['pageInfo', 'status'], comments: [1] })).toEqual([
      'https://docs.test/nda',
      '[link removed]',
      'Somebody changed the status of a comment to evil. test',
    ]);
  });

  test('has what an API key wrote as it was sent', () => {
    const asSent = [
      'https://evil.test/page',
      'https://evil.test/quote',
      'Somebody changed the status of a comment to evil.test',
    ];
    expect(content()).toEqual(asSent);
    expect(content({ thread: ['location'], comments: [2] })).toEqual(asSent);
  });
});
