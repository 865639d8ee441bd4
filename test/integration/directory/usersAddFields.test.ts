import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Table } from '../../../lib/table/table.ts';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';

const ADD = '/v2/users/add';
const acme = { organizationId: 'acme' };
const users = [{ userId: 'ada' }];

const { customer } = acmeWorld({ isShared: true });
beforeAll(() => customer.addFolders(['parent', 'there']));

const error = (path: string, data: object) => customer.error(path, { ...acme, ...data });
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
    expect(await error(ADD, { users, folderId: 'newer', createFolder: true, parentFolderId: 'nothing' })).toEqual([
      404,
      'NOT_FOUND',
      'Parent folder does not exist',
    ]);
    expect(await error('/v2/users/get', { folderId: 'newer' })).toEqual([404, 'NOT_FOUND', 'Folder does not exist']);
  });

  test.each([
    {},
    { folderId: 'newer' },
    { documentId: 'd', createFolder: true },
    { folderId: 'newer', createFolder: false },
  ])('is rejected together with %j, and no folder is created', async (data) => {
    expect(await error(ADD, { users, parentFolderId: 'parent', ...data })).toEqual(
      invalid(
        'parentFolderId must be given together with folderId and createFolder: true, because it is the parent of the folder that the call creates',
      ),
    );
  });
});

describe('createFolder and createDocument without the id of a folder or document', () => {
  test.each([{ createFolder: true }, { createDocument: true }])('are rejected by users/add: %j', async (data) => {
    expect(await error(ADD, { users: [{ userId: 'stray' }], ...data })).toEqual(
      invalid(
        'data must have documentId or folderId if createDocument or createFolder is true. Otherwise the users would be added to the organization',
      ),
    );
    expect(await customer.ok('/v2/users/get', { ...acme, userIds: ['stray'] })).toEqual([]);
  });

  test('is rejected by documents/add', async () => {
    const data = { documents: [{ documentId: 'stray' }], createFolder: true };
    expect(await error('/v2/organizations/documents/add', data)).toEqual(
      invalid('folderId is required if createFolder is true, because it names the folder that the call creates'),
    );
    const named = { ...acme, documents: data.documents, createFolder: false };
    await customer.ok('/v2/organizations/documents/add', named);
  });
});

describe('users/add with createOrganization, createDocument and createFolder', () => {
  test.each([
    ['Document', { documentId: 'reset' }, 'documents/delete', { documentIds: ['reset'] }],
    ['Folder', { folderId: 'reset' }, 'folders/delete', { folderId: 'reset' }],
  ])('creates the %s again if another request deletes it during the call', async (type, scope, path, deleted) => {
    const data = { ...acme, users, ...scope, createDocument: true, createFolder: true };
    await customer.ok(ADD, data);
    const get = Table.prototype.get;
    const spy = jest.spyOn(Table.prototype, 'get').mockImplementation(async function (
      this: Table,
      ...call: Parameters<Table['get']>
    ) {
      // The call has already found that the item exists, and created nothing. Now it reads the item to use it.
      if (call[0].type === type) {
        spy.mockRestore();
        await customer.untyped(`/v2/organizations/${path}`, { ...acme, ...deleted });
      }
      return get.apply(this, call);
    });
    await customer.ok(ADD, { ...data, users: [{ userId: 'bob' }] });
    expect(await customer.ok('/v2/users/get', { ...acme, ...scope })).toMatchObject([{ userId: 'bob' }]);
  });

  test('creates the Organization again if another request deletes it during the call', async () => {
    const organizationId = 'beta';
    const write = Table.prototype.write;
    const spy = jest.spyOn(Table.prototype, 'write').mockImplementation(async function (this: Table, ops) {
      spy.mockRestore();
      await customer.addOrganizations([organizationId]);
      const outcome = await write.call(this, ops);
      await customer.ok('/v2/organizations/delete', { organizationIds: [organizationId] });
      return outcome;
    });
    await customer.ok(ADD, { organizationId, users, createOrganization: true });
    expect(await customer.ok('/v2/users/get', { organizationId })).toMatchObject([{ userId: 'ada' }]);
  });
});

describe('createOrganization with a document or folder that the call does not create', () => {
  const DOCUMENTS = '/v2/organizations/documents/add';
  const documents = [{ documentId: 'nda' }];
  const comment = { commentText: 'x', from: { userId: 'ada' } };
  const notification = { notifyUsers: users, actionUser: { userId: 'ada' }, displayHeadlineMessageTemplate: 'x' };

  test.each([
    [ADD, { users, documentId: 'nda' }, 'Document does not exist'],
    [ADD, { users, folderId: 'box' }, 'Folder does not exist'],
    [ADD, { users, folderId: 'box', createFolder: true, parentFolderId: 'big' }, 'Parent folder does not exist'],
    [ADD, { users, folderId: 'box', createFolder: true, parentFolderId: 'box' }, 'Folder does not exist'],
    [ADD, { users, folderId: 'root', createFolder: true }, 'Folder does not exist'],
    [DOCUMENTS, { documents, folderId: 'box' }, 'Folder does not exist'],
    [
      '/v2/commentannotations/add',
      { documentId: 'nda', commentAnnotations: [{ commentData: [comment] }] },
      'Document does not exist',
    ],
    [
      '/v2/notifications/add',
      { documentId: 'nda', ...notification, displayBodyMessage: 'x' },
      'Document does not exist',
    ],
  ])('%s with %j creates no organization', async (path, data, message) => {
    expect(await customer.error(path, { organizationId: 'none', createOrganization: true, ...data })).toEqual([
      404,
      'NOT_FOUND',
      message,
    ]);
    expect(await customer.ok('/v2/organizations/get', { organizationIds: ['none'] })).toEqual([]);
  });

  test.each([
    ['user-root', ADD, { users, folderId: 'box', createFolder: true, parentFolderId: 'root' }],
    ['user-folder', ADD, { users, folderId: 'box', createFolder: true }],
    ['user-document', ADD, { users, documentId: 'nda', createDocument: true }],
    ['document-root', DOCUMENTS, { documents, folderId: 'root' }],
    ['document-folder', DOCUMENTS, { documents, folderId: 'box', createFolder: true }],
  ])('creates the organization %s by %s with %j', async (organizationId, path, data) => {
    await customer.untyped(path, { organizationId, createOrganization: true, ...data });
    expect(await customer.ok('/v2/organizations/get', { organizationIds: [organizationId] })).toHaveLength(1);
  });
});
