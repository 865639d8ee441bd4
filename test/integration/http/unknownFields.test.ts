import { describe, expect, test } from '@jest/globals';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import { everyItem } from '../../support/items.ts';

const acme = { organizationId: 'acme' };
const nda = { ...acme, documentId: 'nda' };
const ada = { userId: 'ada', name: 'Ada', email: 'ada@example.com' };
const comment = { commentText: 'Look', from: ada };
const { customer, engine } = acmeWorld({ table: 'memory', documents: ['nda'] });

test('a misplaced field changes nothing and is named', async () => {
  const before = await everyItem(engine);
  const sent = { ...nda, commentAnnotations: [{ commentData: [comment], triggerNotification: true }] };
  expect(await customer.error('/v2/commentannotations/add', sent)).toEqual(
    invalid(
      'commentAnnotations[0].triggerNotification: unknown field. Did you mean commentAnnotations[0].commentData[0].triggerNotification?',
    ),
  );
  expect(await everyItem(engine)).toEqual(before);
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
    for (const [fields, accessType] of [
      [{ accessType: 'restricted', documentName: 'NDA' }, 'restricted'],
      [{ documentName: 'Signed' }, 'restricted'],
      [{ accessType: 'organizationPrivate' }, 'organizationPrivate'],
    ] as const) {
      await update(fields);
      expect(await accessOf('nda')).toEqual([accessType]);
    }
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
