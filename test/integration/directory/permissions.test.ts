import { beforeEach, describe, expect, test } from '@jest/globals';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import { errorOf } from '../../support/requests.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { times } from '../../support/times.ts';

const { customer } = acmeWorld();

const GET = '/v2/auth/permissions/get';
const resource = (type: string, id: string, more: object = {}) => ({
  type,
  id,
  ...(type === 'organization' ? {} : { organizationId: 'acme' }),
  ...more,
});
const grant = (userId: string, ...resources: object[]) => customer.grant(userId, ...resources);
const revoke = (userId: string, ...resources: object[]) =>
  customer.call('/v2/auth/permissions/remove', { userId, permissions: { resources } });
const get = (data: object) => customer.call(GET, { organizationId: 'acme', ...data });
const permissions = async (data: object) => (await get(data)).body.result.data;
const inAnHour = () => Math.floor(Date.now() / 1000) + 3_600;

/** Creates a customer for each test. Its organization acme has folders and documents of every access type. */
beforeEach(async () => {
  await customer.addFolders([
    { folderId: 'closed', accessType: 'restricted' },
    { folderId: 'inner', parentFolderId: 'closed' },
    { folderId: 'staff', accessType: 'organizationPrivate' },
    { folderId: 'open', accessType: 'public' },
  ]);
  const add = (documentId: string, folderId?: string) => customer.addDocuments([documentId], { folderId });
  await Promise.all([
    add('secret', 'inner'),
    add('handbook', 'staff'),
    add('flyer', 'open'),
    add('loose'),
    add('sealed'),
    add('internal'),
  ]);
  await customer.setAccess('restricted', ['sealed']);
  await customer.setAccess('organizationPrivate', ['internal']);
  await customer.addUsers(['member']);
  await customer.addUsers(['outsider'], { organizationId: 'elsewhere' });
});

describe('permissions/get response', () => {
  test('is a map by user of the requested folders and documents, and always of the organization', async () => {
    const { status, body } = await get({
      userIds: ['member', 'outsider'],
      folderIds: ['open'],
      documentIds: ['flyer'],
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      result: {
        status: 'success',
        message: 'User permissions retrieved successfully.',
        data: {
          member: {
            folders: { open: { accessRole: 'editor', accessType: 'public' } },
            documents: { flyer: { accessRole: 'editor', accessType: 'public' } },
            organization: { acme: { accessRole: 'editor' } },
          },
          outsider: {
            folders: { open: { accessRole: 'editor', accessType: 'public' } },
            documents: { flyer: { accessRole: 'editor', accessType: 'public' } },
            organization: {
              acme: { error: 'User does not have access to organization', errorCode: 'permission_denied' },
            },
          },
        },
      },
    });
  });

  test('contains only the resource types of the request and the organization', async () => {
    expect(await permissions({ userIds: ['member'] })).toEqual({
      member: { organization: { acme: { accessRole: 'editor' } } },
    });
  });

  test('has one entry for a repeated id', async () => {
    const data = await permissions({ userIds: ['member', 'member'], documentIds: ['flyer', 'flyer'] });
    expect(Object.keys(data)).toEqual(['member']);
    expect(Object.keys(data.member.documents)).toEqual(['flyer']);
  });

  test('accepts ids that are names of object properties, such as __proto__', async () => {
    await customer.addDocuments(['__proto__', 'constructor']);
    const data = await permissions({ userIds: ['__proto__', 'toString'], documentIds: ['__proto__', 'constructor'] });
    expect(Object.keys(data)).toEqual(['__proto__', 'toString']);
    expect(Object.keys(Object.getOwnPropertyDescriptor(data, '__proto__')?.value.documents)).toEqual([
      '__proto__',
      'constructor',
    ]);
  });
});

describe('permissions/get of a denied resource', () => {
  test('returns success with error, errorCode permission_denied and accessType for a denied document', async () => {
    expect((await permissions({ userIds: ['outsider'], documentIds: ['sealed'] })).outsider.documents.sealed).toEqual({
      error: 'User does not have access to document',
      errorCode: 'permission_denied',
      accessType: 'restricted',
    });
  });

  test('returns permission_denied for a denied folder and for an unknown user', async () => {
    const data = await permissions({ userIds: ['nobody'], folderIds: ['open'], documentIds: ['flyer'] });
    expect(data.nobody).toEqual({
      folders: {
        open: { error: 'User does not have access to folder', errorCode: 'permission_denied', accessType: 'public' },
      },
      documents: {
        flyer: { error: 'User does not have access to document', errorCode: 'permission_denied', accessType: 'public' },
      },
      organization: { acme: { error: 'User does not have access to organization', errorCode: 'permission_denied' } },
    });
  });
});

describe('permissions/get of an unknown resource', () => {
  test('returns NOT_FOUND with the whole result, including the organization, in details', async () => {
    const { status, body } = await get({
      userIds: ['member'],
      folderIds: ['open', 'nowhere'],
      documentIds: ['flyer', 'nothing'],
    });
    expect(status).toBe(404);
    expect(body).toEqual({
      error: {
        status: 'NOT_FOUND',
        message: 'Folder or document does not exist',
        details: {
          member: {
            folders: {
              open: { accessRole: 'editor', accessType: 'public' },
              nowhere: { error: 'Folder does not exist', errorCode: 'does_not_exist' },
            },
            documents: {
              flyer: { accessRole: 'editor', accessType: 'public' },
              nothing: { error: 'Document does not exist', errorCode: 'does_not_exist' },
            },
            organization: { acme: { accessRole: 'editor' } },
          },
        },
      },
    });
  });

  test('returns success with errorCode does_not_exist for skipResourceExistenceValidation: true', async () => {
    const { status, body } = await get({
      userIds: ['member'],
      documentIds: ['nothing'],
      skipResourceExistenceValidation: true,
    });
    expect(status).toBe(200);
    expect(body.result.data.member.documents.nothing).toEqual({
      error: 'Document does not exist',
      errorCode: 'does_not_exist',
    });
  });
});

describe('permissions/get with an invalid request', () => {
  test.each([
    ['no organizationId', { organizationId: undefined, userIds: ['a'] }, 'organizationId is required'],
    [
      'an organization that does not exist',
      { organizationId: 'nowhere', userIds: ['a'] },
      'organizationId: the organization does not exist',
    ],
    ['no userIds', {}, 'userIds is required'],
    ['an empty list', { userIds: [] }, 'userIds must not be empty'],
    ['more than 100 users', { userIds: times(101, (i) => `u${i}`) }, 'userIds must have at most 100 items'],
    ['a user id that is not a string', { userIds: [7] }, 'userIds[0] must be a string'],
    ['a control character in an id', { userIds: ['a\u0000'] }, 'userIds[0] must not contain control characters'],
    ['half a surrogate pair', { userIds: ['\ud800'] }, 'userIds[0] must be well-formed Unicode'],
    ['documentIds that is not a list', { userIds: ['a'], documentIds: 'flyer' }, 'documentIds must be an array'],
  ])('returns INVALID_ARGUMENT for %s', async (_what, data, message) => {
    expect(errorOf(await get(data))).toEqual([400, 'INVALID_ARGUMENT', message]);
  });
});

describe('access to a document', () => {
  test('depends on the access type of its folder, not of the document', async () => {
    await customer.setAccess('public', ['secret', 'handbook']);
    const { member } = await permissions({
      userIds: ['member'],
      folderIds: ['inner'],
      documentIds: ['secret', 'handbook'],
    });
    expect(member.folders.inner).toMatchObject({ errorCode: 'permission_denied', accessType: 'restricted' });
    expect(member.documents).toEqual({
      secret: {
        error: 'User does not have access to document',
        errorCode: 'permission_denied',
        accessType: 'restricted',
      },
      handbook: { accessRole: 'editor', accessType: 'organizationPrivate' },
    });
  });

  test('is open to known users with public, to members with organizationPrivate, to nobody with restricted', async () => {
    const { member, outsider } = await permissions({
      userIds: ['member', 'outsider'],
      documentIds: ['loose', 'internal', 'sealed'],
    });
    expect(Object.entries(member.documents).map(([id, entry]: any) => [id, entry.accessRole])).toEqual([
      ['loose', 'editor'],
      ['internal', 'editor'],
      ['sealed', undefined],
    ]);
    expect(Object.entries(outsider.documents).map(([id, entry]: any) => [id, entry.accessRole])).toEqual([
      ['loose', 'editor'],
      ['internal', undefined],
      ['sealed', undefined],
    ]);
  });
});

describe('grants of permissions/add', () => {
  test('give access to all contents of a folder, at any depth', async () => {
    await grant('outsider', resource('folder', 'closed', { accessRole: 'viewer' }));
    const { outsider } = await permissions({
      userIds: ['outsider'],
      folderIds: ['inner'],
      documentIds: ['secret', 'sealed'],
    });
    expect(outsider.folders.inner).toEqual({ accessRole: 'viewer', accessType: 'restricted' });
    expect(outsider.documents.secret).toEqual({ accessRole: 'viewer', accessType: 'restricted' });
    expect(outsider.documents.sealed.errorCode).toBe('permission_denied');
  });

  test('on a document override inherited grants, and grants on a nearer folder override those above', async () => {
    await grant(
      'outsider',
      resource('folder', 'closed', { accessRole: 'viewer' }),
      resource('folder', 'inner', { accessRole: 'editor' }),
      resource('document', 'secret', { accessRole: 'viewer' }),
    );
    const { outsider } = await permissions({
      userIds: ['outsider'],
      folderIds: ['closed', 'inner'],
      documentIds: ['secret'],
    });
    expect([
      outsider.folders.closed.accessRole,
      outsider.folders.inner.accessRole,
      outsider.documents.secret.accessRole,
    ]).toEqual(['viewer', 'editor', 'viewer']);
  });

  test('expire at expiresAt, in seconds, and are returned with expiresAt until then', async () => {
    const [later, earlier] = [inAnHour(), Math.floor(Date.now() / 1000) - 1];
    await withStillClock(
      () =>
        grant(
          'outsider',
          resource('document', 'sealed', { expiresAt: later }),
          resource('document', 'internal', { expiresAt: earlier }),
          resource('organization', 'acme', { expiresAt: earlier }),
        ),
      (earlier - 60) * 1000,
    );
    const { outsider } = await permissions({ userIds: ['outsider'], documentIds: ['sealed', 'internal'] });
    expect(outsider.documents.sealed).toEqual({ accessRole: 'editor', accessType: 'restricted', expiresAt: later });
    expect(outsider.documents.internal.errorCode).toBe('permission_denied');
    expect(outsider.organization.acme.errorCode).toBe('permission_denied');
  });

  test('on the organization make the user a member', async () => {
    await grant('outsider', resource('organization', 'acme', { accessRole: 'viewer' }));
    const { outsider } = await permissions({ userIds: ['outsider'], documentIds: ['internal'] });
    expect(outsider).toEqual({
      documents: { internal: { accessRole: 'viewer', accessType: 'organizationPrivate' } },
      organization: { acme: { accessRole: 'viewer' } },
    });
  });

  test('are replaced by later grants on the same resource, also within one call', async () => {
    await grant('outsider', resource('document', 'sealed', { expiresAt: inAnHour() }));
    await grant(
      'outsider',
      resource('document', 'sealed', { accessRole: 'editor' }),
      resource('document', 'sealed', { accessRole: 'viewer' }),
    );
    expect((await permissions({ userIds: ['outsider'], documentIds: ['sealed'] })).outsider.documents.sealed).toEqual({
      accessRole: 'viewer',
      accessType: 'restricted',
    });
  });

  test('make an unknown user known to the tenant', async () => {
    await grant('newcomer', resource('document', 'sealed'));
    expect((await permissions({ userIds: ['newcomer'], documentIds: ['flyer'] })).newcomer.documents.flyer).toEqual({
      accessRole: 'editor',
      accessType: 'public',
    });
  });

  test('are all stored if one call has a hundred', async () => {
    const documentIds = times(100, (i) => `doc${i}`);
    await customer.addDocuments(documentIds, { folderId: 'closed' });
    await grant('outsider', ...documentIds.map((id) => resource('document', id, { accessRole: 'viewer' })));
    const { outsider } = await permissions({ userIds: ['outsider'], documentIds });
    expect(Object.values(outsider.documents).filter((entry: any) => entry.accessRole === 'viewer')).toHaveLength(100);
  });

  test('give no membership if users/add creates them with a document or folder', async () => {
    await customer.addUsers([{ userId: 'guest', accessRole: 'viewer' }], { documentId: 'sealed' });
    await customer.addUsers(['guest'], { folderId: 'closed' });
    const { guest } = await permissions({ userIds: ['guest'], documentIds: ['sealed', 'secret', 'internal'] });
    expect(guest.documents.sealed).toEqual({ accessRole: 'viewer', accessType: 'restricted' });
    expect(guest.documents.secret).toEqual({ accessRole: 'editor', accessType: 'restricted' });
    expect(guest.documents.internal.errorCode).toBe('permission_denied');
    expect(guest.organization.acme.errorCode).toBe('permission_denied');
  });

  test('are revoked one by one by permissions/remove', async () => {
    await grant('outsider', resource('document', 'sealed'), resource('folder', 'closed'));
    expect((await revoke('outsider', resource('document', 'sealed'))).status).toBe(200);
    const { outsider } = await permissions({ userIds: ['outsider'], documentIds: ['sealed', 'secret'] });
    expect(outsider.documents.sealed.errorCode).toBe('permission_denied');
    expect(outsider.documents.secret.accessRole).toBe('editor');
  });

  test('can be removed without being stored, but not on an unknown resource, which may be a mistyped id', async () => {
    expect((await revoke('outsider', resource('document', 'sealed'))).status).toBe(200);
    const { status, body } = await revoke('outsider', resource('document', 'sealed'), resource('folder', 'nowhere'));
    expect({ status, error: body.error }).toEqual({
      status: 404,
      error: {
        status: 'NOT_FOUND',
        message: 'Folder or document does not exist',
        details: {
          issues: [
            {
              path: ['permissions', 'resources', 1, 'id'],
              code: 'does_not_exist',
              message: 'permissions.resources[1].id does not exist',
            },
          ],
        },
      },
    });
  });

  test('are not stored if one resource of the call is unknown', async () => {
    const { status } = await customer.call('/v2/auth/permissions/add', {
      user: { userId: 'outsider' },
      permissions: { resources: [resource('document', 'sealed'), resource('document', 'nothing')] },
    });
    expect(status).toBe(404);
    expect(
      (await permissions({ userIds: ['outsider'], documentIds: ['sealed'] })).outsider.documents.sealed.errorCode,
    ).toBe('permission_denied');
  });

  test.each([
    [
      'a document without its organization',
      { type: 'document', id: 'flyer' },
      'permissions.resources[0].organizationId is required for folders and documents',
    ],
    [
      'an unknown type',
      { type: 'workspace', id: 'acme' },
      'permissions.resources[0].type must be "organization" or "folder" or "document"',
    ],
    [
      'an unknown role',
      { type: 'organization', id: 'acme', accessRole: 'owner' },
      'permissions.resources[0].accessRole must be "editor" or "viewer"',
    ],
    [
      'expiresAt in the past',
      { type: 'organization', id: 'acme', expiresAt: Math.floor(Date.now() / 1000) - 1 },
      'permissions.resources[0].expiresAt must be in the future',
    ],
    [
      'expiresAt in milliseconds',
      { type: 'organization', id: 'acme', expiresAt: Date.now() },
      'permissions.resources[0].expiresAt must be at most 99999999999',
    ],
    ['an unknown organization', { type: 'organization', id: 'nowhere' }, 'permissions.resources[0].id does not exist'],
    [
      'context that is not a map of values',
      { type: 'organization', id: 'acme', context: { access: { region: { eu: true } } } },
      'permissions.resources[0].context.access must map each field to a string, a number or a list of them',
    ],
    [
      'context with a long name for many values, because its items repeat the name',
      { type: 'organization', id: 'acme', context: { access: { ['k'.repeat(700)]: times(100, String) } } },
      'permissions.resources[0].context.access must be at most 65536 bytes as JSON with the name of its field before each value',
    ],
    [
      'context with a name of control characters, which JSON writes with six bytes each',
      { type: 'organization', id: 'acme', context: { access: { ['\u0001'.repeat(300)]: times(100, String) } } },
      'permissions.resources[0].context.access must be at most 65536 bytes as JSON with the name of its field before each value',
    ],
  ])('return INVALID_ARGUMENT and name the field for %s', async (_what, named, message) => {
    const data = { user: { userId: 'member' }, permissions: { resources: [named] } };
    expect(await customer.error('/v2/auth/permissions/add', data)).toEqual(invalid(message));
  });
});

describe('permissions/get with context.accessFields', () => {
  test('returns sorted field:value texts of all active grants, and nothing for a user without them', async () => {
    await grant(
      'outsider',
      resource('document', 'sealed', { context: { access: { region: ['us', 'eu'], level: 3 } } }),
      resource('folder', 'closed', { context: { access: { region: 'eu', team: 'red' } } }),
    );
    const ended = resource('document', 'flyer', { expiresAt: 2, context: { access: { region: 'moon' } } });
    await withStillClock(() => grant('outsider', ended), 1_000);
    const data = await permissions({ userIds: ['outsider', 'member'] });
    expect(data.outsider.context).toEqual({ accessFields: ['level:3', 'region:eu', 'region:us', 'team:red'] });
    expect(data.member).not.toHaveProperty('context');
  });

  test('returns fields whose names are object properties, such as __proto__', async () => {
    await grant(
      'outsider',
      resource('organization', 'acme', { context: { access: JSON.parse('{"__proto__":"a","constructor":"b"}') } }),
    );
    expect((await permissions({ userIds: ['outsider'] })).outsider.context).toEqual({
      accessFields: ['__proto__:a', 'constructor:b'],
    });
  });
});
