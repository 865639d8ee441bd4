import { describe, expect, jest, test } from '@jest/globals';
import { environment } from '../../../lib/app/capability.ts';
import { secretBox } from '../../../lib/crypto/secretBox.ts';
import { tokenHash } from '../../../lib/crypto/tokenHash.ts';
import { ApiKeyEntity, WorkspaceEntity } from '../../../lib/http/entities.ts';
import { upsert } from '../../../lib/table/table.ts';
import { AuthTokenEntity } from '../../../lib/workspaces/entities.ts';
import { forAllTests, forEachTest, table } from '../../support/acmeWorld.ts';
import { startEngine } from '../../support/engine.ts';
import { handlerOf } from '../../support/functionHandlers.ts';
import { everyItem, storedItem } from '../../support/items.ts';
import { errorOf, post, resultOf } from '../../support/requests.ts';
import { newApiKey, newWorkspace } from '../../support/workspaces.ts';

const getOrganizations = handlerOf('/v2/organizations/get');
const ensureToken = handlerOf('/v2/workspace/authtoken/ensure');
const resetToken = handlerOf('/v2/workspace/authtoken/reset');
const listTokens = handlerOf('/v2/workspace/authtokens/get');

const engine = forAllTests(startEngine);
const workspace = forEachTest(newWorkspace);

const list = (apiKey: string) => post(listTokens, workspace.headers, { apiKey });
const reset = (apiKey: string, headers = {}) => post(resetToken, { ...workspace.headers, ...headers }, { apiKey });
const call = (apiKey: string, authToken: string) =>
  post(getOrganizations, { 'x-svc-api-key': apiKey, 'x-svc-auth-token': authToken }, {});

describe('POST /v2/workspace/authtoken/ensure', () => {
  test.each(['x-svc-workspace-auth-token', 'x-svc-auth-token'])(
    'returns the workspace auth token that was sent as %s',
    async (header) => {
      const headers = { 'x-svc-workspace-id': workspace.id, [header]: workspace.workspaceAuthToken };
      expect(resultOf(await post(ensureToken, headers, {}))).toEqual({
        status: 'success',
        message: 'Workspace auth token ensured successfully.',
        data: { authToken: workspace.workspaceAuthToken },
      });
    },
  );
});

describe('POST /v2/workspace/authtokens/get', () => {
  test('lists several tokens of a key with their text, name and domains', async () => {
    const sealed = await secretBox
      .open(environment(process.env))
      .seal('the text', { tenant: workspace.apiKey, purpose: 'authToken', id: 'tok_zz' });
    await table.write([
      upsert(AuthTokenEntity, {
        apiKey: workspace.apiKey,
        tokenId: 'tok_zz',
        name: 'Website',
        domains: ['example.com'],
        sealed,
        createdAt: 0,
      }),
    ]);
    expect(resultOf(await list(workspace.apiKey))).toEqual({
      status: 'success',
      message: 'Auth tokens retrieved successfully.',
      data: {
        apiKey: workspace.apiKey,
        authTokens: [
          { token: workspace.authToken, name: 'Default Auth Token', domains: [] },
          { token: 'the text', name: 'Website', domains: ['example.com'] },
        ],
      },
    });
  });

  test('rejects a revoked workspace token at once, because it reads credentials from the table', async () => {
    expect((await list(workspace.apiKey)).status).toBe(200);
    const stored = await table.get(WorkspaceEntity, { workspaceId: workspace.id });
    await table.write([upsert(WorkspaceEntity, { ...stored!, tokenHashes: [tokenHash('another')] })]);
    expect((await list(workspace.apiKey)).status).toBe(403);
    expect((await reset(workspace.apiKey)).status).toBe(403);
  });
});

describe('POST /v2/workspace/authtoken/reset', () => {
  test('replaces all tokens of the key by one default token', async () => {
    const { status, body } = await reset(workspace.apiKey);
    expect(status).toBe(200);
    expect(body.result).toEqual({
      status: 'success',
      message: 'Auth token reset successfully.',
      data: {
        apiKey: workspace.apiKey,
        newAuthToken: { token: expect.any(String), name: 'Default Auth Token', domains: [] },
      },
    });
    const { newAuthToken } = body.result.data;
    expect(newAuthToken.token).not.toBe(workspace.authToken);
    expect((await list(workspace.apiKey)).body.result.data.authTokens).toEqual([newAuthToken]);
    expect((await storedItem(engine, ApiKeyEntity.key({ apiKey: workspace.apiKey })))?.tokenHashes).toEqual(
      [tokenHash(newAuthToken.token)].map((hash) => new Uint8Array(hash)),
    );
  });

  test('makes the new token work at once, and the old one for at most 10 s', async () => {
    const { token } = (await reset(workspace.apiKey)).body.result.data.newAuthToken;
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 10_000);
    try {
      expect((await call(workspace.apiKey, workspace.authToken)).status).toBe(403);
      expect((await call(workspace.apiKey, token)).status).toBe(200);
    } finally {
      clock.mockRestore();
    }
  });

  test('does not change other keys of the workspace', async () => {
    const { apiKey, authToken } = await newApiKey(workspace, { createAuthToken: true });
    await reset(workspace.apiKey);
    expect((await list(apiKey)).body.result.data.authTokens).toMatchObject([{ token: authToken }]);
  });

  test('creates a first token for a key without tokens', async () => {
    const { apiKey } = await newApiKey(workspace, { createAuthToken: false });
    expect((await list(apiKey)).body.result.data).toEqual({ apiKey, authTokens: [] });
    const { token } = (await reset(apiKey)).body.result.data.newAuthToken;
    expect((await call(apiKey, token)).status).toBe(200);
  });
});

test.each([
  ['authtokens/get', list],
  ['authtoken/reset', reset],
])('%s returns NOT_FOUND for an unknown key or one of another workspace', async (_path, call) => {
  for (const apiKey of ['key_unknown', (await newWorkspace()).apiKey])
    expect(errorOf(await call(apiKey))).toEqual([404, 'NOT_FOUND', 'API key not found.']);
});

test('no token, no master key and no signing key is readable in the table', async () => {
  const created = await newApiKey(workspace, { type: 'production', createAuthToken: true });
  const renewed = await reset(workspace.apiKey, { 'idempotency-key': 'sealed' });
  const secrets = [
    workspace.workspaceAuthToken,
    workspace.authToken,
    created.authToken,
    renewed.body.result.data.newAuthToken.token,
    // In this test, the master key and the signing key have this value.
    'k'.repeat(64),
  ];
  const stored = (await everyItem(engine)).flatMap(bytesOf);
  const haystack = Buffer.concat(stored.map((bytes) => Buffer.concat([bytes, Buffer.from('\n')])));
  for (const secret of secrets) {
    const forms = [
      secret,
      Buffer.from(secret).toString('base64'),
      Buffer.from(secret).toString('base64url'),
      Buffer.from(secret).toString('hex'),
    ];
    // Other forms of a leak: the bytes that a hexadecimal token encodes, and the signature alone of a signed token.
    const parts = [Buffer.from(secret, 'hex'), Buffer.from(secret.split('.')[2] ?? '')].filter(
      ({ length }) => length >= 16,
    );
    for (const form of [...forms, ...parts]) expect(haystack.includes(form)).toBe(false);
  }
  // Checks the search itself: the stored items contain this e-mail address as a string and this hash as bytes.
  expect(haystack.includes(workspace.ownerEmail)).toBe(true);
  expect(haystack.includes(Buffer.from(tokenHash(workspace.workspaceAuthToken)))).toBe(true);
});

/** Returns all keys, strings and binary values inside a value, each as bytes. */
function bytesOf(value: unknown): Buffer[] {
  if (value instanceof Uint8Array) return [Buffer.from(value)];
  if (value instanceof Set || Array.isArray(value)) return [...value].flatMap(bytesOf);
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, inner]) => [Buffer.from(key), ...bytesOf(inner)]);
  return [Buffer.from(String(value))];
}
