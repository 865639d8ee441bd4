import { beforeAll, describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { fieldName } from '../../../lib/shared/errors.ts';
import {
  Id,
  limits,
  list,
  Name,
  OpenObject,
  optional,
  PageSize,
  PageToken,
  Text,
  UnixSeconds,
} from '../../../lib/shared/schema.ts';
import { testHandler } from '../../support/endpoint.ts';
import { post } from '../../support/requests.ts';
import { times } from '../../support/times.ts';

beforeAll(() => {
  process.env.POWERTOOLS_LOG_LEVEL = 'SILENT';
});

const schema = z.object({
  id: Id,
  name: optional(Name),
  text: optional(Text),
  count: optional(z.int().min(1).max(50)),
  share: optional(z.number().min(0).max(1)),
  limit: optional(z.number().positive()),
  enabled: optional(z.boolean()),
  kind: optional(z.enum(['map', 'text'])),
  tags: optional(list(Id, 3)),
  folders: optional(list(z.object({ folderId: Id, depth: optional(z.int()) }), 5)),
  owner: optional(z.object({ address: z.object({ city: Name }) })),
  metadata: optional(OpenObject),
  expiresAt: optional(UnixSeconds),
});
const echo = testHandler({ input: schema });
const issuesOf = async (data: unknown) =>
  (await post(echo, {}, data)).body.error?.details.issues as
    { path: unknown[]; code: string; message: string }[] | undefined;
const messagesOf = async (data: unknown) => (await issuesOf(data))?.map(({ message }) => message);

describe('the message of INVALID_ARGUMENT', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['a required field that is missing', { id: undefined }, 'id is required'],
    ['a required field that is null', { id: null }, 'id must be a string'],
    ['an empty text', { id: '' }, 'id must not be empty'],
    ['a text that is too long', { id: 'x'.repeat(513) }, 'id must have at most 512 characters'],
    ['a control character', { id: 'a\u0000b' }, 'id must not contain control characters'],
    ['half of a surrogate pair', { id: '\udc00' }, 'id must be well-formed Unicode'],
    ['a text of too many bytes', { text: 'ü'.repeat(16_385) }, 'text must be at most 32768 bytes of UTF-8'],
    ['a number below its range', { count: 0 }, 'count must be at least 1'],
    ['a number above its range', { count: 51 }, 'count must be at most 50'],
    ['a number that is not positive', { limit: 0 }, 'limit must be greater than 0'],
    ['a broken number', { count: 1.5 }, 'count must be an integer'],
    ['a value that is not in the list', { kind: 'xml' }, 'kind must be "map" or "text"'],
    ['an empty list', { tags: [] }, 'tags must not be empty'],
    ['a list that is too long', { tags: ['a', 'b', 'c', 'd'] }, 'tags must have at most 3 items'],
    ['an item of a list', { tags: ['a', 7] }, 'tags[1] must be a string'],
    ['a field of an item', { folders: [{ folderId: 'a' }, { folderId: '' }] }, 'folders[1].folderId must not be empty'],
    ['a missing field of an item', { folders: [{}] }, 'folders[0].folderId is required'],
    ['a field of an object in an object', { owner: { address: { city: 3 } } }, 'owner.address.city must be a string'],
    [
      'an object that is too large',
      { metadata: { a: 'x'.repeat(65_536) } },
      'metadata must be at most 65536 bytes as JSON',
    ],
    [
      'an object that is too deep',
      { metadata: JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`) as unknown },
      'metadata must be nested at most 32 levels deep',
    ],
    [
      'a time in milliseconds where seconds are meant',
      { expiresAt: 1_800_000_000_000 },
      'expiresAt must be at most 99999999999',
    ],
  ])('%s', async (_what, data, message) => {
    const { status, body } = await post(echo, {}, { id: 'x', ...data });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ status: 'INVALID_ARGUMENT', message });
    expect(body.error.details.issues).toMatchObject([{ message, code: expect.stringMatching(/./) }]);
  });

  test('is the first problem, and details.issues lists all with their paths', async () => {
    const data = { name: '', count: '5', folders: [{ folderId: 'a', depth: 'x' }, {}], owner: { address: {} } };
    expect(await issuesOf(data)).toEqual([
      { path: ['id'], code: 'invalid_type', message: 'id is required' },
      { path: ['name'], code: 'too_small', message: 'name must not be empty' },
      { path: ['count'], code: 'invalid_type', message: 'count must be a number' },
      { path: ['folders', 0, 'depth'], code: 'invalid_type', message: 'folders[0].depth must be a number' },
      { path: ['folders', 1, 'folderId'], code: 'invalid_type', message: 'folders[1].folderId is required' },
      { path: ['owner', 'address', 'city'], code: 'invalid_type', message: 'owner.address.city is required' },
    ]);
    expect((await post(echo, {}, data)).body.error.message).toBe('id is required');
  });

  test('comes with at most a hundred problems in details.issues', async () => {
    const handler = testHandler({ input: z.object({ ids: z.array(Id) }) });
    const { body } = await post(handler, {}, { ids: times(5_000, () => 1) });
    expect(body.error.details.issues).toHaveLength(100);
  });

  test('names only the length of a list that is too long', async () => {
    expect(await messagesOf({ id: 'x', tags: [1, 2, 3, 4] })).toEqual(['tags must have at most 3 items']);
  });

  test('writes the path of a field like folders[3].folderId', () => {
    expect(fieldName([])).toBe('data');
    expect(fieldName(['folders', 3, 'folderId'])).toBe('folders[3].folderId');
    expect(fieldName(['a', 0, 1])).toBe('a[0][1]');
  });
});

describe('the message about a wrong value', () => {
  const union = testHandler({
    input: z.object({
      at: optional(z.union([z.int().min(0), z.iso.datetime()])),
      status: optional(z.union([Id, z.object({ id: Id, label: Name })])),
      value: optional(z.union([z.string(), z.number(), z.boolean()])),
      auth: optional(
        z.discriminatedUnion('type', [
          z.object({ type: z.literal('none') }),
          z.object({ type: z.literal('bearer'), token: Name }),
        ]),
      ),
      own: optional(z.union([z.string(), z.number()], { error: 'must be a name or a number' })),
      must: z.union([z.string(), z.number()]),
    }),
  });
  test.each<[string, Record<string, unknown>, string, (string | number)[]]>([
    ['of types', { value: [] }, 'value must be a string or a number or a boolean', ['value']],
    ['of a range and a format', { at: true }, 'at must be a number or a string', ['at']],
    ['of which the value misses the format', { at: 'yesterday' }, 'at must be an ISO 8601 date and time', ['at']],
    ['of which the value misses the range', { at: -1 }, 'at must be at least 0', ['at']],
    [
      'with an object of which a field is missing',
      { status: { id: 'x' } },
      'status.label is required',
      ['status', 'label'],
    ],
    [
      'with an object of which two fields are wrong',
      { status: { id: '', label: 7 } },
      'status.id must not be empty',
      ['status', 'id'],
    ],
    [
      'of objects with a discriminator field',
      { auth: { type: 'basic' } },
      'auth.type must be "none" or "bearer"',
      ['auth', 'type'],
    ],
    [
      'of objects with a discriminator field and a missing field',
      { auth: { type: 'bearer' } },
      'auth.token is required',
      ['auth', 'token'],
    ],
    ['with a message of its own', { own: {} }, 'own must be a name or a number', ['own']],
    ['that is required', { must: undefined }, 'must is required', ['must']],
  ])('for a union %s describes what is allowed', async (_what, data, message, path) => {
    const { status, body } = await post(union, {}, { must: 'x', ...data });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ status: 'INVALID_ARGUMENT', message });
    expect(body.error.details.issues[0]).toMatchObject({ path, message });
  });

  test.each<[z.ZodType, unknown, string]>([
    [z.iso.datetime(), 'x', 'it must be an ISO 8601 date and time'],
    [z.iso.date(), 'x', 'it must be an ISO 8601 date'],
    [z.email(), 'x', 'it must be an e-mail address'],
    [z.url(), 'x', 'it must be a valid URL'],
    [z.number().multipleOf(5), 7, 'it must be a multiple of 5'],
  ])('for a format describes the expected format', async (format, value, message) => {
    expect((await post(testHandler({ input: z.object({ it: format }) }), {}, { it: value })).body.error.message).toBe(
      message,
    );
  });
});

describe('validation', () => {
  const wrong: Record<string, unknown[]> = {
    id: [42, true, {}, ['x'], null],
    name: [42, false, {}, []],
    count: ['5', '', true, [5], {}],
    enabled: ['true', 'false', 0, 1, '', {}],
    kind: [0, true, ['map'], 'MAP', ' map'],
    tags: ['a', { 0: 'a', length: 1 }, 7],
    metadata: ['{}', [], 7, true],
    owner: ['x', [], 7],
  };

  test.each(Object.entries(wrong).flatMap(([field, values]) => values.map((value) => [field, value] as const)))(
    'refuses %s as %j: values are not converted',
    async (field, value) => {
      const issues = await issuesOf({ id: 'x', [field]: value });
      expect(issues?.[0]).toMatchObject({ path: [field], code: expect.stringMatching(/^invalid_|custom/) });
      expect(new Set(issues?.map(({ path }) => path[0]))).toEqual(new Set([field]));
    },
  );

  test('treats null as a missing optional field', async () => {
    const optionals = Object.fromEntries(
      Object.keys(schema.shape)
        .filter((field) => field !== 'id')
        .map((field) => [field, null]),
    );
    expect((await post(echo, {}, { id: 'x', ...optionals })).body.result.data).toEqual({ id: 'x' });
  });

  test('refuses unknown fields at every depth, before all other problems', async () => {
    const data = {
      id: 'x',
      unknown: 1,
      owner: { address: { city: 'Rome', zip: 1 }, age: 7 },
      folders: [{ folderId: 'a', color: 'red' }, { folder_id: 'b' }],
    };
    expect(await messagesOf(data)).toEqual([
      'unknown: unknown field.',
      'owner.address.zip: unknown field.',
      'owner.age: unknown field.',
      'folders[0].color: unknown field.',
      'folders[1].folder_id: unknown field. Did you mean folders[1].folderId?',
      'folders[1].folderId is required',
    ]);
  });

  test('accepts values at their limits', async () => {
    const data = {
      id: `${'x'.repeat(511)}ü`,
      name: 'n'.repeat(512),
      text: 'ü'.repeat(16_384),
      count: 50,
      share: 0,
      enabled: false,
      kind: 'map',
      tags: ['a', 'a', 'a'],
      metadata: JSON.parse('{"__proto__":{"a":1},"constructor":2}') as unknown,
      expiresAt: 99_999_999_999,
    };
    const { status, body } = await post(echo, {}, data);
    expect(status).toBe(200);
    expect(JSON.stringify(body.result.data)).toBe(JSON.stringify(data));
  });

  test.each(['a', '#', '~', '%', ' ', '\u{1f469}\u200d\u{1f680}', '__proto__', 'ﷺ', '\u2028'])(
    'accepts %j as an id',
    (id) => {
      expect(Id.safeParse(id).success).toBe(true);
    },
  );

  test('accepts page sizes from 1 to 1,000 and page tokens up to 8,192 characters', () => {
    expect([0, 1, limits.pageSize, limits.pageSize + 1, 1.5].map((size) => PageSize.safeParse(size).success)).toEqual([
      false,
      true,
      true,
      false,
      false,
    ]);
    expect([0, 1, 8_192, 8_193].map((length) => PageToken.safeParse('x'.repeat(length)).success)).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});
