import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { endpoint } from '../../../functions/v2/workspace/email/status.ts';
import { ApiKeyEntity } from '../../../lib/http/entities.ts';
import { RateLimits } from '../../../lib/table/rateLimits.ts';
import { upsert } from '../../../lib/table/table.ts';
import { WorkspaceApiKeyEntity } from '../../../lib/workspaces/entities.ts';
import { forAllTests, table } from '../../support/acmeWorld.ts';
import { CONTINUE_URL, mailedToken, pressButton } from '../../support/email.ts';
import { startEngine } from '../../support/engine.ts';
import { endpointHandler, handlerOf } from '../../support/functionHandlers.ts';
import { storedItem } from '../../support/items.ts';
import { post, postFrom } from '../../support/requests.ts';
import { times } from '../../support/times.ts';
import { newApiKey, newWorkspace, type TestWorkspace } from '../../support/workspaces.ts';

const getOrganizations = handlerOf('/v2/organizations/get');
const resetAuthToken = handlerOf('/v2/workspace/authtoken/reset');
const sendLoginLink = handlerOf('/v2/workspace/email/send-login-link');
const handler = handlerOf('/v2/workspace/email/status');

const DAY = 86_400_000;
const engine = forAllTests(startEngine);
afterEach(() => {
  jest.restoreAllMocks();
});

const status = (ownerEmail: string) => post(handler, {}, { ownerEmail });
const storedKey = (apiKey: string) => storedItem(engine, ApiKeyEntity.key({ apiKey }));

/** Opens the mailed link and submits its page, which verifies the owner of the workspace. */
async function verify(workspace: TestWorkspace): Promise<void> {
  const { status: pageStatus } = await pressButton(await mailedToken(engine, workspace));
  expect(pageStatus).toBe(200);
}

async function verifiedWorkspace(): Promise<TestWorkspace> {
  const workspace = await newWorkspace();
  await verify(workspace);
  return workspace;
}

/** Returns whether the workspace's API key is accepted at a time. */
async function works({ keyHeaders }: TestWorkspace, now: number): Promise<boolean> {
  const clock = jest.spyOn(Date, 'now').mockReturnValue(now);
  const { status: answered, body } = await post(getOrganizations, keyHeaders, {});
  clock.mockRestore();
  if (answered !== 200) expect(body.error.status).toBe('PERMISSION_DENIED');
  return answered === 200;
}

describe('POST /v2/workspace/email/status', () => {
  test('returns NOT_FOUND for an address without a workspace', async () => {
    const { status: code, body } = await status('nobody@example.com');
    expect(code).toBe(404);
    expect(body).toEqual({ error: { status: 'NOT_FOUND', message: 'User not found' } });
  });

  test('returns verified: true after the owner has submitted the verification page, and false before, whatever the case of the address', async () => {
    const workspace = await newWorkspace();
    const unverified = { result: { status: 'success', message: 'Email not yet verified', data: { verified: false } } };
    expect(await status(workspace.ownerEmail)).toMatchObject({ status: 200, body: unverified });
    const token = await mailedToken(engine, workspace);
    expect((await status(workspace.ownerEmail.toUpperCase())).body).toEqual(unverified);
    await pressButton(token);
    for (let i = 0; i < 3; i++) {
      expect((await status(workspace.ownerEmail)).body).toEqual({
        result: { status: 'success', message: 'Email verified and workspace reactivated', data: { verified: true } },
      });
    }
  });

  test('ignores invalid credentials, and rejects a text that is not an address', async () => {
    const { ownerEmail } = await newWorkspace();
    const wrong = { 'x-svc-api-key': 'unknown', 'x-svc-auth-token': 'wrong' };
    expect((await post(handler, wrong, { ownerEmail })).status).toBe(200);
    expect((await status('nobody')).body.error.message).toBe('ownerEmail must be an e-mail address');
  });
});

describe('the API keys of an owner who verifies after the grace days', () => {
  test('expire after the grace days, and work again after a status request of the verified owner', async () => {
    const workspace = await newWorkspace();
    const expiry = (await storedKey(workspace.apiKey))?.expiresAt as number;
    expect(await works(workspace, expiry - 1)).toBe(true);
    expect(await works(workspace, expiry)).toBe(false);
    expect((await status(workspace.ownerEmail)).body.result.data.verified).toBe(false);
    expect(await works(workspace, expiry + 20_000)).toBe(false);

    await verify(workspace);
    expect(await works(workspace, expiry + 40_000)).toBe(false);
    await status(workspace.ownerEmail);
    // The cache keeps a rejection for a second. At the time of this call, that second is over.
    expect(await works(workspace, expiry + 60_000)).toBe(true);
    expect(await works(workspace, expiry + 3_650 * DAY)).toBe(true);
  });

  test('are all reactivated, even if they fill several pages', async () => {
    const workspace = await newWorkspace();
    const apiKeys = times(230, (index) => `key_${String(index).padStart(4, '0')}_${randomUUID()}`);
    for (const apiKey of apiKeys) {
      await table.write([
        upsert(ApiKeyEntity, {
          apiKey,
          workspaceId: workspace.id,
          tokenHashes: [],
          pageKey: new Uint8Array(32),
          expiresAt: 1,
          createdAt: 0,
        }),
        upsert(WorkspaceApiKeyEntity, {
          workspaceId: workspace.id,
          apiKey,
          apiKeyName: 'Key',
          type: 'testing',
          createdAt: 0,
        }),
      ]);
    }
    const other = await newWorkspace();
    await verify(workspace);
    await status(workspace.ownerEmail);
    const stored = await Promise.all([...apiKeys, workspace.apiKey].map(storedKey));
    expect(stored.filter((key) => key && !('expiresAt' in key))).toHaveLength(231);
    expect(await storedKey(other.apiKey)).toHaveProperty('expiresAt');
  });

  test('never expire if they are created after the verification', async () => {
    const workspace = await newWorkspace();
    const create = async () => (await newApiKey(workspace)).apiKey;
    const before = await create();
    await verify(workspace);
    const between = await create();
    expect(await storedKey(before)).toHaveProperty('expiresAt');
    expect(await storedKey(between)).not.toHaveProperty('expiresAt');
    await status(workspace.ownerEmail);
    for (const apiKey of [before, between, await create()])
      expect(await storedKey(apiKey)).not.toHaveProperty('expiresAt');
  });

  test('are reactivated and keep a token that is reset at the same time', async () => {
    const workspace = await verifiedWorkspace();
    const getMany = table.getMany.bind(table);
    let newToken = '';
    jest.spyOn(table, 'getMany').mockImplementationOnce(async (entity, keys) => {
      const read = await getMany(entity, keys);
      newToken = (await post(resetAuthToken, workspace.headers, { apiKey: workspace.apiKey })).body.result.data
        .newAuthToken.token;
      return read;
    });
    expect((await status(workspace.ownerEmail)).body.result.data.verified).toBe(true);
    expect(await storedKey(workspace.apiKey)).not.toHaveProperty('expiresAt');
    const { status: code } = await post(
      getOrganizations,
      { ...workspace.keyHeaders, 'x-svc-auth-token': newToken },
      {},
    );
    expect(code).toBe(200);
  });

  test('are reactivated by the next request if the first one fails', async () => {
    const workspace = await verifiedWorkspace();
    jest.spyOn(table, 'getMany').mockRejectedValueOnce(new Error('The table is away'));
    expect((await status(workspace.ownerEmail)).status).toBe(500);
    expect(await storedKey(workspace.apiKey)).toHaveProperty('expiresAt');
    expect((await status(workspace.ownerEmail)).status).toBe(200);
    expect(await storedKey(workspace.apiKey)).not.toHaveProperty('expiresAt');
  });

  test('are reactivated by concurrent requests, which all succeed', async () => {
    const workspace = await verifiedWorkspace();
    const answers = await Promise.all(times(20, () => status(workspace.ownerEmail)));
    expect(answers.map(({ body }) => body.result?.data.verified)).toEqual(times(20, () => true));
    expect(await storedKey(workspace.apiKey)).not.toHaveProperty('expiresAt');
  });

  test('are not read again after reactivation, so that a request makes one read and no write', async () => {
    const workspace = await verifiedWorkspace();
    await status(workspace.ownerEmail);
    const reads = [jest.spyOn(table, 'get'), jest.spyOn(table, 'getMany'), jest.spyOn(table, 'query')];
    const write = jest.spyOn(table, 'write');
    await status(workspace.ownerEmail);
    expect(reads.map((read) => read.mock.calls.length)).toEqual([1, 0, 0]);
    expect(write).not.toHaveBeenCalled();
  });
});

describe('the rate limits of email/status', () => {
  const START = Math.ceil(Date.now() / 60_000) * 60_000;
  const limited = (perAddress: number, perEmail: number) =>
    endpointHandler(endpoint, {
      EMAIL_STATUS_PER_MINUTE_PER_ADDRESS: String(perAddress),
      EMAIL_STATUS_PER_MINUTE_PER_EMAIL: String(perEmail),
    });
  const someone = () => `someone-${randomUUID()}@example.com`;
  let addresses = 0;
  const sourceIp = () => `198.51.100.${++addresses}`;

  test('do not count requests for an e-mail address if the source address is over its limit', async () => {
    jest.spyOn(Date, 'now').mockReturnValue(START);
    const [ownerEmail, flood, limitedHandler] = [someone(), sourceIp(), limited(3, 4)];
    for (let i = 0; i < 10; i++) await postFrom(flood, limitedHandler, { ownerEmail });
    expect((await postFrom(sourceIp(), limitedHandler, { ownerEmail })).status).toBe(404);
    expect((await postFrom(sourceIp(), limitedHandler, { ownerEmail: ownerEmail.toUpperCase() })).status).toBe(429);
  });

  test('are counted for each endpoint separately', async () => {
    jest.spyOn(Date, 'now').mockReturnValue(START);
    const [{ ownerEmail }, from, limitedHandler] = [await newWorkspace(), sourceIp(), limited(1, 1)];
    await postFrom(from, limitedHandler, { ownerEmail });
    expect((await postFrom(from, limitedHandler, { ownerEmail })).status).toBe(429);
    expect((await postFrom(from, sendLoginLink, { email: ownerEmail, continueUrl: CONTINUE_URL })).status).toBe(200);
  });
});

describe('POST /v2/workspace/email/status after an error', () => {
  test('returns INTERNAL with its own message if the check fails', async () => {
    jest.spyOn(table, 'get').mockRejectedValueOnce(new Error('secret detail'));
    expect(await status('ada@example.com')).toMatchObject({
      status: 500,
      body: { error: { status: 'INTERNAL', message: 'Failed to verify email status' } },
    });
  });

  test('returns UNAVAILABLE if AWS throttles', async () => {
    const throttled = Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
    jest.spyOn(table, 'get').mockRejectedValueOnce(throttled);
    expect(await status('ada@example.com')).toMatchObject({ status: 503, body: { error: { status: 'UNAVAILABLE' } } });
  });

  test('returns the general INTERNAL if the rate limit cannot be read', async () => {
    jest.spyOn(RateLimits.prototype, 'allow').mockRejectedValueOnce(new Error('secret detail'));
    expect((await status('ada@example.com')).body.error).toMatchObject({
      status: 'INTERNAL',
      message: expect.stringMatching(/^Internal error\. Quote the request id /),
    });
  });
});
