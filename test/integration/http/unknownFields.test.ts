import { beforeEach, describe, expect, test } from '@jest/globals';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import { everyItem } from '../../support/items.ts';

const acme = { organizationId: 'acme' };
const nda = { ...acme, documentId: 'nda' };
const ada = { userId: 'ada', name: 'Ada', email: 'ada@example.com' };
const comment = { commentText: 'Look', from: ada };
const onNda = (fields: object) => ({ resources: [{ type: 'document', id: 'nda', organizationId: 'acme', ...fields }] });
const notification = {
  ...nda,
  actionUser: ada,
  displayHeadlineMessageTemplate: 'A',
  displayBodyMessage: 'B',
  notifyUsers: [{ userId: 'grace' }],
};

const { customer, engine } = acmeWorld({ table: 'memory', documents: ['nda'] });
beforeEach(async () => {
  await customer.ok('/v2/workspace/notificationconfig/update', { useNotificationService: true });
  await customer.ok('/v2/workspace/advancedwebhookconfig/update', { isEnabled: true });
});

describe('a misspelt or misplaced field changes nothing and is named, in', () => {
  test.each<[path: string, data: object, unknown: string, meant: string]>([
    [
      '/v2/organizations/documents/add',
      { ...acme, accessType: 'restricted', documents: [{ documentId: 'new' }] },
      'accessType',
      'documents[0].accessType',
    ],
    ['/v2/users/add', { ...acme, documentID: 'nda', users: [ada] }, 'documentID', 'documentId'],
    [
      '/v2/users/add',
      { ...nda, users: [{ ...ada, accesRole: 'viewer' }] },
      'users[0].accesRole',
      'users[0].accessRole',
    ],
    [
      '/v2/auth/permissions/add',
      { user: { userId: 'ada' }, permissions: onNda({ accesRole: 'viewer' }) },
      'permissions.resources[0].accesRole',
      'permissions.resources[0].accessRole',
    ],
    [
      '/v2/auth/permissions/add',
      { user: { userId: 'ada' }, permissions: onNda({ accessRole: 'viewer', expiresat: 1 }) },
      'permissions.resources[0].expiresat',
      'permissions.resources[0].expiresAt',
    ],
    [
      '/v2/auth/permissions/add',
      { user: { userId: 'ada' }, permissions: onNda({ role: 'viewer' }) },
      'permissions.resources[0].role',
      'permissions.resources[0].accessRole',
    ],
    [
      '/v2/auth/generate_token',
      { userId: 'ada', userProperties: { name: 'Ada', email: 'a@b.c' }, permissions: onNda({ accessrole: 'viewer' }) },
      'permissions.resources[0].accessrole',
      'permissions.resources[0].accessRole',
    ],
    ['/v2/notifications/add', { ...notification, notifyall: false }, 'notifyall', 'notifyAll'],
    [
      '/v2/workspace/advancedwebhookconfig/update',
      { enableDataprotection: true },
      'enableDataprotection',
      'enableDataProtection',
    ],
    [
      '/v2/workspace/webhookconfig/update',
      { webhookServiceConfig: { authtoken: 'secret' } },
      'webhookServiceConfig.authtoken',
      'webhookServiceConfig.authToken',
    ],
    [
      '/v2/commentannotations/add',
      { ...nda, commentAnnotations: [{ commentData: [comment], triggerNotification: true }] },
      'commentAnnotations[0].triggerNotification',
      'commentAnnotations[0].commentData[0].triggerNotification',
    ],
    [
      '/v2/commentannotations/comments/add',
      { ...nda, annotationId: 'a', commentData: [comment], triggerNotification: true },
      'triggerNotification',
      'commentData[0].triggerNotification',
    ],
    [
      '/v2/notifications/config/set',
      { ...acme, userIds: ['ada'], config: { inbox: 'ALL', ownChannel: 'ALL', emial: 'NONE' } },
      'config.emial',
      'config.email',
    ],
    ['/v2/users/get', { ...acme, documentID: 'nda' }, 'documentID', 'documentId'],
    [
      '/v2/memory/search',
      { ...acme, query: 'a', filters: { reviewerID: 'ada' } },
      'filters.reviewerID',
      'filters.reviewerId',
    ],
  ])('%s %j', async (path, data, unknown, meant) => {
    const before = await everyItem(engine);
    expect(await customer.error(path, data)).toEqual(invalid(`${unknown}: unknown field. Did you mean ${meant}?`));
    expect(await everyItem(engine)).toEqual(before);
  });
});

describe('accessType', () => {
  const DOCUMENTS = '/v2/organizations/documents';
  const FOLDERS = '/v2/organizations/folders';
  const accessOf = async (...documentIds: string[]) =>
    (await customer.ok(`${DOCUMENTS}/get`, { ...acme, documentIds })).map(({ accessType }: any) => accessType);
  const folders = async () =>
    Object.fromEntries(
      (await customer.ok(`${FOLDERS}/get`, { ...acme, maxDepth: 5 })).map((folder: any) => [
        folder.folderId,
        [folder.folderName, folder.accessType, folder.inheritAccessFromParent],
      ]),
    );

  test('of documents/add is the access type of its document', async () => {
    await customer.addDocuments([{ documentId: 'secret', accessType: 'restricted' }, 'open']);
    expect(await accessOf('secret', 'open')).toEqual(['restricted', 'public']);
    await customer.addUsers([ada]);
    const { ada: permissions } = await customer.ok('/v2/auth/permissions/get', {
      ...acme,
      userIds: ['ada'],
      documentIds: ['secret', 'open'],
    });
    expect(permissions.documents.secret).toMatchObject({ errorCode: 'permission_denied', accessType: 'restricted' });
    expect(permissions.documents.open).toMatchObject({ accessRole: expect.any(String) });
  });

  test('of documents/update changes the access type, and its absence keeps it', async () => {
    const update = (fields: object) =>
      customer.ok(`${DOCUMENTS}/update`, { ...acme, documents: [{ documentId: 'nda', ...fields }] });
    await update({ accessType: 'restricted', documentName: 'NDA' });
    expect(await accessOf('nda')).toEqual(['restricted']);
    await update({ documentName: 'Signed' });
    expect(await accessOf('nda')).toEqual(['restricted']);
    await update({ accessType: 'organizationPrivate' });
    expect(await accessOf('nda')).toEqual(['organizationPrivate']);
  });

  test('of an unknown value is refused in all three', async () => {
    const message = expect.stringContaining('accessType must be "public" or');
    const item = { documentId: 'x', folderId: 'x', accessType: 'secret' };
    for (const [path, list, id] of [
      [`${DOCUMENTS}/add`, 'documents', 'documentId'],
      [`${DOCUMENTS}/update`, 'documents', 'documentId'],
      [`${FOLDERS}/update`, 'folders', 'folderId'],
    ] as const)
      expect(await customer.error(path, { ...acme, [list]: [{ [id]: 'x', accessType: item.accessType }] })).toEqual(
        invalid(message),
      );
  });

  test('of folders/update changes the folder, its subfolders and its documents, also together with a name or a move', async () => {
    const update = async (...changes: object[]) =>
      Object.values(await customer.untyped(`${FOLDERS}/update`, { ...acme, folders: changes }));
    await customer.addFolders(['a', { folderId: 'b', parentFolderId: 'a' }, 'c', 'd']);
    await customer.addDocuments(['inside'], { folderId: 'b' });
    expect(await update({ folderId: 'a', folderName: 'A', accessType: 'restricted' })).toMatchObject([
      { success: true, id: 'a', message: 'Folder Updated.' },
    ]);
    expect(await accessOf('inside')).toEqual(['restricted']);
    expect((await folders()).a).toEqual(['A', 'restricted', false]);

    // Moved out of the restricted folder, it keeps its own access type.
    await update(
      { folderId: 'b', parentFolderId: null, accessType: 'organizationPrivate' },
      { folderId: 'c', folderName: 'C' },
    );
    expect(await accessOf('inside')).toEqual(['organizationPrivate']);
    expect(await folders()).toMatchObject({ b: [undefined, 'organizationPrivate', false], c: ['C', 'public', true] });

    // The parent stays the same.
    await update({ folderId: 'b', parentFolderId: 'root', folderName: 'B', accessType: 'restricted' });
    expect((await folders()).b).toEqual(['B', 'restricted', false]);
    expect(
      await update({ folderId: 'none', accessType: 'public' }, { folderId: 'd', accessType: 'public' }),
    ).toMatchObject([{ success: false, message: 'Folder does not exist.' }, { success: true }]);
    expect((await folders()).d).toEqual([undefined, 'public', false]);
  });
});

describe('visibilityConfig, the name of visibility in answers,', () => {
  const restricted = { type: 'restricted', userIds: ['ada'] };
  const visible = async (userId: string) =>
    (await customer.ok('/v2/commentannotations/count/get', { ...acme, documentIds: ['nda'], userId })).nda.total;
  const add = (fields: object) => ({
    ...nda,
    commentAnnotations: [{ annotationId: 'a', commentData: [comment], ...fields }],
  });

  test('hides a new thread and a changed one like visibility', async () => {
    await customer.ok('/v2/commentannotations/add', add({ visibilityConfig: restricted }));
    expect([await visible('ada'), await visible('grace')]).toEqual([1, 0]);
    const update = (updatedData: object) =>
      customer.ok('/v2/commentannotations/update', { ...nda, annotationIds: ['a'], updatedData });
    await update({ visibilityConfig: { type: 'public' } });
    expect(await visible('grace')).toBe(1);
    await update({ visibility: restricted, visibilityConfig: restricted });
    expect(await visible('grace')).toBe(0);
  });

  test('together with another visibility is refused', async () => {
    const fields = { visibility: { type: 'public' }, visibilityConfig: restricted };
    const message = 'visibilityConfig must equal visibility if both are given';
    expect(await customer.error('/v2/commentannotations/add', add(fields))).toEqual(
      invalid(`commentAnnotations[0].${message}`),
    );
    expect(
      await customer.error('/v2/commentannotations/update', { ...nda, annotationIds: ['a'], updatedData: fields }),
    ).toEqual(invalid(`updatedData.${message}`));
    expect(await visible('grace')).toBe(0);
  });
});
