import { randomUUID } from 'node:crypto';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import * as z from 'zod';
import { handler as unmatched } from '../../../functions/default.ts';
import { BODY_BYTES, findInfinity, isNestedDeeper } from '../../../lib/http/envelope.ts';
import { dict } from '../../../lib/shared/collections.ts';
import { cpuMilliseconds } from '../../support/cpu.ts';
import { testHandler } from '../../support/endpoint.ts';
import { eventOf, post, type Response, send } from '../../support/requests.ts';
import { times } from '../../support/times.ts';
import { unicodeText } from '../../support/unicodeText.ts';

beforeAll(() => {
  process.env.POWERTOOLS_LOG_LEVEL = 'SILENT';
  process.env.POWERTOOLS_METRICS_DISABLED = 'true';
  process.env.SERVICE_NAME = 'svc';
});

const echo = testHandler();
const sendBody = (body: string | undefined, handler = echo) => send(handler, eventOf(body));
const sendBase64 = (body: Buffer) => send(echo, eventOf(body.toString('base64'), {}, { isBase64Encoded: true }));

function expectRefused({ status, body }: Response, path: string[], message: string | RegExp): void {
  expect(status).toBe(400);
  expect(body.error).toMatchObject({
    status: 'INVALID_ARGUMENT',
    message: expect.stringMatching(message),
    details: { issues: [{ path, message: body.error.message }] },
  });
}

describe('a request body', () => {
  test('has the parameters in data, and the answer has the success envelope', async () => {
    const { status, body } = await post(echo, {}, { a: [1, 'x', null] });
    expect(status).toBe(200);
    expect(body).toEqual({ result: { status: 'success', message: 'Echoed.', data: { a: [1, 'x', null] } } });
  });

  const notJson = 'The request body must be JSON: an object with the key data';
  const notObject = 'The request body must be an object with the key data';
  test.each<[path: string[], message: string, bodies: (string | undefined)[]]>([
    [[], notJson, [undefined, '', ' ', 'text', '{', '{"data":{}', "{'data':{}}", '{"data":{}}}', 'undefined']],
    [[], notObject, ['[]', '[{"data":{}}]', '"data"', '1', 'true', 'null']],
    [['data'], 'data is required', ['{}', '{"Data":{}}', '{"__proto__":{"data":{}}}']],
    [
      ['data'],
      'data must be an object',
      ['null', '[]', '[{}]', '"{}"', '0', 'false', '1e400'].map((data) => `{"data":${data}}`),
    ],
  ])('is refused at %j with the message %s', async (path, message, bodies) => {
    for (const body of bodies) expectRefused(await sendBody(body), path, message);
  });

  test.each(['context', '__proto__'])(
    'with the key %s beside data is refused, and the message names the key',
    async (key) => {
      const message = `${key}: unknown field. Did you mean data.${key}?`;
      expectRefused(await sendBody(`{"data":{"a":1},${JSON.stringify(key)}:7}`), [key], message);
    },
  );

  test('with unknown keys is refused also where a body is optional', async () => {
    const answer = await sendBody('{"endpointId":"x"}', testHandler({ body: 'optional' }));
    expectRefused(answer, ['endpointId'], 'endpointId: unknown field. Did you mean data.endpointId?');
  });

  test('may be missing where it is optional, but not be malformed', async () => {
    const handler = testHandler({ body: 'optional' });
    for (const body of [undefined, '', ' \n', '{}', '{"data":{}}'])
      expect([body, (await sendBody(body, handler)).body.result.data]).toEqual([body, {}]);
    expectRefused(await sendBody('{"data":[]}', handler), ['data'], 'data must be an object');
    for (const body of ['[]', 'x']) expectRefused(await sendBody(body, handler), [], 'The request body must be');
  });

  test('may have 5.5 MB, and one byte more is INVALID_ARGUMENT', async () => {
    const bodyOf = (bytes: number) => `{"data":{"a":"${'x'.repeat(bytes - 17)}"}}`;
    expect(Buffer.byteLength(bodyOf(BODY_BYTES))).toBe(5_500_000);
    const count = testHandler({ run: async ({ input }) => ({ data: input.a.length }) });
    expect((await sendBody(bodyOf(BODY_BYTES), count)).body.result.data).toBe(5_500_000 - 17);
    expectRefused(await sendBody(bodyOf(BODY_BYTES + 1), count), [], 'must not be larger than 5500000 bytes');
  });

  test('is measured in bytes, also in base64', async () => {
    expectRefused(await sendBody(`{"data":{"a":"${'ü'.repeat(BODY_BYTES / 2)}"}}`), [], 'must not be larger');
    expectRefused(await sendBase64(Buffer.alloc(BODY_BYTES + 3, 'x')), [], 'must not be larger');
  });

  test('is read from base64', async () => {
    const { body } = await sendBase64(Buffer.from('{"data":{"name":"Zoë \u{1f469}\u200d\u{1f680}"}}'));
    expect(body.result.data).toEqual({ name: 'Zoë \u{1f469}\u200d\u{1f680}' });
  });

  test('with bytes that are not UTF-8 is INVALID_ARGUMENT, also if the gateway replaced them', async () => {
    const handedOver = (bytes: Buffer) =>
      send(echo, eventOf(bytes.toString(), { 'content-length': String(bytes.length) }));
    for (const bytes of [[0xff], [0xfe], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xe2, 0x82]]) {
      const body = Buffer.concat([Buffer.from('{"data":{"id":"'), Buffer.from(bytes), Buffer.from('"}}')]);
      expectRefused(await sendBase64(body), [], 'The request body must be JSON in UTF-8');
      const message = /^The request body must be JSON in UTF-8.*: it has bytes that are not UTF-8$/;
      expectRefused(await handedOver(body), [], message);
    }
    expect((await handedOver(Buffer.from('{"data":{"id":"\ufffd"}}'))).body.result.data).toEqual({ id: '\ufffd' });
  });

  const json = '{"data":{"id":"\u00fc"}}';
  const utf16 = Buffer.from(`\ufeff${json}`, 'utf16le');
  test.each<[string, Buffer, Record<string, string>, RegExp]>([
    ['a byte order mark', Buffer.from(`\ufeff${json}`), {}, /it begins with a byte order mark \(BOM\)$/],
    ['UTF-16', utf16, {}, /it is in UTF-16$/],
    ['UTF-16 without a mark', utf16.subarray(2), {}, /it is in UTF-16$/],
    ['UTF-16 of the other byte order', Buffer.from(utf16).swap16(), {}, /it is in UTF-16$/],
    ['gzip', gzipSync(json), {}, /it is compressed with gzip$/],
    ['gzip with its header', gzipSync(json), { 'content-encoding': 'gzip' }, /it is compressed with gzip$/],
    ['Brotli', brotliCompressSync(json), { 'content-encoding': 'br' }, /its content-encoding is br$/],
  ])('in %s is INVALID_ARGUMENT with the encoding in the message', async (_what, bytes, headers, message) => {
    for (const event of [
      eventOf(bytes.toString('base64'), headers, { isBase64Encoded: true }),
      eventOf(bytes.toString(), { ...headers, 'content-length': String(bytes.length) }),
    ]) {
      expectRefused(await send(echo, event), [], message);
    }
  });

  test('may be nested 128 levels deep, and deeper is INVALID_ARGUMENT', async () => {
    const nested = (levels: number, [open, close] = ['[', ']']) =>
      `{"data":{"a":${open.repeat(levels - 2)}${close.repeat(levels - 2)}}}`;
    const counting = testHandler({ run: async () => ({ data: 'read' }) });
    expect((await sendBody(nested(128), counting)).body.result.data).toBe('read');
    for (const levels of [129, 6_000, 100_000, 2_500_000])
      expectRefused(
        await sendBody(nested(levels), counting),
        [],
        'The request body must not be nested deeper than 128 levels',
      );
    expectRefused(
      await sendBody(nested(6_000, ['{"a":', '}']).replace('{}', '{"a":1}'), counting),
      [],
      'nested deeper',
    );
    const open = testHandler({ input: z.object({ a: z.unknown() }) });
    expectRefused(await sendBody(nested(6_000), open), [], 'nested deeper');
  });

  test('may have many brackets in texts or side by side, because they are not nested', async () => {
    for (const data of [
      { a: '['.repeat(1_000) },
      { a: '\\"[{'.repeat(1_000) },
      { a: times(1_000, () => [{}]) },
      { ['"\\['.repeat(200)]: ['\\', '"', '[{"'] },
    ]) {
      expect((await post(echo, {}, data)).body.result.data).toEqual(data);
    }
  });

  test('is checked for its depth in little time', () => {
    for (const text of ['[', '{"a":', '[]', '"\\', '\\"', '"', '["\\\\"],']) {
      const body = text.repeat(5_000_000 / text.length);
      expect(cpuMilliseconds(() => isNestedDeeper(body, 128), { limit: 150 })).toBeLessThan(150);
    }
  });

  test.each([
    ['{"a":{"b":[0,{"c d":1e400}]}}', ['a', 'b', 1, 'c d'], 'a.b[1].c d'],
    ['{"a":-1E+0400}', ['a'], 'a'],
    [`{"a":{"__proto__":{"b":${'9'.repeat(309)}}}}`, ['a', '__proto__', 'b'], 'a.__proto__.b'],
    [`{"a":[${'1'.repeat(230)}.5e99]}`, ['a', 0], 'a[0]'],
    ['{"a":1.8e308}', ['a'], 'a'],
  ])('with a number that JavaScript cannot hold is refused with its path: %s', async (data, path, name) => {
    const answer = await sendBody(`{"data":${data}}`);
    expectRefused(answer, path as string[], 'must be a number');
    expect(answer.body.error.message).toBe(
      `${name} must be a number between -1.7976931348623157e+308 and 1.7976931348623157e+308`,
    );
  });

  test.each(['1.7976931348623157e308', '1e-400', '0e999', '12345678901234567890', '"1e400"', `"${'9'.repeat(400)}"`])(
    'may have %s',
    async (value) => {
      const { body } = await sendBody(`{"data":{"a":${value}}}`);
      expect(body.result.data).toEqual({ a: JSON.parse(value) });
    },
  );

  test('is searched for numbers in little time', () => {
    for (const text of ['1'.repeat(199) + ',', '1e99,', '"1e"', '1e100,', '9'.repeat(5_000)]) {
      const body = text.repeat(5_000_000 / text.length);
      expect(cpuMilliseconds(() => findInfinity(body, {}), { limit: 150 })).toBeLessThan(150);
    }
  });

  test('of any text is read or refused, never answered with 500', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          unicodeText(),
          fc.json(),
          fc.json().map((json) => `{"data":${json}}`),
        ),
        async (body) => {
          expect([200, 400]).toContain((await sendBody(body)).status);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('special keys', () => {
  const keys = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'];

  test.each(keys)('%s as a parameter is an unknown field and pollutes no prototype', async (key) => {
    const objectHandler = testHandler({ input: z.object({ a: z.string() }) });
    const answer = await sendBody(`{"data":{"a":"x",${JSON.stringify(key)}:{"polluted":true}}}`, objectHandler);
    expectRefused(answer, [key], `${key}: unknown field.`);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test.each(keys)('%s can be a key of an answer', async (key) => {
    const answering = testHandler({ run: async () => ({ data: dict([[key, 1]]) }) });
    const result = await answering(eventOf('{"data":{}}'), { awsRequestId: randomUUID() } as never);
    expect(result.body).toContain(`"data":{${JSON.stringify(key)}:1}`);
  });
});

describe('an answer', () => {
  const security = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'strict-transport-security': 'max-age=31536000; includeSubDomains',
    'referrer-policy': 'no-referrer',
  };
  const failing = testHandler({
    run: async () => {
      throw new Error('broken');
    },
  });

  test.each([
    ['a success', 200, echo, '{"data":{}}'],
    ['a refusal', 400, echo, '{}'],
    ['a fault', 500, failing, '{"data":{}}'],
    ['an unknown path', 404, unmatched, undefined],
  ])('%s has the default headers and the request id', async (_what, status, handler, body) => {
    const event = eventOf(body);
    const answer = await send(handler, event);
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject({ ...security, 'x-request-id': event.requestContext.requestId });
  });

  test('has neither status nor message when the declared message is null', async () => {
    const { body } = await post(testHandler({ message: null, run: async () => ({ results: [], total: 0 }) }), {}, {});
    expect(body).toEqual({ result: { results: [], total: 0 } });
  });

  test('may have 5 MB, and a larger one is INVALID_ARGUMENT with the parameter that narrows it', async () => {
    const sized = (length: number, narrowBy?: string) =>
      testHandler({ ...(narrowBy && { narrowBy }), run: async () => ({ data: 'x'.repeat(length) }) });
    const overhead = Buffer.byteLength('{"result":{"status":"success","message":"Echoed.","data":""}}');
    expect((await post(sized(5_000_000 - overhead), {}, {})).status).toBe(200);
    expectRefused(
      await post(sized(5_000_001 - overhead, 'pageSize'), {}, {}),
      ['pageSize'],
      /larger than 5000000 bytes: narrow it by pageSize$/,
    );
    expectRefused(await post(sized(5_000_001 - overhead), {}, {}), [], /larger than 5000000 bytes$/);
  });

  test('may have 4.5 MB of any characters', async () => {
    for (const text of ['x', '"', '\\', '\u0000', '\n', '\u20ac', '\u{1f600}', '\ud800']) {
      const data = text.repeat(4_500_000 / Buffer.byteLength(JSON.stringify(text).slice(1, -1)));
      const result = await testHandler({ run: async () => ({ data }) })(eventOf('{"data":{}}'), {
        awsRequestId: randomUUID(),
      } as never);
      expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(6_291_456);
      const body = result.isBase64Encoded ? Buffer.from(result.body!, 'base64').toString() : result.body!;
      expect(JSON.parse(body).result.data === data).toBe(true);
    }
  });

  test('is INVALID_ARGUMENT when it is too large for a Lambda response', async () => {
    const quotes = testHandler({ narrowBy: 'ids', run: async () => ({ data: '"'.repeat(2_450_000) }) });
    expectRefused(
      await post(quotes, {}, {}),
      ['ids'],
      /^The answer would be larger than Lambda can carry.*: narrow it by ids$/,
    );
  });

  test('stays small when its error names long keys of the request', async () => {
    const recordHandler = testHandler({ input: z.object({ a: z.record(z.string(), z.string()) }) });
    const refused = await recordHandler(eventOf(JSON.stringify({ data: { a: { ['"'.repeat(300_000)]: 1 } } })), {
      awsRequestId: randomUUID(),
    } as never);
    expect(refused.statusCode).toBe(400);
    expect(refused.body!.length).toBeLessThan(200_000);
    expect(JSON.parse(refused.body!).error).toMatchObject({
      status: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/^a\."+\.\.\.$/),
    });
  });

  test('is NOT_FOUND for an unknown path or another method', async () => {
    const event = eventOf(undefined);
    const http = { ...event.requestContext.http, method: 'GET', path: `/v9/${'x'.repeat(500)}` };
    const { status, body } = await send(unmatched, { ...event, requestContext: { ...event.requestContext, http } });
    expect(status).toBe(404);
    expect(body).toEqual({
      error: {
        status: 'NOT_FOUND',
        message: `There is no endpoint GET /v9/${'x'.repeat(196)}. Every endpoint is called with POST; the reference is at GET /docs.`,
      },
    });
  });
});
