import { beforeEach, describe, expect, test } from '@jest/globals';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import { times } from '../../support/times.ts';

const { customer } = acmeWorld({ documents: ['flyer', 'sealed'] });

const acme = { organizationId: 'acme' };
const on = (type: string, id: string, more: object = {}) => ({
  type,
  id,
  ...(type !== 'organization' && acme),
  ...more,
});
const sealed = (more: object = {}) => on('document', 'sealed', more);
const grant = (userId: string, ...resources: object[]) => customer.grant(userId, ...resources);
const REMOVE = '/v2/auth/permissions/remove';
const GET = '/v2/auth/permissions/get';
const get = (data: object) => customer.call(GET, { ...acme, ...data });
const permissions = async (data: object) => (await get(data)).body.result.data;

/** Creates a customer for each test. In acme there are a public and a restricted document. */
beforeEach(async () => {
  await customer.setAccess('restricted', ['sealed']);
  await customer.addUsers(['member']);
  await customer.addUsers(['outsider'], { organizationId: 'elsewhere' });
});

// The model of test/integration/deletion/lifeModel.test.ts compares all other permissions of users.
describe('permissions/get', () => {
  test('returns once what it was asked for, and always the organization, also for names of object properties', async () => {
    await customer.addDocuments(['__proto__', 'constructor']);
    const documentIds = ['flyer', '__proto__', 'constructor', 'flyer'];
    const { status, body } = await get({ userIds: ['member', '__proto__', 'member'], documentIds });
    expect(status).toBe(200);
    expect(body.result).toMatchObject({ status: 'success', message: 'User permissions retrieved successfully.' });
    const { data } = body.result;
    expect(Object.keys(data)).toEqual(['member', '__proto__']);
    expect(Object.entries(data.member.documents)).toEqual(
      ['flyer', '__proto__', 'constructor'].map((id) => [id, { accessRole: 'editor', accessType: 'public' }]),
    );
    const { documents: _, ...others } = data.member;
    expect(others).toEqual({ organization: { acme: { accessRole: 'editor' } } });
  });

  test('returns NOT_FOUND for an unknown resource, with the whole result in details', async () => {
    await customer.addFolders(['open']);
    const { status, body } = await get({
      userIds: ['member'],
      folderIds: ['open', 'nowhere'],
      documentIds: ['flyer', 'nothing'],
    });
    expect([status, body]).toEqual([
      404,
      {
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
      },
    ]);
  });

  test('returns INVALID_ARGUMENT for an unknown organization', async () => {
    expect(await customer.error(GET, { organizationId: 'nowhere', userIds: ['a'] })).toEqual(
      invalid('organizationId: the organization does not exist'),
    );
  });

  test('returns sorted field:value texts of all grants, also of names of object properties', async () => {
    await grant(
      'outsider',
      sealed({ context: { access: { region: ['us', 'eu'], level: 3 } } }),
      on('organization', 'acme', { context: { access: JSON.parse('{"__proto__":"a","region":"eu"}') } }),
    );
    const data = await permissions({ userIds: ['outsider', 'member'] });
    expect(data.outsider.context).toEqual({ accessFields: ['__proto__:a', 'level:3', 'region:eu', 'region:us'] });
    expect(data.member).not.toHaveProperty('context');
  });
});

describe('grants of permissions/add', () => {
  test('are replaced by later grants on the same resource, also within one call', async () => {
    await grant('outsider', sealed({ expiresAt: Math.floor(Date.now() / 1000) + 3_600 }));
    await grant('outsider', sealed({ accessRole: 'editor' }), sealed({ accessRole: 'viewer' }));
    expect((await permissions({ userIds: ['outsider'], documentIds: ['sealed'] })).outsider.documents.sealed).toEqual({
      accessRole: 'viewer',
      accessType: 'restricted',
    });
  });

  test('can be removed, also without being stored, and all are refused if one resource is unknown, which may be a mistyped id', async () => {
    await grant('outsider', sealed());
    for (let i = 0; i < 2; i++)
      await customer.ok(REMOVE, {
        userId: 'outsider',
        permissions: { resources: [{ ...acme, type: 'document', id: 'sealed' }] },
      });
    const resources = [sealed(), on('folder', 'nowhere')];
    const { status, body } = await customer.call(REMOVE, { userId: 'outsider', permissions: { resources } });
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
    const added = await customer.call('/v2/auth/permissions/add', {
      user: { userId: 'outsider' },
      permissions: { resources },
    });
    const { outsider } = await permissions({ userIds: ['outsider'], documentIds: ['sealed'] });
    expect([added.status, outsider.documents.sealed.errorCode]).toEqual([404, 'permission_denied']);
  });

  test.each([
    [
      'a document without its organization',
      { type: 'document', id: 'flyer' },
      'organizationId is required for folders and documents',
    ],
    ['an unknown organization', { type: 'organization', id: 'nowhere' }, 'id does not exist'],
    [
      'context that is not a map of values',
      { type: 'organization', id: 'acme', context: { access: { region: { eu: true } } } },
      'context.access must map each field to a string, a number or a list of them',
    ],
    ...(
      [
        ['a long name for many values, because its items repeat the name', 'k'.repeat(700)],
        ['a name of control characters, which JSON writes with six bytes each', '\u0001'.repeat(300)],
      ] as const
    ).map(
      ([what, name]) =>
        [
          `context with ${what}`,
          { type: 'organization', id: 'acme', context: { access: { [name]: times(100, String) } } },
          'context.access must be at most 65536 bytes as JSON with the name of its field before each value',
        ] as const,
    ),
  ])('return INVALID_ARGUMENT and name the field for %s', async (_what, named, message) => {
    const data = { user: { userId: 'member' }, permissions: { resources: [named] } };
    expect(await customer.error('/v2/auth/permissions/add', data)).toEqual(
      invalid(`permissions.resources[0].${message}`),
    );
  });
});
