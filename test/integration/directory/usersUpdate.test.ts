import { beforeEach, describe, expect, test } from '@jest/globals';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import { withStillClock } from '../../support/stillClock.ts';

const UPDATE = '/v2/users/update';
const acme = { organizationId: 'acme' };

const { customer } = acmeWorld();
beforeEach(async () => {
  await customer.addFolders(['contracts']);
  await customer.addDocuments(['nda']);
});

const ada = { userId: 'ada' };
const nda = { documentId: 'nda' };
const contracts = { folderId: 'contracts' };

/** Returns ada's roles in acme. */
async function roles() {
  const { ada: permissions } = await customer.ok('/v2/auth/permissions/get', {
    ...acme,
    userIds: ['ada'],
    documentIds: ['nda'],
    folderIds: ['contracts'],
  });
  return {
    organization: permissions.organization?.acme?.accessRole,
    nda: permissions.documents?.nda?.accessRole,
    contracts: permissions.folders?.contracts?.accessRole,
  };
}

const error = (data: object) => customer.error(UPDATE, data);

describe('accessRole of users/update', () => {
  test.each([
    [{}, 'organization'],
    [nda, 'nda'],
    [contracts, 'contracts'],
  ] as const)('changes an editor of %j to a viewer and back', async (where, resource) => {
    await customer.addUsers([{ ...ada, accessRole: 'editor' }], where);
    expect((await roles())[resource]).toBe('editor');
    await customer.ok(UPDATE, { ...acme, ...where, users: [{ ...ada, accessRole: 'viewer' }] });
    expect((await roles())[resource]).toBe('viewer');
    await customer.ok(UPDATE, { ...acme, ...where, users: [{ ...ada, accessRole: 'editor', name: 'Ada' }] });
    expect((await roles())[resource]).toBe('editor');
  });

  test('keeps the role if the request has none, and adds the user to no contact list', async () => {
    await customer.addUsers([{ ...ada, accessRole: 'viewer' }]);
    await customer.ok(UPDATE, { ...acme, users: [{ ...ada, name: 'Ada' }] });
    expect((await roles()).organization).toBe('viewer');
    await customer.ok(UPDATE, { ...acme, ...nda, users: [{ ...ada, accessRole: 'viewer' }] });
    expect((await roles()).nda).toBe('viewer');
    expect(await customer.ok('/v2/users/get', { ...acme, ...nda })).toEqual([]);
  });

  test('revives no expired grant, which users/add replaces', async () => {
    await customer.addUsers([ada], { organizationId: 'other' });
    const membership = { type: 'organization', id: 'acme', expiresAt: 2 };
    await withStillClock(() => customer.grant('ada', membership), 1_000);
    await customer.ok(UPDATE, { ...acme, users: [{ ...ada, accessRole: 'viewer' }] });
    await customer.ok(UPDATE, { ...acme, users: [{ ...ada, accessRole: 'editor' }] });
    expect((await roles()).organization).toBeUndefined();
    await customer.addUsers([{ ...ada, accessRole: 'viewer' }]);
    expect((await roles()).organization).toBe('viewer');
  });

  test('grants nothing to a user who was never added', async () => {
    expect(await customer.ok(UPDATE, { ...acme, users: [{ userId: 'ada', accessRole: 'editor' }] })).toEqual({
      ada: { success: false, id: '', message: 'User does not exist.' },
    });
    await customer.addUsers([ada], { organizationId: 'other' });
    expect((await roles()).organization).toBeUndefined();
  });
});

describe('users/update options', () => {
  test('changes profiles without an organizationId if options.all is true', async () => {
    await customer.addUsers([ada]);
    const { status, body } = await customer.call(UPDATE, {
      options: { all: true },
      users: [{ ...ada, name: 'Ada King' }, { userId: 'nobody' }],
    });
    expect([status, body.result.message]).toEqual([200, 'User(s) processed successfully.']);
    expect(body.result.data).toMatchObject({
      ada: { success: true, message: 'User updated.' },
      nobody: { success: false },
    });
    expect(await customer.ok('/v2/users/get', { ...acme, userIds: ['ada'] })).toMatchObject([{ name: 'Ada King' }]);
  });

  test('changes the profile in all documents of an organization if options.allDocuments is true', async () => {
    await customer.addUsers([ada], nda);
    await customer.ok(UPDATE, { ...acme, options: { allDocuments: true }, users: [{ ...ada, name: 'Ada King' }] });
    expect(await customer.ok('/v2/users/get', { ...acme, allDocuments: true })).toMatchObject([{ name: 'Ada King' }]);
  });

  test.each([
    [{}, 'organizationId is required unless options.all is true'],
    [{ options: { all: false } }, 'organizationId is required unless options.all is true'],
    [{ options: { allDocuments: true } }, 'organizationId is required unless options.all is true'],
    [{ ...acme, ...nda, options: { all: true } }, 'options must not ask for all together with documentId or folderId'],
    [
      { ...acme, ...contracts, options: { allDocuments: true } },
      'options must not ask for all together with documentId or folderId',
    ],
    [
      { options: { all: true }, users: [{ ...ada, accessRole: 'viewer' }] },
      'users must not have an accessRole together with options.all or options.allDocuments: a role is set on one named resource',
    ],
  ])('rejects %j', async (data, message) => {
    expect(await error({ users: [ada], ...data })).toEqual(invalid(message));
  });
});
