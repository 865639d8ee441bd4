import { beforeAll, describe, expect, test } from '@jest/globals';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';

const ADD = '/v2/users/add';
const acme = { organizationId: 'acme' };
const users = [{ userId: 'ada' }];

const { customer } = acmeWorld({ isShared: true });
beforeAll(() => customer.addFolders(['parent', 'there']));

const refusal = (path: string, data: object) => customer.error(path, { ...acme, ...data });
const parentOf = async (folderId: string) =>
  (await customer.ok('/v2/organizations/folders/get', { ...acme, folderId }))[0].parentFolderId;

describe('parentFolderId of users/add', () => {
  test('sets the parent of a folder that the call creates', async () => {
    await customer.ok(ADD, { ...acme, users, folderId: 'new', createFolder: true, parentFolderId: 'parent' });
    expect(await parentOf('new')).toBe('parent');
    expect(await customer.ok('/v2/users/get', { ...acme, folderId: 'new' })).toMatchObject([{ userId: 'ada' }]);
  });

  test('does not move an existing folder', async () => {
    await customer.ok(ADD, { ...acme, users, folderId: 'there', createFolder: true, parentFolderId: 'parent' });
    expect(await parentOf('there')).toBe('root');
  });

  test('returns NOT_FOUND for an unknown parent', async () => {
    expect(await refusal(ADD, { users, folderId: 'newer', createFolder: true, parentFolderId: 'nothing' })).toEqual([
      404,
      'NOT_FOUND',
      'Parent folder does not exist',
    ]);
    expect(await refusal('/v2/users/get', { folderId: 'newer' })).toEqual([404, 'NOT_FOUND', 'Folder does not exist']);
  });

  test.each([
    {},
    { folderId: 'newer' },
    { documentId: 'd', createFolder: true },
    { folderId: 'newer', createFolder: false },
  ])('is rejected together with %j, and no folder is created', async (data) => {
    expect(await refusal(ADD, { users, parentFolderId: 'parent', ...data })).toEqual(
      invalid(
        'parentFolderId must be given together with folderId and createFolder: true, because it is the parent of the folder that the call creates',
      ),
    );
  });
});

describe('the unsupported field context', () => {
  test.each([
    [ADD, { users }],
    ['/v2/users/delete', { userIds: ['ada'] }],
  ])('is rejected by %s', async (path, data) => {
    expect(await refusal(path, { ...data, context: { access: { team: 'x' } } })).toEqual(
      invalid('context must be left out: no webhook and no resolver of this service reports added or removed users'),
    );
    expect((await customer.call(path, { ...acme, ...data, context: null })).status).toBe(200);
  });
});
