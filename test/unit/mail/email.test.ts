import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { environment } from '../../../lib/app/capability.ts';
import { button, mailDocument, note, paragraph } from '../../../lib/mail/rendering/layout.ts';
import { loginLinkMail } from '../../../lib/mail/rendering/loginLinkMail.ts';
import { mailer, SesMailer } from '../../../lib/mail/senders/ses.ts';
import { matchesDomain } from '../../../lib/workspaces/rules/domains.ts';
import {
  ContinueUrl,
  isLinkToken,
  isLive,
  linkAddress,
  linkValidUntil,
  mayContinueTo,
} from '../../../lib/workspaces/rules/verification.ts';
import { testProperty } from '../../support/testProperty.ts';

const API = 'https://api.test';

describe('matchesDomain', () => {
  test.each<[host: string, pattern: string, matches: boolean]>([
    ['app.example.com', 'app.example.com', true],
    ['APP.Example.com', 'app.example.COM', true],
    ['app.example.com.', 'app.example.com', true],
    ['www.example.com', 'example.com', true],
    ['example.com', 'www.example.com', true],
    ['xn--bcher-kva.example', 'bücher.example', true],
    ['localhost', 'localhost', true],
    ['127.0.0.1', '127.0.0.1', true],
    ['app.example.com', '*.example.com', true],
    ['a.b.example.com', '*.example.com', true],
    ['xn--bcher-kva.example', '*.example', true],
    ['example.com', '*.example.com', false],
    ['app.example.com', 'example.com', false],
    ['notexample.com', 'example.com', false],
    ['notexample.com', '*.example.com', false],
    ['example.com.evil.net', '*.example.com', false],
    ['example.com.evil.net', 'example.com', false],
    ['anything.net', '*', false],
    ['anything.net', '*.', false],
    ['anything.net', '', false],
    ['', '', false],
  ])('returns for host %s and the allowed domain %s: %s', (host, pattern, matches) => {
    expect(matchesDomain(host, [pattern])).toBe(matches);
    expect(matchesDomain(host, ['other.example', pattern])).toBe(matches);
  });

  testProperty('accepts no host without allowed domains', [fc.domain()], (host) => !matchesDomain(host, []));

  testProperty(
    'accepts every subdomain for a wildcard, and every domain for itself',
    [fc.domain(), fc.domain()],
    (sub, parent) => matchesDomain(`${sub}.${parent}`, [`*.${parent}`]) && matchesDomain(parent, [parent]),
  );
});

describe('the continueUrl of a login link', () => {
  test.each([
    ['https://app.example.com/a?b#c', true],
    ['http://localhost:5173/', true],
    ['app.example.com', false],
    ['//app.example.com', false],
    ['javascript:alert(1)', false],
    ['data:text/html,hello', false],
    ['ftp://app.example.com', false],
    ['https://app.example.com@evil.net', false],
    ['https://:secret@app.example.com', false],
    ['https:\\\\evil.net', false],
    ['', false],
  ])('%s is an http(s) URL without credentials: %s', (url, valid) => {
    expect(ContinueUrl.safeParse(url).success).toBe(valid);
  });

  test('has at most 2,048 characters', () => {
    const ofLength = (length: number) => ContinueUrl.safeParse('https://app.example.com/'.padEnd(length, 'a')).success;
    expect([ofLength(2_048), ofLength(2_049)]).toEqual([true, false]);
  });

  test.each<[url: string, allowed: string[], may: boolean]>([
    ['https://app.example.com:8443/x', ['app.example.com'], true],
    ['https://evil.net/app.example.com', ['app.example.com'], false],
    ['https://evil.net#app.example.com', ['app.example.com'], false],
    ['https://app.example.com.evil.net', ['app.example.com'], false],
    [`${API}/anywhere`, [], true],
    ['https://api.test:8443/', [], false],
    ['https://sub.api.test/', [], false],
  ])('may be %s with the allowed domains %j: %s', (url, allowed, may) => {
    expect(mayContinueTo(url, API, allowed)).toBe(may);
  });
});

describe('a login link', () => {
  test('expires after 30 minutes', () => {
    const validUntil = linkValidUntil(1_000);
    expect(isLive({ validUntil }, 1_000 + 30 * 60_000 - 1)).toBe(true);
    expect(isLive({ validUntil }, 1_000 + 30 * 60_000)).toBe(false);
  });

  test('leads to the verification page of this service', () => {
    expect(linkAddress(API, 'T')).toBe('https://api.test/v2/workspace/email/verify?token=T');
  });

  test.each([
    ['x'.repeat(43), true],
    ['x'.repeat(42), false],
    ['x'.repeat(44), false],
    [`${'x'.repeat(42)}+`, false],
    ['', false],
    ['x'.repeat(43) + '\n', false],
  ])('has a token of 256 bits in base64url: %j is a token: %s', (text, is) => expect(isLinkToken(text)).toBe(is));
});

describe('the mail with a login link', () => {
  const link = `${API}/v2/workspace/email/verify?token=abc&x=1`;
  const mail = loginLinkMail({ to: 'ada@example.com', link });

  test('has a text part with the link alone in its line', () => {
    expect(mail.text.split('\n')).toContain(link);
    expect(mail).toMatchObject({ to: 'ada@example.com', subject: 'Verify your e-mail address' });
  });

  test('has the escaped link twice in HTML: as a button and as text', () => {
    const escaped = link.replace('&', '&#38;');
    expect(mail.html.split(`href="${escaped}"`)).toHaveLength(3);
    expect(mail.html).toContain(`>${escaped}</a>`);
    expect(mail.html).not.toContain('&x=1');
  });

  test('loads no images, scripts, style sheets or fonts', () => {
    expect(mail.html).not.toMatch(/<(img|script|link|iframe)|url\(|@import/i);
  });
});

test('mailDocument escapes all texts', () => {
  const hostile = '<script>alert("1")</script>\'&';
  const document = mailDocument(hostile, [
    paragraph(hostile),
    note(hostile),
    button(`https://x.test/?${hostile}`, hostile),
  ]);
  expect(document).not.toContain('<script');
  expect(document.match(/&#60;script&#62;alert\(&#34;1&#34;\)&#60;\/script&#62;&#39;&#38;/g)).toHaveLength(5);
});

describe('the mailer', () => {
  const open = (MAIL_FROM: string) => mailer.open(environment({ MAIL_FROM, AWS_REGION: 'us-east-1' }));

  test('does not exist unless the operator has set mailFrom', () => {
    expect(open('no-reply@example.com')).toBeInstanceOf(SesMailer);
    expect(open('')).toBeUndefined();
  });
});
