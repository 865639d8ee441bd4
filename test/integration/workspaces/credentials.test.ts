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
import { post } from '../../support/requests.ts';
import { times } from '../../support/times.ts';
import { newWorkspace } from '../../support/workspaces.ts';

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

// The contract of all endpoints has no header, half of the headers, an unknown id and those of another level.
test.each<[string, () => string | Promise<string>]>([
  ['with another last character', () => `${mine.authToken.slice(0, -1)}${mine.authToken.endsWith('A') ? 'B' : 'A'}`],
  ['of another key', () => other.authToken],
  ['of the workspace', () => mine.workspaceAuthToken],
  ['as its hash', () => Buffer.from(tokenHash(mine.authToken)).toString('base64')],
])('endpoints refuse the token %s', async (_what, token) => {
  const { status, body } = await post(
    getOrganizations,
    { 'x-svc-api-key': mine.apiKey, 'x-svc-auth-token': await token() },
    {},
  );
  expect([status, body]).toEqual([403, { error: { status: 'PERMISSION_DENIED', message: 'Invalid API key.' } }]);
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

  test.each<[string, () => Record<string, string>]>([
    ["another workspace's token", () => ({ 'x-svc-workspace-auth-token': other.workspaceAuthToken })],
    [
      'a wrong token beside the right one in the header of API keys',
      () => ({ 'x-svc-workspace-auth-token': 'wrong', [authToken]: mine.workspaceAuthToken }),
    ],
    ['the token of an API key in the header of API keys', () => ({ [authToken]: mine.authToken })],
    ["another workspace's token in the header of API keys", () => ({ [authToken]: other.workspaceAuthToken })],
    ['the credentials of an API key', () => ({ [id]: mine.apiKey, 'x-svc-workspace-auth-token': mine.authToken })],
  ])('cannot be replaced by %s', async (_what, headers) => {
    const sent = { [id]: mine.id, ...headers() };
    const { status, body } = await post(getWorkspace, sent, {});
    expect(status).toBe(403);
    expect(body).toEqual({ error: { status: 'PERMISSION_DENIED', message: 'Invalid auth token for workspace.' } });
    expect((await post(getKeys, sent, {})).body).toEqual({
      error: { status: 'PERMISSION_DENIED', message: 'Invalid workspace credentials.' },
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
  const DENIED = 'PERMISSION_DENIED';
  const [CACHED, CONSISTENT] = [{ consistent: false }, { consistent: true }];
  const id = idOf('key_cached');
  let credentials: Credentials;
  beforeEach(async () => {
    credentials = new Credentials(table);
    await storeKey(id, ['first']);
  });
  /** Returns the error status if the credentials are refused. */
  const outcome = (check: Promise<object>) =>
    check.then(
      () => 'accepted',
      (error: unknown) => (error as { status: string }).status,
    );
  const ask = (token: string | undefined, later = 0, fresh = false, apiKey: string | undefined = id) =>
    outcome(credentials.apiKey(apiKey, token, { now: NOW + later, fresh }));
  const askWorkspace = (token: string | undefined, later = 0, workspaceId = mine.id, fresh = false) =>
    outcome(credentials.workspace(workspaceId, token, { now: NOW + later, fresh }));
  /** Replaces the tokens of the workspace while `work` runs. */
  async function withWorkspaceTokens(hashes: Uint8Array[], work: () => Promise<void>): Promise<void> {
    const stored = (await table.get(WorkspaceEntity, { workspaceId: mine.id }))!;
    reads = [];
    expect(await askWorkspace(mine.workspaceAuthToken)).toBe('accepted');
    await table.write([upsert(WorkspaceEntity, { ...stored, tokenHashes: hashes })]);
    await work();
    await table.write([upsert(WorkspaceEntity, stored)]);
  }

  test('accepts a revoked token for up to 10 s, also if requests continue', async () => {
    for (let later = 0; later < 10_000; later += 1_000) expect(await ask('first', later)).toBe('accepted');
    await storeKey(id, ['second']);
    expect([await ask('first', 9_999), await ask('first', 10_000)]).toEqual(['accepted', DENIED]);
    // Before a token is rejected, a consistent read checks that it is not a new token.
    expect(reads).toEqual([CACHED, CACHED, CONSISTENT]);
  });

  test('reads a key once in 10 s with an eventually consistent read, even for concurrent requests', async () => {
    await Promise.all(times(20, () => ask('first')));
    expect([await ask('first', 9_999), reads]).toEqual(['accepted', [CACHED]]);
  });

  test('is not used for a fresh check, which rejects a revoked token at once', async () => {
    expect(await ask('first', 0, true)).toBe('accepted');
    await storeKey(id, ['second']);
    expect([await ask('first', 0, true), reads]).toEqual([DENIED, [CONSISTENT, CONSISTENT]]);
  });

  test('rejects an unknown key for 1 s without another read', async () => {
    const late = idOf('key_late');
    for (const later of times(20, (n) => n)) expect(await ask(`guess-${later}`, later, false, late)).toBe(DENIED);
    await storeKey(late, ['t']);
    expect(await ask('t', 999, false, late)).toBe(DENIED);
    expect(reads).toEqual([CACHED, CONSISTENT]);
    expect(await ask('t', 1_000, false, late)).toBe('accepted');
  });

  test('accepts a new token at once although the key was just read', async () => {
    await ask('first');
    await storeKey(id, ['first', 'second']);
    expect([await ask('second', 1), reads]).toEqual(['accepted', [CACHED, CONSISTENT]]);
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
    credentials = new Credentials({ get } as unknown as Table);
    expect([await ask('new', 0, false, KEY), await askWorkspace('new', 0, WORKSPACE)]).toEqual([
      'accepted',
      'accepted',
    ]);
  });

  test("makes one read per second for guessed tokens, accepts a new one then, and always the owner's", async () => {
    await ask('first');
    reads = [];
    for (let later = 0; later < 1_000; later += 100) {
      expect([await ask(`guess-${later}`, later), await ask('first', later)]).toEqual([DENIED, 'accepted']);
      if (later === 0) await storeKey(id, ['first', 'second']);
    }
    expect([await ask('second', 999), reads]).toEqual([DENIED, [CONSISTENT]]);
    expect([await ask('second', 1_000), reads]).toEqual(['accepted', [CONSISTENT, CONSISTENT]]);
  });

  test('makes one fresh read for 50 concurrent requests', async () => {
    await ask('first');
    await storeKey(id, ['first', 'second']);
    reads = [];
    const outcomes = await Promise.all(times(50, (n) => ask(n % 2 ? 'second' : `guess-${n}`, n)));
    expect(reads).toEqual([CONSISTENT]);
    expect(outcomes).toEqual(times(50, (n) => (n % 2 ? 'accepted' : DENIED)));
  });

  test('rejects an API key from the moment it expires', async () => {
    await storeKey(id, ['first'], NOW + 5_000);
    expect([await ask('first', 4_999), await ask('first', 5_000)]).toEqual(['accepted', DENIED]);
  });

  test('rejects malformed headers without a read', async () => {
    for (const key of [undefined, '', 'k'.repeat(513), 'key_short', `${KEY}0`, `${KEY.slice(0, -1)}-`, WORKSPACE])
      expect([key, await outcome(credentials.apiKey(key, 't', { now: NOW, fresh: false }))]).toEqual([key, DENIED]);
    for (const token of [undefined, '', 't'.repeat(513), 'two words', 'tök.en'])
      expect([await ask(token, 0, false, KEY), await askWorkspace(token, 0, WORKSPACE, true)]).toEqual([
        DENIED,
        DENIED,
      ]);
    for (const workspaceId of ['ws', KEY]) expect(await askWorkspace('t', 0, workspaceId)).toBe(DENIED);
    expect(reads).toEqual([]);
  });

  test('accepts a new workspace token at once, and a revoked one for up to 10 s', async () => {
    await withWorkspaceTokens([tokenHash('new')], async () => {
      expect(await askWorkspace('new', 1)).toBe('accepted');
    });
    credentials = new Credentials(table);
    await withWorkspaceTokens([], async () => {
      expect(await askWorkspace(mine.workspaceAuthToken, 9_999)).toBe('accepted');
      expect(await askWorkspace(mine.workspaceAuthToken, 10_000)).toBe(DENIED);
      expect(reads).toEqual([CACHED, CACHED, CONSISTENT]);
    });
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
