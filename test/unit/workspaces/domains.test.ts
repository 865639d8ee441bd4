import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ApiError } from '../../../lib/shared/errors.ts';
import {
  addDomains,
  matchesDomain,
  MAX_DOMAINS,
  parseDomain,
  removeDomains,
} from '../../../lib/workspaces/rules/domains.ts';
import { httpUrl } from '../../support/httpUrl.ts';
import { testProperty } from '../../support/testProperty.ts';
import { times } from '../../support/times.ts';

describe('parseDomain', () => {
  test.each([
    ['example.com', 'example.com'],
    ['EXAMPLE.Com', 'example.com'],
    ['https://example.com', 'example.com'],
    ['HTTP://www.example.com:8080/path?query#fragment', 'example.com'],
    ['www.example.com', 'example.com'],
    ['www.www.example.com', 'example.com'],
    ['www.com', 'www.com'],
    ['wwwexample.com', 'wwwexample.com'],
    ['example.com.', 'example.com'],
    ['example.com?@elsewhere.com', 'example.com'],
    ['a.b.c.example.co.uk', 'a.b.c.example.co.uk'],
    ['*.example.com', '*.example.com'],
    ['https://*.Example.com/', '*.example.com'],
    ['*.www.example.com', '*.www.example.com'],
    ['localhost', 'localhost'],
    ['http://localhost:3000', 'localhost'],
    ['*.localhost', '*.localhost'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['BÜCHER.example', 'xn--bcher-kva.example'],
    ['*.例え.テスト', '*.xn--r8jz45g.xn--zckzah'],
    ['例え。テスト', 'xn--r8jz45g.xn--zckzah'],
    ['my_app.example.com', 'my_app.example.com'],
    [`${'a'.repeat(63)}.com`, `${'a'.repeat(63)}.com`],
  ])('reads %s as %s', (text, domain) => {
    expect(parseDomain(text)).toBe(domain);
  });

  test.each([
    '',
    ' ',
    '*',
    '*.',
    '.',
    '.com',
    'example',
    'intranet',
    'a..b',
    '-a.com',
    'a-.com',
    'exam ple.com',
    ' example.com',
    'example.com ',
    'example.com\n',
    '*.*.example.com',
    'a.*.example.com',
    '*example.com',
    '*.com',
    'ftp://example.com',
    'javascript:alert(1)',
    '//example.com',
    'https://',
    'user@example.com',
    'https://a:b@example.com',
    'example.com\\@elsewhere.com',
    'example.com:port',
    'example.com:123456',
    '127.0.0.1',
    '0x7f.1',
    '1.2.3',
    '１２７.0.0.1',
    '[::1]',
    '::1',
    'https://[2001:db8::1]/',
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(127)}com`,
    'xn--iñvalid.com',
    '__proto__',
    'a\u0000b.com',
  ])('rejects %j', (text) => {
    expect(parseDomain(text)).toBeUndefined();
  });

  test('returns a domain unchanged', () => {
    const label = fc.stringMatching(/^[a-zA-Z0-9]{1,8}$/);
    const name = fc
      .tuple(
        fc.constantFrom('', 'www.', '*.', 'https://', 'https://www.', '*.www.'),
        fc.array(label, { minLength: 1, maxLength: 4 }),
        fc.constantFrom('', '.', ':80', '/x', '?y'),
      )
      .map(([start, labels, end]) => start + labels.join('.') + end);
    fc.assert(
      fc.property(fc.oneof(name, httpUrl, fc.domain(), fc.string()), (text) => {
        const domain = parseDomain(text);
        if (domain !== undefined) expect(parseDomain(domain)).toBe(domain);
      }),
    );
  });

  testProperty('returns the host of a URL', [httpUrl], (text) => {
    const { hostname } = new URL(text);
    const domain = parseDomain(text);
    if (domain !== undefined) expect(hostname.replace(/^www\./, '')).toBe(domain);
  });
});

describe('matchesDomain', () => {
  test.each([
    ['example.com', 'example.com'],
    ['www.example.com', 'example.com'],
    ['EXAMPLE.com.', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['localhost', 'localhost'],
    ['a.example.com', '*.example.com'],
    ['a.b.example.com', '*.example.com'],
    ['www.example.com', '*.example.com'],
    ['a.www.example.com', '*.www.example.com'],
    ['www.com', 'www.com'],
  ])('allows the host %s for the domain %s', (host, pattern) => {
    expect(matchesDomain(host, ['elsewhere.example', pattern])).toBe(true);
  });

  test.each([
    ['a.example.com', 'example.com'],
    ['example.com', '*.example.com'],
    ['badexample.com', 'example.com'],
    ['badexample.com', '*.example.com'],
    ['example.com.evil.com', 'example.com'],
    ['com', 'www.com'],
    ['evil.example.com', '*.www.example.com'],
    ['', 'example.com'],
    ['a', '*.'],
    ['localhost', '*.localhost'],
  ])('does not allow the host %s for the domain %s', (host, pattern) => {
    expect(matchesDomain(host, [pattern])).toBe(false);
  });

  test('allows no host if the list of domains is empty', () => {
    expect(matchesDomain('example.com', [])).toBe(false);
  });

  testProperty(
    'allows the host of an added domain in any spelling',
    [fc.domain(), fc.constantFrom('', 'www.', 'https://')],
    (host, start) => {
      const domain = parseDomain(start + host.toUpperCase());
      expect(domain === undefined || matchesDomain(host, [domain])).toBe(true);
    },
  );
});

describe('the list of domains', () => {
  test('adds each new domain once at the end', () => {
    expect(addDomains(['b', 'a'], ['c', 'a', 'c', 'd'])).toEqual({
      domains: ['b', 'a', 'c', 'd'],
      changed: ['c', 'd'],
      skipped: ['a'],
    });
  });

  test('removes domains and keeps the order of the others', () => {
    expect(removeDomains(['b', 'a', 'c'], ['c', 'x', 'b', 'x'])).toEqual({
      domains: ['a'],
      changed: ['c', 'b'],
      skipped: ['x'],
    });
  });

  test(`holds at most ${MAX_DOMAINS} domains`, () => {
    const present = times(MAX_DOMAINS - 1, (index) => `d${index}.example`);
    const full = addDomains(present, ['last.example', 'd0.example']).domains;
    expect(full).toHaveLength(MAX_DOMAINS);
    for (const [before, more] of [
      [present, ['a.example', 'b.example']],
      [full, ['more.example']],
    ] as const) {
      expect(() => addDomains(before, more)).toThrow(
        new ApiError('RESOURCE_EXHAUSTED', 'An API key can allow at most 500 domains.'),
      );
    }
    expect(addDomains(full, ['d0.example'])).toMatchObject({ changed: [], skipped: ['d0.example'] });
  });
});
