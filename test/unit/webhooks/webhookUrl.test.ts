import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { validate } from '../../../lib/http/validate.ts';
import { requireAllowedUrls } from '../../../lib/net/allowedUrls.ts';
import { hasBlockedPort, parseHttpUrl } from '../../../lib/net/httpUrl.ts';
import { ApiError } from '../../../lib/shared/errors.ts';
import { WebhookUrl, WebhookUrlOrNone } from '../../../lib/webhooks/rules/urlField.ts';
import { times } from '../../support/times.ts';

/** Returns the error message for a value of the field `url`, or undefined when the value is accepted. */
function complaint(schema: z.ZodType, url: unknown): string | undefined {
  try {
    validate(z.object({ url: schema }), { url });
    return undefined;
  } catch (error) {
    return (error as ApiError).message;
  }
}

const accepted = [
  'https://example.com',
  'http://example.com/hook?a=1#b',
  'HTTPS://EXAMPLE.COM:8443/Hook',
  'https://user:p%40ss@example.com/',
  'https://bücher.example/',
  'http://[2606:4700::1111]:8080/',
  'https://example.com.',
  'http://8.8.8.8',
  'http://example.com:443',
  'https://example.com:65535/',
  `https://example.com/${'x'.repeat(2_028)}`,
];
const refused = [
  '',
  ' ',
  'example.com',
  '//example.com',
  '/hook',
  'ftp://example.com',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'ws://example.com',
  'https:',
  'https://',
  'https:///example.com',
  'https:example.com',
  'http:\\\\example.com',
  'https://example.com:65536',
  'https://example.com:port',
  'https://user@',
  ' https://example.com',
  'https://example.com\n',
  'https://exam\nple.com',
  'https://exam\tple.com',
  'https://example.com/a b',
  'https://exa mple.com',
  'https://[::1',
  'https://[::1%25eth0]/',
  'https://a..b/',
  'https://./',
  'https://localhost../',
  'https://256.256.256.256/',
  'https://example.com/\ud800',
  'https://ex<ample.com',
];

describe('WebhookUrl', () => {
  test.each(accepted)('accepts %j', (url) => {
    expect(complaint(WebhookUrl, url)).toBeUndefined();
  });

  test.each(refused)('rejects %j', (url) => {
    expect(complaint(WebhookUrl, url)).toBe('url must be a valid http(s) URL.');
  });

  test('accepts the empty string only in fields where it clears the URL', () => {
    expect(complaint(WebhookUrlOrNone, '')).toBeUndefined();
    expect(complaint(WebhookUrlOrNone, ' ')).toBe('url must be a valid http(s) URL.');
    expect(complaint(WebhookUrlOrNone, 'https://example.com:25')).toBe(
      'url must not have a port that the Fetch standard blocks',
    );
  });
});

describe('a port that the Fetch standard blocks', () => {
  const blocked = times(65_536, (port) => port).filter((port) =>
    hasBlockedPort(parseHttpUrl(`http://example.com:${port}/`)!),
  );

  test('is rejected, also with leading zeros', () => {
    expect(blocked).toHaveLength(83);
    for (const port of blocked)
      expect(complaint(WebhookUrl, `https://example.com:${String(port).padStart(6, '0')}/`)).toBe(
        'url must not have a port that the Fetch standard blocks',
      );
  });

  test.each([80, 443, 8080, 3000, 6379, 2525])('is not %i', (port) => {
    expect(complaint(WebhookUrl, `http://example.com:${port}`)).toBeUndefined();
  });

  test('is refused by the fetch of Node.js', async () => {
    // Port 0 is left out. The Fetch standard has blocked it only since 2024, and no server can listen on it.
    const answers = await Promise.all(
      blocked
        .filter((port) => port !== 0)
        .map((port) =>
          fetch(`http://127.0.0.1:${port}/`).catch((error: unknown) => ((error as Error).cause as Error).message),
        ),
    );
    expect([...new Set(answers)]).toEqual(['bad port']);
  });
});

describe('requireAllowedUrls', () => {
  const check = (urls: Record<string, string | undefined>, allowLoopback = false, path: string[] = []) => {
    try {
      requireAllowedUrls(urls, { allowLoopback }, path);
      return undefined;
    } catch (error) {
      return error as ApiError;
    }
  };

  test('throws INVALID_ARGUMENT with each field, without the URL, for a local or private host', () => {
    const error = check(
      { raw: 'https://secret:word@10.0.0.1/', processed: 'https://example.com', other: 'http://localhost:3000' },
      false,
      ['config'],
    );
    expect(error).toMatchObject({
      status: 'INVALID_ARGUMENT',
      message: 'config.raw must not lead to a loopback, private or reserved address',
    });
    expect(error?.details).toEqual({
      issues: ['raw', 'other'].map((field) => ({
        path: ['config', field],
        code: 'address_not_allowed',
        message: `config.${field} must not lead to a loopback, private or reserved address`,
      })),
    });
    expect(JSON.stringify(error)).not.toContain('secret');
  });

  test('accepts absent and empty URLs', () => {
    expect(check({ raw: undefined, processed: '' })).toBeUndefined();
  });

  test('accepts loopback URLs where loopback is allowed', () => {
    expect(check({ url: 'http://localhost:3000' }, true)).toBeUndefined();
    expect(check({ url: 'http://10.0.0.1' }, true)).toBeInstanceOf(ApiError);
  });
});
