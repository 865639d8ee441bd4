import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { toLambdaWithTwin } from '../../../lib/http/lambda.ts';
import { defineTwin, defineUnpagedTwin } from '../../../lib/http/twin.ts';
import { ApiError } from '../../../lib/shared/errors.ts';
import { limits, optional, PageSize, PageToken } from '../../../lib/shared/schema.ts';
import { eventOf, send } from '../../support/requests.ts';
import { times } from '../../support/times.ts';

let lines: Record<string, unknown>[] = [];
beforeAll(() => {
  // In this mode Powertools writes through the console, which the test reads.
  process.env.POWERTOOLS_DEV = 'true';
  process.env.POWERTOOLS_LOG_LEVEL = 'INFO';
});
beforeEach(() => {
  lines = [];
  jest.spyOn(console, 'info').mockImplementation((line: string) => void lines.push(JSON.parse(line)));
});
afterEach(() => {
  jest.restoreAllMocks();
});

const Row = z.object({ n: z.number(), text: z.string() });

/** Returns a list endpoint whose rows have `bytes` bytes each. `pages` has the input of each page that was read. */
function listingOf(
  rows: number,
  { pageRows = limits.pageSize, bytes = 1 }: { pageRows?: number; bytes?: number } = {},
) {
  const pages: object[] = [];
  const endpoint = defineEndpoint(
    {
      path: '/v2/things/get',
      summary: 'Get things',
      auth: 'none',
      kind: 'read',
      input: z.object({
        ids: optional(z.array(z.string())),
        grouped: optional(z.boolean()),
        order: optional(z.enum(['asc', 'desc'])),
        pageSize: optional(PageSize),
        pageToken: optional(PageToken),
      }),
      output: z.object({ data: z.array(Row), nextPageToken: z.string().nullable() }),
      message: 'Things.',
      errors: [],
      uses: {},
      impact: 'customers cannot read things',
      example: { data: { ids: ['a'], pageSize: 1 }, result: { data: [{ n: 1, text: 'x' }], nextPageToken: null } },
    },
    async ({ input }) => {
      pages.push(input);
      const from = Number(input.pageToken ?? 0);
      const data = times(Math.min(pageRows, rows - from), (index) => ({
        n: from + index,
        text: 'x'.repeat(bytes),
      }));
      return { data, nextPageToken: from + pageRows < rows ? String(from + pageRows) : null };
    },
  );
  const twin = defineUnpagedTwin(endpoint, {
    narrowBy: 'ids',
    ignored: ['grouped'],
    message: 'All things.',
    row: z.object({ n: z.number() }),
    toRow: ({ n }: z.output<typeof Row>) => ({ n }),
  });
  const handler = toLambdaWithTwin(endpoint, twin, { SERVICE_NAME: 'svc' });
  const call = async (path: string, data: object) =>
    send(handler, eventOf(JSON.stringify({ data }), {}, { routeKey: `POST ${path}` }));
  return { endpoint, twin, pages, call };
}

describe('the twin of a paged endpoint, which itself has no pages', () => {
  test('returns the rows of all pages in its own shape, without a page token', async () => {
    const { call, pages } = listingOf(4_500);
    const { body } = await call('/v1/things/get', {});
    expect(body).toEqual({
      result: { status: 'success', message: 'All things.', data: times(4_500, (n) => ({ n })) },
    });
    expect(pages).toHaveLength(5);
  });

  test('does not change the answer of its endpoint', async () => {
    const { call } = listingOf(3, { pageRows: 2 });
    expect((await call('/v2/things/get', {})).body.result).toEqual({
      status: 'success',
      message: 'Things.',
      data: [0, 1].map((n) => ({ n, text: 'x' })),
      nextPageToken: '2',
    });
  });

  test('ignores fields that only its endpoint has, with any value', async () => {
    const { call, pages } = listingOf(1);
    expect(
      (await call('/v1/things/get', { ids: ['a'], order: 7, pageSize: 'many', pageToken: {}, grouped: true })).status,
    ).toBe(200);
    expect(pages).toEqual([{ ids: ['a'] }]);
  });

  test.each([
    ['more than five pages', 5_001, {}, 5],
    ['more than 5 MB', 40, { pageRows: 10, bytes: 300_000 }, 2],
  ])('refuses %s and names the field that narrows the answer', async (_what, rows, shape, read) => {
    const { call, pages } = listingOf(rows, shape);
    const { status, body } = await call('/v1/things/get', {});
    expect([status, body.error]).toEqual([
      400,
      {
        status: 'INVALID_ARGUMENT',
        message: 'There is too much for one answer: narrow it by ids, or read it in pages from /v2/things/get',
        details: { issues: [{ path: ['ids'], code: 'answer_too_large', message: expect.any(String) }] },
      },
    ]);
    expect(pages).toHaveLength(read);
  });

  test('has an example in its own shape', () => {
    const { twin } = listingOf(1);
    expect(twin.example).toEqual({ data: { ids: ['a'] }, result: { data: [{ n: 1 }] } });
  });
});

describe('the twin of an endpoint', () => {
  const endpoint = defineEndpoint(
    {
      path: '/v2/things/set',
      summary: 'Set things',
      auth: 'none',
      kind: 'write',
      input: z.object({ id: optional(z.string()), value: optional(z.number()) }),
      output: z.object({ data: z.unknown() }),
      message: 'Set.',
      errors: [],
      uses: {},
      impact: 'customers cannot set things',
      example: { data: {}, result: { data: {} } },
    },
    async ({ input }) => {
      if (input.value === 13) throw new ApiError('FAILED_PRECONDITION', 'Not 13');
      return { data: input };
    },
  );
  const handler = toLambdaWithTwin(endpoint, defineTwin(endpoint, { required: ['id'] }), { SERVICE_NAME: 'svc' });
  const call = (path: string, data: unknown) =>
    send(handler, eventOf(JSON.stringify({ data }), {}, { routeKey: `POST ${path}` }));

  test.each([[{}], [{ id: null }], [{ value: 1 }]])(
    'requires a field that is optional in its endpoint: %j',
    async (data) => {
      const { status, body } = await call('/v1/things/set', data);
      expect([status, body.error]).toEqual([
        400,
        expect.objectContaining({ status: 'INVALID_ARGUMENT', message: 'id is required' }),
      ]);
      expect((await call('/v2/things/set', data)).status).toBe(200);
    },
  );

  test('is named in the log line of a request, beside its endpoint', async () => {
    await call('/v1/things/set', { id: 'a' });
    await call('/v2/things/set', {});
    expect(lines.map(({ endpoint: name, twin }) => [name, twin])).toEqual([
      ['v2.things.set', 'v1.things.set'],
      ['v2.things.set', undefined],
    ]);
  });

  test('validates other fields and fails like its endpoint', async () => {
    expect((await call('/v1/things/set', { id: 'a', value: 'b' })).body.error.message).toBe('value must be a number');
    expect((await call('/v1/things/set', { id: 'a', value: 13 })).body.error).toEqual({
      status: 'FAILED_PRECONDITION',
      message: 'Not 13',
    });
    expect((await call('/v1/things/set', { id: 'a', value: 1 })).body.result.data).toEqual({ id: 'a', value: 1 });
  });
});
