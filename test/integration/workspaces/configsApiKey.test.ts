import { describe, expect, test } from '@jest/globals';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import { handlerOf } from '../../support/functionHandlers.ts';
import { post } from '../../support/requests.ts';
import { newApiKey, newWorkspace } from '../../support/workspaces.ts';

const getConfig = handlerOf('/v2/workspace/apikeyconfig/get');

const GET = '/v2/workspace/apikeyconfig/get';
const UPDATE = '/v2/workspace/apikeyconfig/update';

const { customer } = acmeWorld();

const initial = {
  ownerEmail: expect.stringMatching(/^owner-.*@example\.com$/),
  planInfo: { type: 'selfHosted' },
  defaultDocumentAccessType: 'public',
  isPrivateCommentsEnabled: false,
  requireJwtToken: false,
  requireAutoOrgUser: false,
  editorVersions: null,
};

describe('apikeyconfig get and update', () => {
  test('get returns the initial configuration with the e-mail address of the workspace owner', async () => {
    const { ownerEmail, keyHeaders } = await newWorkspace();
    const { body } = await post(getConfig, keyHeaders, {});
    expect(body).toEqual({
      result: {
        status: 'success',
        message: 'API key metadata retrieved successfully.',
        data: { ...initial, ownerEmail },
      },
    });
  });

  test('update returns only the sent fields, with masked keys', async () => {
    const aiModelApiKey = [
      { provider: 'anthropic', customerApiKey: 'sk-ant-0123456789-x7Qa' },
      { provider: 'openai', customerApiKey: 'short' },
    ];
    expect(await customer.untyped(UPDATE, { enablePrivateComments: true, requireJwtToken: null })).toEqual({
      enablePrivateComments: true,
    });
    expect(await customer.untyped(UPDATE, { defaultDocumentAccessType: 'organizationPrivate', aiModelApiKey })).toEqual(
      {
        defaultDocumentAccessType: 'organizationPrivate',
        aiModelsConfig: { anthropic: { displayText: '****x7Qa' }, openai: { displayText: '****' } },
      },
    );
    expect(await customer.ok(GET, {})).toEqual({
      ...initial,
      isPrivateCommentsEnabled: true,
      defaultDocumentAccessType: 'organizationPrivate',
      aiModelsConfig: { anthropic: { displayText: '****x7Qa' }, openai: { displayText: '****' } },
    });
  });

  test.each([
    [UPDATE, { requireAutoOrgUser: false, aiModelApiKey: [{ provider: 'openai', customerApiKey: '' }] }, undefined],
    ['/v2/workspace/apikeymetadata/update', { requireJwtToken: true }, ['requireJwtToken']],
    ['/v2/workspace/permissionproviderconfig/update', { usePermissionProvider: true }, ['usePermissionProvider']],
  ])('%s with %j warns of what has no effect', async (path, data, fields) => {
    const { body } = await customer.call(path, data);
    expect(body.result.warnings).toEqual(fields?.map((field) => ({ field, reason: expect.stringMatching(/\.$/) })));
  });

  test('update switches automatic versions of editors on, changes sent fields only, and off with null', async () => {
    const update = (editorVersions: object | null) => customer.untyped(UPDATE, { editorVersions });
    const stored = async () => (await customer.ok(GET, {})).editorVersions;
    const on = { everyMinutes: 5, keepDays: 3650, keepNamed: true };
    expect(await update({ everyMinutes: 5, keepDays: 3650 })).toEqual({ editorVersions: on });
    expect(await stored()).toEqual(on);
    await customer.ok(UPDATE, { requireJwtToken: true });
    expect(await stored()).toEqual(on);
    expect(await update(null)).toEqual({ editorVersions: null });
    expect(await stored()).toBeNull();
  });

  test('the configuration of one API key does not apply to other API keys of the workspace', async () => {
    const workspace = await newWorkspace();
    const { headers } = await newApiKey(workspace, { createAuthToken: true });
    await customer.call(UPDATE, { requireJwtToken: true }, workspace.keyHeaders);
    const { data } = (await post(getConfig, headers, {})).body.result;
    expect(data).toEqual({ ...initial, ownerEmail: workspace.ownerEmail });
  });

  test.each([
    [
      'a repeated provider',
      {
        aiModelApiKey: [
          { provider: 'openai', customerApiKey: 'k' },
          { provider: 'openai', customerApiKey: 'l' },
        ],
      },
      'aiModelApiKey must name each provider once',
    ],
  ])('update rejects %s and stores nothing', async (_what, data, message) => {
    expect(await customer.error(UPDATE, data)).toEqual(invalid(message));
    expect(await customer.ok(GET, {})).toEqual(initial);
  });
});

describe('defaultDocumentAccessType', () => {
  const ADD = '/v2/organizations/documents/add';
  const accessTypes = async () =>
    Object.fromEntries(
      (await customer.ok('/v2/organizations/documents/get', { organizationId: 'acme' })).map(
        ({ id, accessType }: any) => [id, accessType],
      ),
    );
  const add = (documentId: string, more: object = {}) =>
    customer.ok(ADD, { organizationId: 'acme', createOrganization: true, documents: [{ documentId }], ...more });

  test('applies only to documents that are added later', async () => {
    await add('before');
    await customer.ok(UPDATE, { defaultDocumentAccessType: 'restricted' });
    await add('after');
    await add('before');
    await customer.ok(UPDATE, { defaultDocumentAccessType: 'organizationPrivate' });
    await add('later');
    expect(await accessTypes()).toEqual({ before: 'public', after: 'restricted', later: 'organizationPrivate' });
  });

  test('applies to documents that are added with a user, and not to folders and the documents in them', async () => {
    await customer.ok(UPDATE, { defaultDocumentAccessType: 'restricted' });
    await customer.addUsers(['ada'], { documentId: 'new', createDocument: true });
    await add('filed', { folderId: 'folder', createFolder: true });
    expect(await accessTypes()).toEqual({ new: 'restricted', filed: 'public' });
  });
});
