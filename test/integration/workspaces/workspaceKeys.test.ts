import { describe, expect, jest, test } from '@jest/globals';
import { ApiKeyEntity, WorkspaceEntity } from '../../../lib/http/entities.ts';
import { insert, replace } from '../../../lib/table/table.ts';
import { WorkspaceApiKeyEntity } from '../../../lib/workspaces/entities.ts';
import { forAllTests, forEachTest, table } from '../../support/acmeWorld.ts';
import { startEngine } from '../../support/engine.ts';
import { handlerOf } from '../../support/functionHandlers.ts';
import { storedItem } from '../../support/items.ts';
import { errorOf, post, resultOf } from '../../support/requests.ts';
import { times } from '../../support/times.ts';
import { newWorkspace } from '../../support/workspaces.ts';

const getOrganizations = handlerOf('/v2/organizations/get');
const createKey = handlerOf('/v2/workspace/apikey/create');
const renameKey = handlerOf('/v2/workspace/apikey/update');
const getKeys = handlerOf('/v2/workspace/apikeys/get');
const getWorkspace = handlerOf('/v2/workspace/get');

const engine = forAllTests(startEngine);
const workspace = forEachTest(newWorkspace);

const DAY = 86_400_000;

const create = (data: object = {}) =>
  post(createKey, workspace.headers, { ownerEmail: workspace.ownerEmail, type: 'testing', ...data });
const list = (data: object = {}, of = workspace) => post(getKeys, of.headers, data);

/** Adds API keys until the workspace has `total`. Returns all keys in the order of the list. */
async function addKeysUpTo(total: number): Promise<string[]> {
  const ids = times(total - 1, (index) => `key_z${String(index).padStart(3, '0')}-${workspace.id}`);
  for (const apiKey of ids)
    await table.write([
      insert(WorkspaceApiKeyEntity, {
        workspaceId: workspace.id,
        apiKey,
        apiKeyName: apiKey,
        type: 'testing',
        createdAt: 0,
      }),
    ]);
  return [workspace.apiKey, ...ids];
}

async function changeWorkspace(change: { verifiedAt?: number; createdAt?: number }): Promise<void> {
  const stored = await table.get(WorkspaceEntity, { workspaceId: workspace.id });
  expect(await table.write([replace(WorkspaceEntity, { ...stored!, ...change }, stored!._r)])).toBe('done');
}

describe('POST /v2/workspace/apikey/create', () => {
  test('creates a key with the requested type and name', async () => {
    const { status, body } = await create({ type: 'production', apiKeyName: 'Live' });
    expect(status).toBe(200);
    expect(body.result).toEqual({
      status: 'success',
      message: 'API key created successfully.',
      data: { apiKey: expect.stringMatching(/^key_[0-9A-Za-z]{27}$/) },
    });
    const { apiKey } = body.result.data;
    const apiKeyList = (await post(getWorkspace, workspace.headers, {})).body.result.data.apiKeyList;
    expect(apiKeyList[apiKey]).toEqual({ id: apiKey, apiKeyName: 'Live', type: 'production' });
    expect(Object.keys(apiKeyList)).toHaveLength(2);
  });

  test.each([
    ['testing', 'Testing API Key'],
    ['production', 'Production API Key'],
  ])('names a %s key "%s" by default', async (type, apiKeyName) => {
    const { apiKey } = (await create({ type })).body.result.data;
    expect((await list({ apiKeys: [apiKey] })).body.result.data).toEqual([{ id: apiKey, apiKeyName, type }]);
  });

  test('returns a working default token if createAuthToken is true', async () => {
    const { apiKey, authToken } = (await create({ createAuthToken: true })).body.result.data;
    const { status } = await post(getOrganizations, { 'x-svc-api-key': apiKey, 'x-svc-auth-token': authToken }, {});
    expect(status).toBe(200);
  });

  test('creates a key without tokens if createAuthToken is false', async () => {
    const { data } = (await create({ createAuthToken: false })).body.result;
    expect(data).toEqual({ apiKey: expect.any(String) });
    expect((await storedItem(engine, ApiKeyEntity.key({ apiKey: data.apiKey })))?.tokenHashes).toEqual([]);
  });

  test.each([
    ['without ownerEmail', { ownerEmail: undefined }, 'ownerEmail is required.'],
    [
      'with another address',
      { ownerEmail: 'mallory@example.com' },
      "ownerEmail must be the e-mail address of the workspace's owner",
    ],
  ])('rejects a request %s', async (_what, data, message) => {
    expect(errorOf(await create(data))).toEqual([400, 'INVALID_ARGUMENT', message]);
  });

  test('ignores the case of the owner address', async () => {
    const { status } = await create({ ownerEmail: workspace.ownerEmail.toUpperCase() });
    expect(status).toBe(200);
  });

  test('sets the expiry of the workspace for the keys of an unverified owner, and none for a verified owner', async () => {
    const expiryOf = async (apiKey: string) => (await storedItem(engine, ApiKeyEntity.key({ apiKey })))?.expiresAt;
    const second = (await create()).body.result.data.apiKey;
    expect(await expiryOf(second)).toBe(await expiryOf(workspace.apiKey));
    await changeWorkspace({ verifiedAt: Date.now() });
    const third = (await create()).body.result.data.apiKey;
    expect(await expiryOf(third)).toBeUndefined();
  });

  test('creates no key for an unverified owner after the grace days', async () => {
    await changeWorkspace({ createdAt: Date.now() - 14 * DAY });
    const { status, body } = await create();
    expect(status).toBe(400);
    expect(body.error).toEqual({
      status: 'FAILED_PRECONDITION',
      message: "The e-mail address of the workspace's owner must be verified first.",
    });
    await changeWorkspace({ createdAt: Date.now() - 14 * DAY, verifiedAt: Date.now() });
    expect((await create()).status).toBe(200);
  });

  test('creates the hundredth key and rejects the next one with RESOURCE_EXHAUSTED', async () => {
    await addKeysUpTo(99);
    expect((await create()).status).toBe(200);
    const { status, body } = await create();
    expect(status).toBe(429);
    expect(body.error).toEqual({
      status: 'RESOURCE_EXHAUSTED',
      message: 'The workspace has as many API keys as it may have.',
    });
    expect(Object.keys((await post(getWorkspace, workspace.headers, {})).body.result.data.apiKeyList)).toHaveLength(
      100,
    );
  });

  test('keeps the limit of 100 keys for concurrent requests', async () => {
    await addKeysUpTo(98);
    const answers = await Promise.all(times(8, () => create()));
    const failures = answers.filter(({ status }) => status !== 200).map(({ body }) => body.error.status);
    expect(new Set(failures).difference(new Set(['RESOURCE_EXHAUSTED', 'ABORTED']))).toEqual(new Set());
    const made = answers.length - failures.length;
    expect(made).toBeGreaterThanOrEqual(1);
    expect(made).toBeLessThanOrEqual(2);
    expect(
      (await table.query(WorkspaceApiKeyEntity, { workspaceId: workspace.id }, { prefix: ['KEY'], limit: 200 })).values,
    ).toHaveLength(98 + made);
  });

  test('counts a key that another request creates between its read and its write', async () => {
    await addKeysUpTo(99);
    const real = table.get.bind(table);
    const get = jest.spyOn(table, 'get');
    // This first read is the one of the credentials.
    get.mockImplementationOnce(real);
    get.mockImplementationOnce(async (entity, key) => {
      get.mockRestore();
      expect((await create()).status).toBe(200);
      return real(entity, key);
    });
    expect((await create()).body.error.status).toBe('RESOURCE_EXHAUSTED');
  });

  test('retries if the owner is verified between its read and its write', async () => {
    const write = jest.spyOn(table, 'write');
    write.mockImplementationOnce(async (ops) => {
      write.mockRestore();
      await changeWorkspace({ verifiedAt: 1 });
      return table.write(ops);
    });
    const { apiKey } = (await create()).body.result.data;
    expect((await storedItem(engine, ApiKeyEntity.key({ apiKey })))?.expiresAt).toBeUndefined();
  });
});

describe('POST /v2/workspace/apikey/update', () => {
  test('changes only the name', async () => {
    const before = await storedItem(
      engine,
      WorkspaceApiKeyEntity.key({ workspaceId: workspace.id, apiKey: workspace.apiKey }),
    );
    expect(
      resultOf(
        await post(renameKey, workspace.headers, {
          apiKey: workspace.apiKey,
          apiKeyName: 'Staging',
        }),
      ),
    ).toEqual({ status: 'success', message: 'API key updated successfully.', data: null });
    expect((await list()).body.result.data).toEqual([{ id: workspace.apiKey, apiKeyName: 'Staging', type: 'testing' }]);
    expect(
      (await post(getWorkspace, workspace.headers, {})).body.result.data.apiKeyList[workspace.apiKey].apiKeyName,
    ).toBe('Staging');
    const after = await storedItem(
      engine,
      WorkspaceApiKeyEntity.key({ workspaceId: workspace.id, apiKey: workspace.apiKey }),
    );
    expect(after).toEqual({ ...before, apiKeyName: 'Staging', _r: Number(before!._r) + 1, _w: expect.any(String) });
  });

  test('returns NOT_FOUND for an unknown key or one of another workspace', async () => {
    const other = await newWorkspace();
    for (const apiKey of ['key_unknown', other.apiKey]) {
      const { status, body } = await post(renameKey, workspace.headers, { apiKey, apiKeyName: 'Mine' });
      expect(status).toBe(404);
      expect(body.error).toEqual({ status: 'NOT_FOUND', message: 'API key not found.' });
    }
    expect((await list({}, other)).body.result.data).toMatchObject([
      { id: other.apiKey, apiKeyName: expect.stringMatching(/Test API Key$/) },
    ]);
  });

  test('retries after conflicts', async () => {
    const write = jest.spyOn(table, 'write').mockResolvedValueOnce({ conflicts: [0] });
    await post(renameKey, workspace.headers, { apiKey: workspace.apiKey, apiKeyName: 'Third' });
    write.mockRestore();
    expect((await list()).body.result.data).toMatchObject([{ apiKeyName: 'Third' }]);
  });
});

describe('POST /v2/workspace/apikeys/get', () => {
  test('returns at most 100 keys per page, also by default', async () => {
    const all = await addKeysUpTo(100);
    const { result } = (await list()).body;
    expect(result).toMatchObject({
      status: 'success',
      message: 'API keys retrieved successfully.',
      nextPageToken: null,
    });
    expect(result.data.map(({ id }: { id: string }) => id)).toEqual(all);
  });

  test('returns the requested keys, except unknown keys and keys of other workspaces', async () => {
    const other = await newWorkspace();
    const second = (await create()).body.result.data.apiKey;
    const { data, nextPageToken } = (
      await list({ apiKeys: [second, 'key_unknown', other.apiKey, workspace.apiKey, second] })
    ).body.result;
    expect(data.map(({ id }: { id: string }) => id)).toEqual([second, workspace.apiKey]);
    expect(nextPageToken).toBeNull();
  });
});
