import { beforeAll, describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { fieldName } from '../../../lib/shared/errors.ts';
import { Id, list, Name, OpenObject, optional } from '../../../lib/shared/schema.ts';
import { testHandler } from '../../support/endpoint.ts';
import { requestIssues } from '../../support/requestIssues.ts';
import { post } from '../../support/requests.ts';
import { times } from '../../support/times.ts';

beforeAll(() => {
  process.env.POWERTOOLS_LOG_LEVEL = 'SILENT';
});

const schema = z.object({
  id: Id,
  name: optional(Name),
  count: optional(z.int()),
  limit: optional(z.number().positive()),
  tags: optional(list(Id, 3)),
  folders: optional(list(z.object({ folderId: Id, depth: optional(z.int()) }), 5)),
  owner: optional(z.object({ address: z.object({ city: Name }) })),
  metadata: optional(OpenObject),
});
const echo = testHandler({ input: schema });
const issuesOf = async (data: unknown) =>
  (await post(echo, {}, data)).body.error?.details.issues as
    { path: unknown[]; code: string; message: string }[] | undefined;
const messagesOf = async (data: unknown) => (await issuesOf(data))?.map(({ message }) => message);

describe('the message of INVALID_ARGUMENT', () => {
  test('names half of a surrogate pair, a number that is not positive, and only the length of a list that is too long', async () => {
    expect(await messagesOf({ id: '\udc00', limit: 0, tags: [1, 2, 3, 4] })).toEqual([
      'id must be well-formed Unicode',
      'limit must be greater than 0',
      'tags must have at most 3 items',
    ]);
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
  test.each<[string, Record<string, unknown>, string]>([
    ['of types', { value: [] }, 'value must be a string or a number or a boolean'],
    ['of a range and a format', { at: true }, 'at must be a number or a string'],
    ['of which the value misses the format', { at: 'yesterday' }, 'at must be an ISO 8601 date and time'],
    ['of which the value misses the range', { at: -1 }, 'at must be at least 0'],
    ['with an object of which a field is missing', { status: { id: 'x' } }, 'status.label is required'],
    ['with an object of which two fields are wrong', { status: { id: '', label: 7 } }, 'status.id must not be empty'],
    ['of objects with a discriminator', { auth: { type: 'basic' } }, 'auth.type must be "none" or "bearer"'],
    ['of objects with a discriminator and a missing field', { auth: { type: 'bearer' } }, 'auth.token is required'],
    ['with a message of its own', { own: {} }, 'own must be a name or a number'],
    ['that is required', { must: undefined }, 'must is required'],
  ])('for a union %s describes what is allowed', async (_what, data, message) => {
    const [issue] = (await post(union, {}, { must: 'x', ...data })).body.error.details.issues;
    expect([issue.message, fieldName(issue.path)]).toEqual([message, message.split(' ')[0]]);
  });

  test.each<[z.ZodType, unknown, string]>([
    [z.iso.datetime(), 'x', 'an ISO 8601 date and time'],
    [z.iso.date(), 'x', 'an ISO 8601 date'],
    [z.email(), 'x', 'an e-mail address'],
    [z.url(), 'x', 'a valid URL'],
    [z.number().multipleOf(5), 7, 'a multiple of 5'],
  ])('for a format describes the expected format', (format, value, expected) => {
    expect(requestIssues(z.object({ it: format }), { it: value })).toMatchObject([
      { message: `it must be ${expected}` },
    ]);
  });
});

describe('validation', () => {
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

  test('accepts a text of two bytes a character and an object with special keys', async () => {
    const data = {
      id: `${'x'.repeat(511)}ü`,
      metadata: JSON.parse('{"__proto__":{"a":1},"constructor":2}') as unknown,
    };
    const { body } = await post(echo, {}, data);
    expect(JSON.stringify(body.result.data)).toBe(JSON.stringify(data));
  });
});
