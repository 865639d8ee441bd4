import { beforeAll, describe, expect, test } from '@jest/globals';
import { acmeWorld } from '../../support/acmeWorld.ts';

const acme = { organizationId: 'acme' };

const { customer } = acmeWorld({ isShared: true });
beforeAll(async () => {
  await customer.addFolders(['f', { folderId: 'inner', parentFolderId: 'f' }]);
  await customer.addDocuments(['d']);
  await customer.addUsers(['u']);
});

/** Returns the message of an answer, and the message of each of its items. */
async function messages(path: string, data: object): Promise<unknown[]> {
  const result = await customer.result(path, data);
  const items = Object.values<any>(result.data ?? {}).flatMap((item) =>
    typeof item?.message === 'string' ? [item.message] : [],
  );
  return [result.message, ...items];
}

describe('documented messages', () => {
  test.each([
    [
      '/v2/organizations/access/disablestate/update',
      { organizationIds: ['acme'], disabled: false },
      'Updated disable state for Organization(s) successfully.',
      'Updated disable state for organization Successfully',
    ],
    [
      '/v2/organizations/update',
      { organizations: [{ ...acme, organizationName: 'Acme' }] },
      'Organization(s) updated successfully.',
      'Updated Successfully',
    ],
    [
      '/v2/organizations/documents/access/update',
      { ...acme, documentIds: ['d'], accessType: 'public' },
      'Updated access for documents successfully.',
      'Document access type updated.',
    ],
    [
      '/v2/organizations/folders/access/update',
      { ...acme, folderIds: ['f'], inheritFromParent: true },
      'Folder access type updated.',
      'Folder access type updated.',
    ],
    ['/v2/organizations/folders/get', { ...acme, maxDepth: 2 }, 'Folder(s) retrieved successfully.'],
    ['/v2/organizations/folders/get', { ...acme, folderId: 'f' }, 'Folder(s) retrieved successfully.'],
  ])('%s with %j returns the message %s', async (path, data, ...expected) => {
    expect(await messages(path, data)).toEqual(expected);
  });

  test('users/data/delete and users/data/delete/status return their documented messages', async () => {
    const { body } = await customer.call('/v2/users/data/delete', { userIds: ['nobody'], organizationIds: ['acme'] });
    expect(body.result.message).toBe('Data deletion process has been initiated.');
    expect(await messages('/v2/users/data/delete/status', { jobId: body.result.data.jobId })).toEqual([
      'Data fetched successfully.',
    ]);
  });
});

test.each(['v1', 'v2'])(
  '/%s/organizations/add says that no organization was added if every item failed',
  async (version) => {
    const path = `/${version}/organizations/add`;
    expect(await messages(path, { organizations: [acme] })).toEqual([
      'No organization was added.',
      'Organization already exists.',
    ]);
    expect(await messages(path, { organizations: [acme, { organizationId: `new-${version}` }] })).toEqual([
      'Organization(s) added successfully.',
      'Organization already exists.',
      'Added Successfully',
    ]);
  },
);

describe('rootFoldersOnly of /v2/organizations/folders/get', () => {
  const folders = async (data: object) => customer.ok('/v2/organizations/folders/get', { ...acme, ...data });

  test('returns only top-level folders, for any maxDepth', async () => {
    expect(await folders({ maxDepth: 3 })).toMatchObject([{ folderId: 'f', subFolders: [{ folderId: 'inner' }] }]);
    expect(await folders({ maxDepth: 3, rootFoldersOnly: true })).toMatchObject([{ folderId: 'f', subFolders: [] }]);
    expect(await folders({ folderId: 'root', rootFoldersOnly: true })).toMatchObject([
      { folderId: 'f', subFolders: [] },
    ]);
  });
});
