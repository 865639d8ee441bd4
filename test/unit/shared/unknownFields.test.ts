import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { isNearName, isSameName, nearName } from '../../../lib/shared/nearName.ts';
import {
  Id,
  ignoredField,
  list,
  OpenObject,
  optional,
  unchangedObject,
  withFieldChanges,
  withFurtherFields,
  withOpenKeys,
} from '../../../lib/shared/schema.ts';
import { unknownFields } from '../../../lib/shared/unknownFields.ts';
import { cpuMilliseconds } from '../../support/cpu.ts';
import { times } from '../../support/times.ts';

const Comment = z.object({ commentText: z.string(), triggerNotification: optional(z.boolean()) });
const schema = z
  .object({
    documentId: optional(Id),
    permissions: optional(
      z.object({
        resources: list(
          z
            .object({ id: Id, accessRole: optional(z.string()), expiresAt: optional(z.number()) })
            .check(z.refine(() => true)),
          100,
        ),
      }),
    ),
    threads: optional(list(z.object({ visibility: optional(z.string()), commentData: list(Comment, 50) }), 100)),
    users: optional(z.array(withFurtherFields(z.object({ userId: Id, profile: optional(z.object({ name: Id })) })))),
    labels: optional(z.record(z.string(), z.object({ color: z.string() }))),
    metadata: optional(OpenObject),
    location: optional(unchangedObject(z.object({ version: optional(z.object({ id: Id })) }))),
    organization: optional(withOpenKeys({ organizationId: Id, owner: optional(z.object({ userId: Id })) })),
    status: optional(z.union([Id, z.object({ id: Id })])),
    planInfo: ignoredField('only operators set it'),
  })
  .transform((value) => value);
const messagesOf = (data: unknown) => unknownFields(schema, data).map(({ message }) => message);

describe('unknown fields', () => {
  test.each<[string, object, string]>([
    ['another case', { documentID: 'a' }, 'documentID: unknown field. Did you mean documentId?'],
    ['another spelling', { document_id: 'a' }, 'document_id: unknown field. Did you mean documentId?'],
    [
      'a missing letter in an item of a list',
      { permissions: { resources: [{}, { accesRole: 'viewer' }] } },
      'permissions.resources[1].accesRole: unknown field. Did you mean permissions.resources[1].accessRole?',
    ],
    [
      'the end of a name',
      { permissions: { resources: [{ role: 'viewer' }] } },
      'permissions.resources[0].role: unknown field. Did you mean permissions.resources[0].accessRole?',
    ],
    [
      'the name of answers',
      { threads: [{ commentData: [], visibilityConfig: {} }] },
      'threads[0].visibilityConfig: unknown field. Did you mean threads[0].visibility?',
    ],
    [
      'a field one level too high',
      { threads: [{ triggerNotification: true }] },
      'threads[0].triggerNotification: unknown field. Did you mean threads[0].commentData[0].triggerNotification?',
    ],
    [
      'a misspelt field one level too high',
      { permissions: { accesRole: 'viewer' } },
      'permissions.accesRole: unknown field. Did you mean permissions.resources[0].accessRole?',
    ],
    [
      'a field two levels too high',
      { expiresAt: 1 },
      'expiresAt: unknown field. Did you mean permissions.resources[0].expiresAt?',
    ],
    [
      'a field one level too low',
      { threads: [{ commentData: [{ commentText: 'a', Visibility: 'x' }] }] },
      'threads[0].commentData[0].Visibility: unknown field. Did you mean threads[0].visibility?',
    ],
    ['no similar name', { rainbow: 1 }, 'rainbow: unknown field.'],
    ['a value of null', { rainbow: null }, 'rainbow: unknown field.'],
    [
      'an object in a map',
      { labels: { a: { colour: 'red' } } },
      'labels.a.colour: unknown field. Did you mean labels.a.color?',
    ],
    ['an alternative of a union', { status: { id: 'OPEN', name: 'Open' } }, 'status.name: unknown field.'],
    [
      'an object in an open one',
      { organization: { organizationId: 'a', own: 1, owner: { userID: 'b' } } },
      'organization.owner.userID: unknown field. Did you mean organization.owner.userId?',
    ],
    [
      'an object in one with further fields',
      { users: [{ userId: 'a', team: 1, profile: { nmae: 'b' } }] },
      'users[0].profile.nmae: unknown field. Did you mean users[0].profile.name?',
    ],
  ])('are named, with the field that was probably meant, for %s', (_what, data, message) => {
    expect(messagesOf(data)).toEqual([message]);
  });

  test.each<[string, unknown]>([
    ['metadata', { metadata: { documentID: { a: 1 } } }],
    ['an object that is stored as it was sent', { location: { page: 1, version: { id: 'a', other: 1 } } }],
    ['an object with open keys', { organization: { organizationId: 'a', team: 'b' } }],
    ['an object with further fields', { users: [{ userId: 'a', organizationId: 'b' }] }],
    ['a field that is declared as ignored', { planInfo: { type: 'x' } }],
    ['a value of another type', { threads: 'x', labels: [], status: 'OPEN', permissions: null }],
    ['data that is no object', null],
  ])('are not found in %s', (_what, data) => {
    expect(messagesOf(data)).toEqual([]);
  });

  test('of the other version are ignored in a twin, which ignores them', () => {
    const twin = withFieldChanges(z.object({ id: Id, pageSize: optional(z.number()) }), { ignored: ['pageSize'] });
    expect(unknownFields(twin, { id: 'a', pageSize: { any: 1 } })).toEqual([]);
    expect(unknownFields(twin, { id: 'a', pageSiz: 1 })).toMatchObject([{ message: 'pageSiz: unknown field.' }]);
  });

  test('of hostile names are cut and shown without control characters, and pollute nothing', () => {
    const data = JSON.parse('{"__proto__":{"polluted":1},"constructor":1,"a\\u0000\\nb":1}') as Record<string, unknown>;
    data['x'.repeat(100_000)] = 1;
    data['\ud800'] = 1;
    const issues = unknownFields(schema, data);
    expect(issues.map(({ path }) => path)).toEqual([
      ['__proto__'],
      ['constructor'],
      ['a\ufffd\ufffdb'],
      [`${'x'.repeat(100)}...`],
      ['\ufffd'],
    ]);
    for (const { message } of issues) expect(message).toMatch(/^[^\p{Cc}]{1,200}: unknown field\.$/u);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test('are reported at most twenty times, so that 100,000 of them cost little', () => {
    const data = Object.fromEntries(times(100_000, (index) => [`accesRol${index}`, 1]));
    let found: unknown[] = [];
    const find = () => (found = unknownFields(schema, { permissions: { resources: [data, data] } }));
    expect(cpuMilliseconds(find, { limit: 500 })).toBeLessThan(500);
    expect(found).toHaveLength(20);
  });

  test('in a list that is too long are not searched', () => {
    expect(messagesOf({ threads: times(101, () => ({ rainbow: 1 })) })).toEqual([]);
  });
});

describe('the nearest name', () => {
  const known = ['documentId', 'documentName', 'accessRole', 'accessType', 'id', 'notifyAll'];
  test.each([
    ['documentid', 'documentId'],
    ['docId', 'documentId'],
    ['clientDocumentId', 'documentId'],
    ['accesType', 'accessType'],
    ['acessRole', 'accessRole'],
    ['accessRoel', 'accessRole'],
    ['notify_all', 'notifyAll'],
    ['name', 'documentName'],
    ['folderAccessType', 'accessType'],
    ['ip', undefined],
    ['rainbow', undefined],
    ['', undefined],
    ['constructor', undefined],
    ['__proto__', undefined],
    ['a'.repeat(65), undefined],
  ])('of %j is %j', (name, meant) => {
    expect(nearName(name, known)).toBe(meant);
  });

  test('is none if several names end with the word', () => {
    expect(nearName('type', ['accessType', 'featureType'])).toBeUndefined();
  });

  test('is near with up to two other letters, and the same only without any', () => {
    expect([isNearName('accesRole', 'accessRole'), isNearName('role', 'accessRole')]).toEqual([true, false]);
    expect([isSameName('access-role', 'accessRole'), isSameName('accesRole', 'accessRole')]).toEqual([true, false]);
  });
});
