import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Context } from 'aws-lambda';
import { asset as docs } from '../../../functions/docs.ts';
import { asset as openapi } from '../../../functions/openapi.json.ts';
import { defineAsset } from '../../../lib/app/asset.ts';
import { routeKeys } from '../../../lib/app/page.ts';
import { toAsset } from '../../../lib/http/asset.ts';
import { placeholders, withDeployment } from '../../../lib/openapi/deployment.ts';
import { SCRIPT_MARK, STYLE_MARK } from '../../../lib/openapi/docsMarks.ts';
import { eventOf } from '../../support/requests.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

const folder = temporaryFolder();
beforeAll(() => {
  Object.assign(process.env, { POWERTOOLS_LOG_LEVEL: 'SILENT', POWERTOOLS_METRICS_DISABLED: 'true' });
  writeFileSync(join(folder, 'greeting.txt'), 'Hello, wörld');
});

let bodyCount = 0;
const greeting = defineAsset(
  { path: '/greeting', summary: 'A greeting', files: ['greeting.txt'], uses: {}, impact: 'nobody is greeted' },
  (files) => {
    bodyCount++;
    return { type: 'text/plain; charset=utf-8', text: files['greeting.txt'] };
  },
);
const handler = toAsset(greeting, folder, { SERVICE_NAME: 'svc' });

async function get(headers: Record<string, string> = {}, of = handler, method = 'GET') {
  const event = eventOf(undefined, headers);
  event.requestContext.http.method = method;
  const {
    statusCode,
    headers: answered = {},
    body = '',
    isBase64Encoded,
  } = await of(event, { awsRequestId: 'aws' } as Context);
  return { status: statusCode, headers: answered as Record<string, string>, body, isBase64Encoded };
}

describe('an asset', () => {
  test('has cache headers, and the strictest security policy by default', async () => {
    const { status, headers, body } = await get();
    expect([status, body]).toEqual([200, 'Hello, wörld']);
    expect(headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'public, max-age=300',
      vary: 'accept-encoding',
      etag: expect.stringMatching(/^W\/"[\w-]{43}"$/),
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
    });
  });

  test.each(['gzip', 'br, GZIP;q=0.5', 'deflate, gzip;q=1.0, *;q=0'])(
    'is compressed for the header "%s"',
    async (accepted) => {
      const { headers, body, isBase64Encoded } = await get({ 'accept-encoding': accepted });
      expect([headers['content-encoding'], isBase64Encoded]).toEqual(['gzip', true]);
      expect(gunzipSync(Buffer.from(body, 'base64')).toString()).toBe('Hello, wörld');
    },
  );

  test.each(['identity', 'gzip;q=0', 'gzip;q=0.00', 'br', 'xgzip'])(
    'is not compressed for the header "%s"',
    async (accepted) => {
      expect((await get({ 'accept-encoding': accepted })).headers).not.toHaveProperty('content-encoding');
    },
  );

  test('is answered with 304 if the browser has it, and built once per process', async () => {
    const { etag = '' } = (await get()).headers;
    for (const named of [etag, etag.slice(2), `"other", ${etag}`, '*'])
      expect(await get({ 'if-none-match': named })).toMatchObject({ status: 304, body: '', headers: { etag } });
    expect((await get({ 'if-none-match': '"other"' })).status).toBe(200);
    expect(bodyCount).toBe(1);
  });

  test('answers 500 if its file is missing', async () => {
    const { status, headers } = await get({}, toAsset(greeting, join(folder, 'missing'), { SERVICE_NAME: 'svc' }));
    expect([status, headers['cache-control']]).toEqual([500, 'no-store']);
  });

  test('is answered to HEAD with the headers of GET and without a body', async () => {
    const [{ headers: ofGet }, { status, headers, body }] = [await get(), await get({}, handler, 'HEAD')];
    expect([status, body]).toEqual([200, '']);
    expect({ ...headers, 'x-request-id': '' }).toEqual({ ...ofGet, 'x-request-id': '' });
  });
});

describe('the OpenAPI document', () => {
  test('has the address and the header names of the deployment', () => {
    const text = JSON.stringify({ url: placeholders.url, header: `x-${placeholders.serviceName}-api-key` });
    const { text: documentText } = openapi.make(
      { 'openapi.json': text },
      { deployment: { url: 'https://api.example.com/base', serviceName: 'acme' } },
    );
    expect(JSON.parse(documentText)).toEqual({ url: 'https://api.example.com/base', header: 'x-acme-api-key' });
  });

  test('stays JSON for any name and address of the deployment', () => {
    expect(
      JSON.parse(withDeployment(JSON.stringify(placeholders), { url: 'https://a"\\b', serviceName: '$&' })),
    ).toEqual({
      url: 'https://a"\\b',
      serviceName: '$&',
    });
  });
});

describe('an asset with pages', () => {
  const manual = defineAsset(
    { path: '/manual', hasPages: true, summary: 'A manual', files: [], uses: {}, impact: 'nobody can read it' },
    () => ({
      type: 'text/plain',
      text: 'contents',
      pages: {
        one: { type: 'text/plain', text: 'first' },
        'a.css': { type: 'text/css', text: 'p {}', contentSecurityPolicy: "default-src 'self'" },
      },
    }),
  );
  const manualHandler = toAsset(manual, folder, { SERVICE_NAME: 'svc' });
  const page = async (name?: string, sent = {}) => {
    const event = eventOf(undefined, sent, name === undefined ? {} : { pathParameters: { page: name } });
    const answer = await manualHandler(event, { awsRequestId: 'aws' } as Context);
    return { ...answer, headers: answer.headers as Record<string, string> };
  };

  test('has routes for GET and HEAD, also of its pages', () => {
    expect(routeKeys(greeting)).toEqual(['GET /greeting', 'HEAD /greeting']);
    expect(routeKeys(manual)).toEqual(['GET /manual', 'HEAD /manual', 'GET /manual/{page}', 'HEAD /manual/{page}']);
  });

  test('returns each page with its own type, policy and tag', async () => {
    const [main, one, style] = [await page(), await page('one'), await page('a.css')];
    expect([main, one, style].map(({ body }) => body)).toEqual(['contents', 'first', 'p {}']);
    expect(style.headers).toMatchObject({
      'content-type': 'text/css',
      'content-security-policy': "default-src 'self'",
    });
    expect(new Set([main, one, style].map(({ headers }) => headers.etag)).size).toBe(3);
  });

  test('has its policy also in the answer 304, which replaces the headers of the copy that a browser has', async () => {
    const { headers: first } = await page('a.css');
    const { statusCode, headers } = await page('a.css', { 'if-none-match': first.etag });
    expect([statusCode, headers['content-security-policy']]).toEqual([304, "default-src 'self'"]);
  });

  test.each(['two', '', '__proto__', 'toString'])('answers NOT_FOUND for the unknown page "%s"', async (name) => {
    const { statusCode, body = '' } = await page(name);
    expect([statusCode, (JSON.parse(body) as { error: { status: string } }).error.status]).toEqual([404, 'NOT_FOUND']);
  });
});

describe('a page of the documentation', () => {
  const { text, contentSecurityPolicy = '' } = docs.make(
    {
      'docs.json': JSON.stringify({
        '': `<style>${STYLE_MARK}</style><script>${SCRIPT_MARK}</script>`,
        'docs.js': 'alert("</script><!--<SCRIPT>")',
        'docs.css': 'p { margin: 0 }',
      }),
    },
    { deployment: { url: 'https://api.example.com', serviceName: 'svc' } },
  );
  const inline = (tag: string) =>
    [...text.matchAll(new RegExp(`<${tag}>([^]*?)</${tag}>`, 'g'))].map(
      ([, content]) => `'sha256-${createHash('sha256').update(content!).digest('base64')}'`,
    );

  test('allows only its own script and style', () => {
    const directives = contentSecurityPolicy.split('; ').map((directive) => directive.split(' '));
    expect(Object.fromEntries(directives.map(([name, ...values]) => [name, values]))).toEqual({
      'default-src': ["'none'"],
      'script-src': inline('script'),
      'style-src': inline('style'),
      'img-src': ['data:'],
      'connect-src': ["'self'"],
      'base-uri': ["'none'"],
      'form-action': ["'none'"],
      'frame-ancestors': ["'none'"],
    });
    expect([inline('script').length, inline('style').length]).toEqual([1, 1]);
  });

  test('escapes text that would end the script', () => {
    const [, script = ''] = /<script>([^]*?)<\/script>/.exec(text) ?? [];
    const alerted: string[] = [];

    // oxlint-disable-next-line typescript/no-implied-eval -- runs the script of the page
    new Function('alert', script)((said: string) => alerted.push(said));
    expect(alerted).toEqual(['</script><!--<SCRIPT>']);
  });
});
