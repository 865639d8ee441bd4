import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { tokenHash } from '../../../lib/crypto/tokenHash.ts';
import { Credentials } from '../../../lib/http/credentials.ts';
import { ApiKeyEntity, WorkspaceEntity } from '../../../lib/http/entities.ts';
import { Table, upsert } from '../../../lib/table/table.ts';
import { forAllTests } from '../../support/acmeWorld.ts';
import { startEngine, TABLE_NAME } from '../../support/engine.ts';
import { handlerOf } from '../../support/functionHandlers.ts';
import { sdkDocumentClient } from '../../support/leanClient.ts';
import { eventOf, post, send } from '../../support/requests.ts';
import { times } from '../../support/times.ts';
import { newWorkspace } from '../../support/workspaces.ts';

const addOrganizations = handlerOf('/v2/organizations/add');
const getOrganizations = handlerOf('/v2/organizations/get');
const renameKey = handlerOf('/v2/workspace/apikey/update');
const getKeys = handlerOf('/v2/workspace/apikeys/get');
const getWorkspace = handlerOf('/v2/workspace/get');

forAllTests(() => startEngine({ sdk: true }));
const mine = forAllTests(newWorkspace);
const other = forAllTests(newWorkspace);
let table: Table;
let reads: { consistent: boolean }[];

beforeAll(() => {
  const client = new DynamoDBClient({});
  client.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        if (commandName === 'GetItemCommand')
          reads.push({ consistent: (args.input as { ConsistentRead?: boolean }).ConsistentRead === true });
        return next(args);
      },
    { step: 'initialize' },
  );
  table = new Table(sdkDocumentClient(client), TABLE_NAME);
  reads = [];
});
beforeEach(() => {
  reads = [];
});

/** Returns an id of the length that the service issues, which begins with `start`. */
const idOf = (start: string) => `${start}${'0'.repeat(start.indexOf('_') + 28 - start.length)}`;
const [KEY, WORKSPACE] = [idOf('key_'), idOf('ws_')];

async function storeKey(apiKey: string, tokens: string[], expiresAt?: number): Promise<void> {
  await table.write([
    upsert(ApiKeyEntity, {
      apiKey,
      workspaceId: 'ws',
      tokenHashes: tokens.map(tokenHash),
      pageKey: new Uint8Array(32),
      expiresAt,
      createdAt: 0,
    }),
  ]);
}

describe('invalid credentials', () => {
  const apiKey = 'x-svc-api-key';
  const authToken = 'x-svc-auth-token';

  test.each<[string, () => Record<string, string> | Promise<Record<string, string>>]>([
    ['no headers', () => ({})],
    ['no token', () => ({ [apiKey]: mine.apiKey })],
    ['no key', () => ({ [authToken]: mine.authToken })],
    ['an empty key', () => ({ [apiKey]: '', [authToken]: mine.authToken })],
    ['an empty token', () => ({ [apiKey]: mine.apiKey, [authToken]: '' })],
    ['an unknown key', () => ({ [apiKey]: 'key_unknown', [authToken]: mine.authToken })],
    ['a key of excessive length', () => ({ [apiKey]: 'k'.repeat(513), [authToken]: mine.authToken })],
    ['a wrong token', () => ({ [apiKey]: mine.apiKey, [authToken]: 'wrong' })],
    [
      'a token with another last character',
      () => ({
        [apiKey]: mine.apiKey,
        [authToken]: `${mine.authToken.slice(0, -1)}${mine.authToken.endsWith('A') ? 'B' : 'A'}`,
      }),
    ],
    ["another key's token", () => ({ [apiKey]: mine.apiKey, [authToken]: other.authToken })],
    ["the workspace's token", () => ({ [apiKey]: mine.apiKey, [authToken]: mine.workspaceAuthToken })],
    [
      'an expired key',
      async () => {
        await storeKey('key_expired', ['right'], Date.now());
        return { [apiKey]: 'key_expired', [authToken]: 'right' };
      },
    ],
    [
      'a key without tokens',
      async () => {
        await storeKey('key_tokenless', []);
        return { [apiKey]: 'key_tokenless', [authToken]: 'any' };
      },
    ],
    [
      'the hash of the token',
      () => ({ [apiKey]: mine.apiKey, [authToken]: Buffer.from(tokenHash(mine.authToken)).toString('base64') }),
    ],
  ])('return the same PERMISSION_DENIED for %s', async (_what, headers) => {
    const { status, body } = await post(getOrganizations, await headers(), {});
    expect(status).toBe(403);
    expect(body).toEqual({ error: { status: 'PERMISSION_DENIED', message: 'Invalid API key.' } });
  });

  test.each<[string, () => Record<string, string>]>([
    ['no headers', () => ({})],
    ['no token', () => ({ 'x-svc-workspace-id': mine.id })],
    [
      'an unknown workspace',
      () => ({ 'x-svc-workspace-id': 'ws_unknown', 'x-svc-workspace-auth-token': mine.workspaceAuthToken }),
    ],
    ['a wrong token', () => ({ 'x-svc-workspace-id': mine.id, 'x-svc-workspace-auth-token': 'f'.repeat(32) })],
    [
      "another workspace's token",
      () => ({ 'x-svc-workspace-id': mine.id, 'x-svc-workspace-auth-token': other.workspaceAuthToken }),
    ],
    [
      'a wrong token beside the right one in the header of API keys',
      () => ({
        'x-svc-workspace-id': mine.id,
        'x-svc-workspace-auth-token': 'wrong',
        'x-svc-auth-token': mine.workspaceAuthToken,
      }),
    ],
    [
      'the token of an API key in the header of API keys',
      () => ({ 'x-svc-workspace-id': mine.id, 'x-svc-auth-token': mine.authToken }),
    ],
    [
      "another workspace's token in the header of API keys",
      () => ({ 'x-svc-workspace-id': mine.id, 'x-svc-auth-token': other.workspaceAuthToken }),
    ],
    [
      'the credentials of an API key',
      () => ({ 'x-svc-workspace-id': mine.apiKey, 'x-svc-workspace-auth-token': mine.authToken }),
    ],
  ])('return the same PERMISSION_DENIED to a workspace endpoint for %s', async (_what, headers) => {
    const { status, body } = await post(getWorkspace, headers(), {});
    expect(status).toBe(403);
    expect(body).toEqual({ error: { status: 'PERMISSION_DENIED', message: 'Invalid auth token for workspace.' } });
    expect((await post(getKeys, headers(), {})).body).toEqual({
      error: { status: 'PERMISSION_DENIED', message: 'Invalid workspace credentials.' },
    });
  });

  test('are rejected before the body is validated', async () => {
    for (const body of ['not json', '{}', '{"data":{"organizations":3}}', 'x'.repeat(6_000_000)]) {
      const { status } = await send(addOrganizations, eventOf(body));
      expect(status).toBe(403);
    }
  });
});

describe('the auth token of a workspace', () => {
  const id = 'x-svc-workspace-id';
  const authToken = 'x-svc-auth-token';

  test.each<[string, () => Record<string, string>]>([
    ['in the header of API keys', () => ({ [authToken]: mine.workspaceAuthToken })],
    [
      'in the header of API keys beside an empty API key and an empty workspace token',
      () => ({ [authToken]: mine.workspaceAuthToken, 'x-svc-api-key': '', 'x-svc-workspace-auth-token': '' }),
    ],
    [
      'in its own header, which wins over the header of API keys',
      () => ({ [authToken]: 'wrong', 'x-svc-workspace-auth-token': mine.workspaceAuthToken }),
    ],
  ])('is accepted by workspace endpoints %s', async (_where, headers) => {
    const { status, body } = await post(getWorkspace, { [id]: mine.id, ...headers() }, {});
    expect({ status, id: body.result?.data.id, authToken: body.result?.data.authToken }).toEqual({
      status: 200,
      id: mine.id,
      authToken: mine.workspaceAuthToken,
    });
  });

  test('may be sent in either header when a call is repeated with its Idempotency-Key', async () => {
    const rename = { apiKey: mine.apiKey, apiKeyName: 'Renamed' };
    const [first, second] = [
      { [authToken]: mine.workspaceAuthToken },
      { 'x-svc-workspace-auth-token': mine.workspaceAuthToken },
    ];
    for (const headers of [first, second])
      expect(
        (await post(renameKey, { [id]: mine.id, ...headers, 'idempotency-key': 'rename-once' }, rename)).status,
      ).toBe(200);
  });

  test('is neither required nor accepted by endpoints that require an API key', async () => {
    const { status } = await post(getOrganizations, { ...mine.keyHeaders, [id]: mine.id }, {});
    expect(status).toBe(200);
    expect((await post(getOrganizations, { [id]: mine.id, [authToken]: mine.workspaceAuthToken }, {})).status).toBe(
      403,
    );
  });
});

describe('the cache of credentials', () => {
  const NOW = 1_800_000_000_000;
  const optionsAt = (now: number, fresh = false) => ({ now, fresh });
  const denied = { status: 'PERMISSION_DENIED' };

  test('accepts a revoked token for up to 10 s', async () => {
    const credentials = new Credentials(table);
    await storeKey(idOf('key_revoked'), ['old']);
    await credentials.apiKey(idOf('key_revoked'), 'old', optionsAt(NOW));
    await storeKey(idOf('key_revoked'), ['new']);
    await expect(credentials.apiKey(idOf('key_revoked'), 'old', optionsAt(NOW + 9_999))).resolves.toMatchObject({
      tenant: idOf('key_revoked'),
    });
    await expect(credentials.apiKey(idOf('key_revoked'), 'old', optionsAt(NOW + 10_000))).rejects.toMatchObject(denied);
    // Before a token is rejected, a consistent read checks that it is not a new token.
    expect(reads).toEqual([{ consistent: false }, { consistent: false }, { consistent: true }]);
  });

  test('rejects a revoked token after 10 s even if requests continue', async () => {
    const credentials = new Credentials(table);
    await storeKey(idOf('key_busy'), ['old']);
    for (let now = NOW; now < NOW + 10_000; now += 1_000)
      await credentials.apiKey(idOf('key_busy'), 'old', optionsAt(now));
    await storeKey(idOf('key_busy'), ['new']);
    await expect(credentials.apiKey(idOf('key_busy'), 'old', optionsAt(NOW + 10_000))).rejects.toMatchObject(denied);
    // Before a token is rejected, a consistent read checks that it is not a new token.
    expect(reads).toEqual([{ consistent: false }, { consistent: false }, { consistent: true }]);
  });

  test('reads a key once in 10 s with an eventually consistent read, even for concurrent requests', async () => {
    const credentials = new Credentials(table);
    await storeKey(idOf('key_read'), ['t']);
    await Promise.all(times(20, () => credentials.apiKey(idOf('key_read'), 't', optionsAt(NOW))));
    await credentials.apiKey(idOf('key_read'), 't', optionsAt(NOW + 9_999));
    expect(reads).toEqual([{ consistent: false }]);
  });

  test('is not used for a fresh check, which rejects a revoked token at once', async () => {
    const credentials = new Credentials(table);
    await storeKey(idOf('key_fresh'), ['old']);
    await credentials.apiKey(idOf('key_fresh'), 'old', optionsAt(NOW, true));
    await storeKey(idOf('key_fresh'), ['new']);
    await expect(credentials.apiKey(idOf('key_fresh'), 'old', optionsAt(NOW, true))).rejects.toMatchObject(denied);
    expect(reads).toEqual([{ consistent: true }, { consistent: true }]);
  });

  test('rejects an unknown key for 1 s without another read', async () => {
    const credentials = new Credentials(table);
    await expect(credentials.apiKey(idOf('key_late'), 't', optionsAt(NOW))).rejects.toMatchObject(denied);
    await storeKey(idOf('key_late'), ['t']);
    await expect(credentials.apiKey(idOf('key_late'), 't', optionsAt(NOW + 999))).rejects.toMatchObject(denied);
    expect(reads).toEqual([{ consistent: false }, { consistent: true }]);
    await expect(credentials.apiKey(idOf('key_late'), 't', optionsAt(NOW + 1_000))).resolves.toMatchObject({
      tenant: idOf('key_late'),
    });
  });

  test('accepts a new token at once although the key was just read', async () => {
    const credentials = new Credentials(table);
    await storeKey(idOf('key_second'), ['first']);
    await credentials.apiKey(idOf('key_second'), 'first', optionsAt(NOW));
    await storeKey(idOf('key_second'), ['first', 'second']);
    await expect(credentials.apiKey(idOf('key_second'), 'second', optionsAt(NOW + 1))).resolves.toMatchObject({
      tenant: idOf('key_second'),
    });
    expect(reads).toEqual([{ consistent: false }, { consistent: true }]);
  });

  test('accepts a new token at once although an eventually consistent read misses it', async () => {
    const credentials = new Credentials({
      get: async (_entity: unknown, { apiKey }: { apiKey: string }, { eventual }: { eventual: boolean }) => ({
        apiKey,
        workspaceId: 'ws',
        tokenHashes: eventual ? [] : [tokenHash('new')],
        pageKey: new Uint8Array(32),
        createdAt: 0,
        _r: 1,
      }),
    } as unknown as Table);
    await expect(credentials.apiKey(KEY, 'new', optionsAt(NOW))).resolves.toMatchObject({ tenant: KEY });
  });

  test('accepts a new key and a new workspace at once although eventually consistent reads miss them', async () => {
    const record = {
      apiKey: KEY,
      workspaceId: WORKSPACE,
      tokenHashes: [tokenHash('new')],
      owner: { email: '' },
      _r: 1,
    };
    const get = async (_entity: unknown, _key: unknown, { eventual }: { eventual: boolean }) =>
      eventual ? undefined : record;
    const credentials = new Credentials({ get } as unknown as Table);
    await expect(credentials.apiKey(KEY, 'new', optionsAt(NOW))).resolves.toMatchObject({ tenant: KEY });
    await expect(credentials.workspace(WORKSPACE, 'new', optionsAt(NOW))).resolves.toMatchObject({
      workspaceId: WORKSPACE,
    });
  });

  test('rejects another new token within the same second and accepts it later', async () => {
    const credentials = new Credentials(table);
    await storeKey(idOf('key_third'), ['first']);
    await expect(credentials.apiKey(idOf('key_third'), 'second', optionsAt(NOW))).rejects.toMatchObject(denied);
    await storeKey(idOf('key_third'), ['first', 'second']);
    await expect(credentials.apiKey(idOf('key_third'), 'second', optionsAt(NOW + 999))).rejects.toMatchObject(denied);
    await expect(credentials.apiKey(idOf('key_third'), 'second', optionsAt(NOW + 1_000))).resolves.toMatchObject({
      tenant: idOf('key_third'),
    });
  });

  test("makes one read per second for guessed tokens, and the owner's token still works", async () => {
    const credentials = new Credentials(table);
    await storeKey(idOf('key_guessed'), ['right']);
    await credentials.apiKey(idOf('key_guessed'), 'right', optionsAt(NOW));
    reads = [];
    for (let now = NOW; now < NOW + 2_000; now += 100) {
      await expect(credentials.apiKey(idOf('key_guessed'), `guess-${now}`, optionsAt(now))).rejects.toMatchObject(
        denied,
      );
      await credentials.apiKey(idOf('key_guessed'), 'right', optionsAt(now));
    }
    expect(reads).toEqual([{ consistent: true }, { consistent: true }]);
  });

  test('makes one fresh read for 50 concurrent requests', async () => {
    const credentials = new Credentials(table);
    await storeKey(idOf('key_rush'), ['first']);
    await credentials.apiKey(idOf('key_rush'), 'first', optionsAt(NOW));
    await storeKey(idOf('key_rush'), ['first', 'second']);
    reads = [];
    const outcomes = await Promise.allSettled(
      times(50, (n) => credentials.apiKey(idOf('key_rush'), n % 2 ? 'second' : `guess-${n}`, optionsAt(NOW + n))),
    );
    expect(reads).toEqual([{ consistent: true }]);
    expect(outcomes.map(({ status }) => status)).toEqual(outcomes.map((_, n) => (n % 2 ? 'fulfilled' : 'rejected')));
  });

  test('makes one consistent read per second for an unknown key', async () => {
    const credentials = new Credentials(table);
    for (let n = 0; n < 20; n++)
      await expect(credentials.apiKey(idOf('key_nobody'), `guess-${n}`, optionsAt(NOW + n))).rejects.toMatchObject(
        denied,
      );
    expect(reads).toEqual([{ consistent: false }, { consistent: true }]);
  });

  test('accepts a new workspace token at once', async () => {
    const credentials = new Credentials(table);
    const stored = await table.get(WorkspaceEntity, { workspaceId: mine.id });
    await credentials.workspace(mine.id, mine.workspaceAuthToken, optionsAt(NOW));
    await table.write([
      upsert(WorkspaceEntity, { ...stored!, tokenHashes: [...stored!.tokenHashes, tokenHash('new')] }),
    ]);
    await expect(credentials.workspace(mine.id, 'new', optionsAt(NOW + 1))).resolves.toMatchObject({
      workspaceId: mine.id,
    });
    await table.write([upsert(WorkspaceEntity, stored!)]);
  });

  test('rejects an API key from the moment it expires', async () => {
    const credentials = new Credentials(table);
    await storeKey(idOf('key_expiring'), ['t'], NOW + 5_000);
    await credentials.apiKey(idOf('key_expiring'), 't', optionsAt(NOW + 4_999));
    await expect(credentials.apiKey(idOf('key_expiring'), 't', optionsAt(NOW + 5_000))).rejects.toMatchObject(denied);
  });

  test('rejects malformed headers without a read', async () => {
    const credentials = new Credentials(table);
    for (const key of [undefined, '', 'k'.repeat(513), 'key_short', `${KEY}0`, `${KEY.slice(0, -1)}-`, WORKSPACE])
      await expect(credentials.apiKey(key, 't', optionsAt(NOW))).rejects.toMatchObject(denied);
    for (const token of [undefined, '', 't'.repeat(513), 'two words', 'tök.en']) {
      await expect(credentials.apiKey(KEY, token, optionsAt(NOW))).rejects.toMatchObject(denied);
      await expect(credentials.workspace(WORKSPACE, token, optionsAt(NOW, true))).rejects.toMatchObject(denied);
    }
    for (const workspaceId of ['ws', KEY])
      await expect(credentials.workspace(workspaceId, 't', optionsAt(NOW))).rejects.toMatchObject(denied);
    expect(reads).toEqual([]);
  });

  test('does the same for the credentials of workspaces', async () => {
    const credentials = new Credentials(table);
    const stored = await table.get(WorkspaceEntity, { workspaceId: mine.id });
    reads = [];
    await credentials.workspace(mine.id, mine.workspaceAuthToken, optionsAt(NOW));
    await table.write([upsert(WorkspaceEntity, { ...stored!, tokenHashes: [] })]);
    await expect(
      credentials.workspace(mine.id, mine.workspaceAuthToken, optionsAt(NOW + 9_999)),
    ).resolves.toMatchObject({
      workspaceId: mine.id,
      ownerEmail: mine.ownerEmail,
    });
    await expect(
      credentials.workspace(mine.id, mine.workspaceAuthToken, optionsAt(NOW + 10_000)),
    ).rejects.toMatchObject(denied);
    await table.write([upsert(WorkspaceEntity, stored!)]);
    // Before a token is rejected, a consistent read checks that it is not a new token.
    expect(reads).toEqual([{ consistent: false }, { consistent: false }, { consistent: true }]);
  });
});

describe('the size of the cache of credentials', () => {
  /** Returns credentials on a table in which every API key has the token `t`, and the list of keys that were read. */
  function counting() {
    const ids: string[] = [];
    let failures = 0;
    let only: string | undefined;
    const get = async (_entity: unknown, { apiKey }: { apiKey: string }) => {
      ids.push(apiKey);
      if (failures-- > 0) throw new Error('The table is away');
      if (only !== undefined && apiKey !== only) return undefined;
      return {
        apiKey,
        workspaceId: 'ws',
        tokenHashes: [tokenHash('t')],
        pageKey: new Uint8Array(32),
        createdAt: 0,
        _r: 1,
      };
    };
    return {
      ids,
      removeAllBut: (apiKey: string) => {
        only = apiKey;
      },
      failNext: (times: number) => {
        failures = times;
      },
      credentials: new Credentials({ get } as unknown as Table),
    };
  }
  const options = { now: 0, fresh: false };

  test('is limited to 1,000 keys, and the oldest key is removed first', async () => {
    const { ids, credentials } = counting();
    for (let i = 0; i <= 1_000; i++) await credentials.apiKey(idOf(`key_${i}x`), 't', options);
    ids.length = 0;
    await credentials.apiKey(idOf('key_1x'), 't', options);
    await credentials.apiKey(idOf('key_1000x'), 't', options);
    expect(ids).toEqual([]);
    await credentials.apiKey(idOf('key_0x'), 't', options);
    expect(ids).toEqual([idOf('key_0x')]);
  });

  test('does not shrink if somebody sends many keys that do not exist', async () => {
    const { ids, credentials, removeAllBut } = counting();
    removeAllBut(KEY);
    await credentials.apiKey(KEY, 't', options);
    for (let i = 0; i < 2_000; i++)
      await expect(credentials.apiKey(idOf(`key_${i}x`), 't', options)).rejects.toMatchObject({
        status: 'PERMISSION_DENIED',
      });
    ids.length = 0;
    await credentials.apiKey(KEY, 't', options);
    expect(ids).toEqual([]);
  });

  test('does not include failed reads, so the next request reads again', async () => {
    const { ids, failNext, credentials } = counting();
    failNext(1);
    await expect(credentials.apiKey(KEY, 't', options)).rejects.toThrow('The table is away');
    await expect(credentials.apiKey(KEY, 't', options)).resolves.toMatchObject({ tenant: KEY });
    expect(ids).toHaveLength(2);
  });
});
