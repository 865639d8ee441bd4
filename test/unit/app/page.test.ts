import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import * as z from 'zod';
import { definePage, routeKey } from '../../../lib/app/page.ts';
import { toPage } from '../../../lib/http/page.ts';
import { ApiError } from '../../../lib/shared/errors.ts';
import { html } from '../../../lib/shared/html.ts';
import { eventOf } from '../../support/requests.ts';
import { testProperty } from '../../support/testProperty.ts';
import { unicodeText } from '../../support/unicodeText.ts';

beforeAll(() => {
  Object.assign(process.env, { POWERTOOLS_LOG_LEVEL: 'SILENT', POWERTOOLS_METRICS_DISABLED: 'true' });
});

describe('html', () => {
  test('escapes the characters that could end a text or an attribute', () => {
    expect(html`<a href="${'"><script>\'&'}">${'<b> ü 1'}</a>`.toString()).toBe(
      '<a href="&#34;&#62;&#60;script&#62;&#39;&#38;">&#60;b&#62; ü 1</a>',
    );
  });

  test('inserts pieces of HTML, lists of them and numbers', () => {
    expect(html`<p>${html`<b>${'<'}</b>`}${[html`<i>`, html`</i>`]}${3}</p>`.toString()).toBe(
      '<p><b>&#60;</b><i></i>3</p>',
    );
  });

  testProperty('escapes all markup in texts', [unicodeText()], (text) => !/[<>"']/.test(html`${text}`.toString()));
});

const page = definePage(
  {
    path: '/v2/things/page',
    summary: 'A page of the tests',
    input: z.object({ name: z.string().max(20) }),
    uses: {},
    impact: 'nothing is broken',
  },
  {
    show: async ({ input }) => ({ status: 200, title: `Hello ${input.name}`, body: html`<p>${input.name}</p>` }),
    submit: async ({ input }) => {
      if (input.name === 'crash') throw new Error('secret detail');
      if (input.name === 'throttled') throw Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
      if (input.name === 'refused') throw new ApiError('FAILED_PRECONDITION', 'Not <now>');
      return { status: 201, title: 'Sent', body: html`<p>${input.name}</p>` };
    },
  },
);
const handler = toPage(page, { SERVICE_NAME: 'svc' });

async function request(method: string, overrides: Partial<APIGatewayProxyEventV2> = {}) {
  const event = eventOf(undefined, {}, overrides);
  event.requestContext.http.method = method;
  const { statusCode = 0, headers = {}, body = '' } = await handler(event, { awsRequestId: 'aws' } as Context);
  return { status: statusCode, headers: headers as Record<string, string>, body };
}

const open = (query: Record<string, string> | undefined, method = 'GET') =>
  request(method, query && { queryStringParameters: query });
const submit = (form: string, base64 = true) =>
  request('POST', { body: base64 ? Buffer.from(form).toString('base64') : form, isBase64Encoded: base64 });

describe('a page', () => {
  test('answers GET with the fields of the query string', async () => {
    const { status, body } = await open({ name: 'Ada' });
    expect(status).toBe(200);
    expect(body).toMatch(/^<!doctype html>\n<html lang="en">[^]*<title>Hello Ada<\/title>[^]*<p>Ada<\/p>/);
  });

  test('answers HEAD like GET, without a body', async () => {
    const [get, head] = [await open({ name: 'Ada' }), await open({ name: 'Ada' }, 'HEAD')];
    expect(head).toMatchObject({ status: 200, body: '' });
    expect(Object.keys(head.headers)).toEqual(Object.keys(get.headers));
  });

  test.each([true, false])('reads a form as browsers send it (base64: %s)', async (base64) => {
    expect(await submit('other=1&name=A%2Bd+%C3%BC', base64)).toMatchObject({
      status: 201,
      body: expect.stringContaining('<p>A+d ü</p>'),
    });
  });

  test('reads POST fields from the form, not from the query string', async () => {
    const { status } = await request('POST', { queryStringParameters: { name: 'Ada' } });
    expect(status).toBe(400);
  });

  test('escapes its title', async () => {
    expect((await open({ name: '</title><script>' })).body).toContain(
      '<title>Hello &#60;/title&#62;&#60;script&#62;</title>',
    );
  });
});

describe("a page's answer", () => {
  const answers: [what: string, make: () => ReturnType<typeof request>, status: number, says: string][] = [
    ['shown', () => open({ name: 'Ada' }), 200, 'Hello Ada'],
    ['submitted', () => submit('name=Ada'), 201, 'Sent'],
    ['without a field', () => open(undefined), 400, 'name is required'],
    ['with a wrong field', () => submit(`name=${'x'.repeat(21)}`), 400, 'at most 20 characters'],
    ['with a form that is too large', () => submit(`name=${'x'.repeat(70_000)}`), 400, 'too large'],
    [
      'with a form that is not UTF-8',
      () => request('POST', { body: Buffer.from([0xff]).toString('base64'), isBase64Encoded: true }),
      400,
      'UTF-8',
    ],
    ['refused', () => submit('name=refused'), 400, 'Not &#60;now&#62;'],
    ['to PUT', () => request('PUT'), 405, 'nothing else'],
    ['to OPTIONS', () => request('OPTIONS'), 405, 'nothing else'],
    ['that crashed', () => submit('name=crash'), 500, 'Internal error. Quote the request id'],
    ['that AWS could not cope with', () => submit('name=throttled'), 503, 'Please try again in a moment.'],
  ];

  test.each(answers)(
    '%s is HTML with its status and the security headers, and loads and runs nothing',
    async (_what, make, status, says) => {
      const answer = await make();
      expect(answer).toMatchObject({
        status,
        headers: {
          'content-type': 'text/html; charset=utf-8',
          'cache-control': 'no-store',
          'referrer-policy': 'no-referrer',
          'x-content-type-options': 'nosniff',
          'x-frame-options': 'DENY',
          'strict-transport-security': expect.any(String),
          'x-request-id': expect.any(String),
        },
        body: expect.stringMatching(/^<!doctype html>/),
      });
      expect(answer.body).toContain(says);
      expect(answer.body).not.toContain('secret detail');
      expect(answer.body).not.toMatch(/<(script|img|link|iframe|object|embed)\b|\son\w+=|\sstyle=|url\(|@import/i);
      const [, style = ''] = /<style>([^]*?)<\/style>/.exec(answer.body) ?? [];
      expect(answer.headers['content-security-policy']!.split('; ')).toEqual([
        "default-src 'none'",
        `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ]);
    },
  );

  test('lists the allowed methods for another method', async () => {
    expect((await request('DELETE')).headers.allow).toBe('GET, HEAD, POST');
  });
});

test('routeKey returns ANY for a page and POST for an endpoint', () => {
  expect(routeKey(page)).toBe('ANY /v2/things/page');
  expect(routeKey({ kind: 'read', path: '/v2/things/get' })).toBe('POST /v2/things/get');
});
