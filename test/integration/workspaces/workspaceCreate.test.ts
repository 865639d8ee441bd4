import { randomUUID } from 'node:crypto';
import { describe, expect, jest, test } from '@jest/globals';
import { endpoint } from '../../../functions/v2/workspace/create.ts';
import { ApiKeyEntity } from '../../../lib/http/entities.ts';
import type { Handler } from '../../../lib/http/stack.ts';
import { OwnerEmailEntity } from '../../../lib/workspaces/entities.ts';
import { forAllTests, table } from '../../support/acmeWorld.ts';
import { startEngine } from '../../support/engine.ts';
import { endpointHandler, handlerOf } from '../../support/functionHandlers.ts';
import { putItem, storedItem } from '../../support/items.ts';
import { post, postFrom, resultOf } from '../../support/requests.ts';
import { times } from '../../support/times.ts';
import { newApiKey } from '../../support/workspaces.ts';

const handler = handlerOf('/v2/workspace/create');
const getWorkspace = handlerOf('/v2/workspace/get');

const engine = forAllTests(startEngine);

const DAY = 86_400_000;
const someone = () => `someone-${randomUUID()}@example.com`;

/** Returns a handler of the endpoint with some settings replaced. */
function handlerWith(settings: Record<string, string>): Handler {
  return endpointHandler(endpoint, settings);
}

describe('POST /v2/workspace/create', () => {
  test('creates an owner, a workspace token of 32 hex characters and a first API key', async () => {
    const { status, body } = await post(
      handler,
      {},
      {
        ownerEmail: 'ada@example.com',
        name: 'Ada Lovelace',
        workspaceName: 'Engines',
        avatar: 'https://example.com/ada.png',
      },
    );
    expect(status).toBe(200);
    expect(body.result).toMatchObject({ status: 'success', message: 'Workspace created successfully' });
    const [apiKey] = Object.keys(body.result.data.apiKeyList) as [string];
    expect(apiKey).toMatch(/^key_[0-9A-Za-z]{27}$/);
    expect(body.result.data).toEqual({
      id: expect.stringMatching(/^ws_[0-9A-Za-z]{27}$/),
      name: 'Engines',
      owner: {
        email: 'ada@example.com',
        id: expect.stringMatching(/^usr_/),
        name: 'Ada Lovelace',
        avatar: 'https://example.com/ada.png',
      },
      authToken: expect.stringMatching(/^[0-9a-f]{32}$/),
      apiKeyList: { [apiKey]: { id: apiKey, apiKeyName: 'Ada Test API Key', type: 'testing' } },
    });
  });

  test('uses the e-mail address as default name of owner and workspace', async () => {
    const { body } = await post(
      handler,
      {},
      { ownerEmail: 'Grace.Hopper@example.com', name: null, workspaceName: null },
    );
    expect(body.result.data).toMatchObject({
      name: 'Grace.Hopper@example.com workspace',
      owner: { email: 'Grace.Hopper@example.com', name: 'Grace.Hopper@example.com', avatar: '' },
    });
    expect(Object.values(body.result.data.apiKeyList)).toMatchObject([{ apiKeyName: 'Grace.Hopper Test API Key' }]);
    const second = await post(handler, {}, { ownerEmail: 'hedy@example.com', name: 'Hedy' });
    expect(second.body.result.data.name).toBe('Hedy workspace');
  });

  test.each([
    [14, {}],
    [3, { UNVERIFIED_GRACE_DAYS: '3' }],
  ])('lets the keys of an unverified owner expire after %i days with the settings %j', async (days, settings) => {
    const { body } = await post(handlerWith(settings), {}, { ownerEmail: someone() });
    const key = await storedItem(engine, ApiKeyEntity.key({ apiKey: Object.keys(body.result.data.apiKeyList)[0]! }));
    expect(key?.expiresAt - key?.createdAt).toBe(days * DAY);
  });

  test('lets keys expire after expiresInMs, but not later than after the grace days', async () => {
    const before = Date.now();
    const owned = await post(handler, {}, { ownerEmail: someone(), expiresInMs: 3_600_000 });
    const { id, authToken, owner, apiKeyList } = owned.body.result.data;
    const headers = { 'x-svc-workspace-id': id, 'x-svc-workspace-auth-token': authToken };
    const { apiKey: second } = await newApiKey({ headers, ownerEmail: owner.email });
    const expiryOf = async (apiKey: string) => (await storedItem(engine, ApiKeyEntity.key({ apiKey })))?.expiresAt;
    for (const apiKey of [Object.keys(apiKeyList)[0]!, second]) {
      expect(await expiryOf(apiKey)).toBeGreaterThanOrEqual(before + 3_600_000);
      expect(await expiryOf(apiKey)).toBeLessThanOrEqual(Date.now() + 3_600_000);
    }
    const strict = await post(
      handlerWith({ UNVERIFIED_GRACE_DAYS: '1' }),
      {},
      { ownerEmail: someone(), expiresInMs: 172_800_000 },
    );
    expect(await expiryOf(Object.keys(strict.body.result.data.apiKeyList)[0]!)).toBeLessThanOrEqual(Date.now() + DAY);
  });

  test('returns its own message for an unexpected failure', async () => {
    const write = jest.spyOn(table, 'write').mockRejectedValueOnce(new Error('unexpected'));
    try {
      const { status, body } = await post(handler, {}, { ownerEmail: someone() });
      expect([status, body.error]).toEqual([500, { status: 'INTERNAL', message: 'Failed to create workspace' }]);
    } finally {
      write.mockRestore();
    }
  });

  test('returns the same data as workspace/get', async () => {
    const created = (await post(handler, {}, { ownerEmail: someone() })).body.result.data;
    expect(
      resultOf(
        await post(
          getWorkspace,
          { 'x-svc-workspace-id': created.id, 'x-svc-workspace-auth-token': created.authToken },
          {},
        ),
      ),
    ).toEqual({ status: 'success', message: 'Workspace retrieved successfully', data: created });
  });
});

describe('POST /v2/workspace/create with an invalid request', () => {
  test.each([
    ['with a text that is not an address', { ownerEmail: 'ada' }, 'ownerEmail must be an e-mail address'],
    [
      'with a picture whose URL is not a web address',
      { ownerEmail: 'x@example.com', avatar: 'javascript:alert(1)' },
      'avatar must be a valid http(s) URL',
    ],
    [
      'with a disposable address of a subdomain',
      { ownerEmail: 'x@eu.Mailinator.com' },
      'This email domain is not supported.',
    ],
  ])('returns INVALID_ARGUMENT for a request %s', async (_what, data, message) => {
    const { status, body } = await post(handler, {}, data);
    const details = { issues: [expect.anything()] };
    expect([status, body.error]).toEqual([400, { status: 'INVALID_ARGUMENT', message, details }]);
  });

  const full = {
    status: 'RESOURCE_EXHAUSTED',
    message: 'You have reached the maximum number of workspaces allowed for this email address.',
  };
  const id = randomUUID();

  test.each([
    ['in another spelling', someone(), (email: string) => email.toUpperCase()],
    ['with its domain in punycode', `a&b@${id}.пример.рф`, () => `a&b@${id}.xn--e1afmkfd.xn--p1ai`],
  ])('rejects a sixth workspace for an address %s', async (_spelling, ownerEmail, respell) => {
    for (const email of times(5, () => ownerEmail))
      expect((await post(handler, {}, { ownerEmail: email })).status).toBe(200);
    const { status, body } = await post(handler, {}, { ownerEmail: respell(ownerEmail) });
    expect([status, body.error]).toEqual([429, full]);
  });

  test('creates five workspaces for concurrent requests with the same address', async () => {
    const ownerEmail = someone();
    const answers = await Promise.all(times(20, () => post(handler, {}, { ownerEmail })));
    const created = answers.filter(({ status }) => status === 200).map(({ body }) => body.result.data.id);
    expect(answers.filter(({ body }) => body.error?.status === full.status)).toHaveLength(15);
    const owner = await storedItem(engine, OwnerEmailEntity.key({ email: ownerEmail }));
    expect([owner?.workspaceId, ...owner!.otherWorkspaceIds].sort()).toEqual(created.sort());
  });

  test('adds a workspace to an address whose item is from an earlier version', async () => {
    const ownerEmail = someone();
    const [first, second] = [await post(handler, {}, { ownerEmail }), await post(handler, {}, { ownerEmail })];
    const owner = await storedItem(engine, OwnerEmailEntity.key({ email: ownerEmail }));
    const { otherWorkspaceIds: _, ...earlier } = owner!;
    await putItem(engine, { ...earlier, _v: 1 });
    const third = await post(handler, {}, { ownerEmail });
    expect([first.status, second.status, third.status]).toEqual([200, 200, 200]);
    const after = await storedItem(engine, OwnerEmailEntity.key({ email: ownerEmail }));
    expect(after).toMatchObject({
      workspaceId: first.body.result.data.id,
      otherWorkspaceIds: [third.body.result.data.id],
    });
  });

  test('returns FAILED_PRECONDITION while workspace creation is closed, and does not count the request', async () => {
    const ownerEmail = someone();
    const closed = handlerWith({ WORKSPACE_CREATION: 'closed', WORKSPACE_CREATION_PER_MINUTE: '1' });
    for (let i = 0; i < 2; i++) {
      const { status, body } = await postFrom('198.51.100.77', closed, { ownerEmail });
      expect(status).toBe(400);
      expect(body.error).toEqual({
        status: 'FAILED_PRECONDITION',
        message: 'Workspaces are created by the operator of this service.',
      });
    }
    expect(await storedItem(engine, OwnerEmailEntity.key({ email: ownerEmail }))).toBeUndefined();
    expect(
      (await postFrom('198.51.100.77', handlerWith({ WORKSPACE_CREATION_PER_MINUTE: '1' }), { ownerEmail })).status,
    ).toBe(200);
  });
});
