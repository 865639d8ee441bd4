import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { deriveKey, openBytes } from '../../../lib/crypto/sealing.ts';
import { tokenHash } from '../../../lib/crypto/tokenHash.ts';
import { ApiKeyEntity } from '../../../lib/http/entities.ts';
import {
  Idempotency,
  IdempotencyEntity,
  type IdempotentAnswer,
  type IdempotentCall,
} from '../../../lib/http/idempotency.ts';
import { replace } from '../../../lib/table/table.ts';
import { forAllTests, table } from '../../support/acmeWorld.ts';
import { startEngine } from '../../support/engine.ts';
import { handlerOf } from '../../support/functionHandlers.ts';
import { storedItem } from '../../support/items.ts';
import { errorOf, post } from '../../support/requests.ts';
import { times } from '../../support/times.ts';
import { newWorkspace, type TestWorkspace } from '../../support/workspaces.ts';

const addOrganizations = handlerOf('/v2/organizations/add');
const getOrganizations = handlerOf('/v2/organizations/get');
const createKey = handlerOf('/v2/workspace/apikey/create');
const renameKey = handlerOf('/v2/workspace/apikey/update');
const getKeys = handlerOf('/v2/workspace/apikeys/get');
const createWorkspace = handlerOf('/v2/workspace/create');

const engine = forAllTests(startEngine);
let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await newWorkspace();
});

const REPLAYED = 'idempotency-replayed';

/**
 * Creates an API key in a call with an Idempotency-Key. The workspace then has one key more for each time that the
 * call ran.
 */
const create = (key: string, data: object = {}, headers = {}) =>
  post(
    createKey,
    { ...workspace.headers, ...headers, 'idempotency-key': key },
    { ownerEmail: workspace.ownerEmail, type: 'testing', ...data },
  );
const keyCount = async () => (await post(getKeys, workspace.headers, {})).body.result.data.length;
const add = (organizationId: string, headers = {}) =>
  post(
    addOrganizations,
    { ...workspace.keyHeaders, 'idempotency-key': 'key', ...headers },
    { organizations: [{ organizationId }] },
  );

describe('a call with an Idempotency-Key', () => {
  test('is rejected if the key was used with another body', async () => {
    await create('reused');
    const { status, body } = await create('reused', { apiKeyName: 'Another' });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({
      status: 'INVALID_ARGUMENT',
      message: 'This Idempotency-Key was used with another request body',
      details: { issues: [{ path: ['Idempotency-Key'] }] },
    });
    expect(await keyCount()).toBe(2);
  });

  test('is rejected if the key was used with another token of the same API key', async () => {
    const stored = await table.get(ApiKeyEntity, { apiKey: workspace.apiKey });
    await table.write([
      replace(ApiKeyEntity, { ...stored!, tokenHashes: [...stored!.tokenHashes, tokenHash('second')] }, stored!._r),
    ]);
    expect((await add('acme')).status).toBe(200);
    expect(errorOf(await add('acme', { 'x-svc-auth-token': 'second' }))).toEqual([
      400,
      'INVALID_ARGUMENT',
      'This Idempotency-Key was used with another auth token',
    ]);
  });

  test('is compared by the verified workspace token, not by other headers', async () => {
    const first = await create('headers', {}, { 'x-svc-auth-token': 'anything' });
    const second = await create('headers', {}, { 'x-svc-auth-token': 'something else' });
    expect(second.headers[REPLAYED]).toBe('true');
    expect(second.body).toEqual(first.body);
  });

  test('returns the stored answer again if the caller caused an error', async () => {
    const rename = () =>
      post(renameKey, { ...workspace.headers, 'idempotency-key': 'fault' }, { apiKey: 'key_unknown', apiKeyName: 'x' });
    const first = await rename();
    const second = await rename();
    expect([first.status, second.status]).toEqual([404, 404]);
    expect(second.headers[REPLAYED]).toBe('true');
    expect(second.body).toEqual(first.body);
  });

  test('does not share its key with other endpoints and callers', async () => {
    const created = await create('shared');
    const renamed = await post(
      renameKey,
      { ...workspace.headers, 'idempotency-key': 'shared' },
      { apiKey: workspace.apiKey, apiKeyName: 'x' },
    );
    expect(renamed.status).toBe(200);
    workspace = await newWorkspace();
    const another = await create('shared');
    expect(another.headers).not.toHaveProperty(REPLAYED);
    expect(another.body.result.data.apiKey).not.toBe(created.body.result.data.apiKey);
  });

  test.each([
    ['empty', ''],
    ['longer than 255 characters', 'k'.repeat(256)],
    ['with a space', 'two words'],
    ['with a control character', 'line\nbreak'],
    ['not ASCII', 'schlüssel'],
  ])('is rejected with INVALID_ARGUMENT if the key is %s', async (_what, key) => {
    expect(errorOf(await create(key))).toEqual([
      400,
      'INVALID_ARGUMENT',
      'Idempotency-Key must be 1 to 255 visible ASCII characters',
    ]);
    expect(await keyCount()).toBe(1);
  });

  test('may have a key of 255 characters', async () => {
    expect((await create('~'.repeat(255))).status).toBe(200);
    expect((await create('~'.repeat(255))).headers[REPLAYED]).toBe('true');
  });

  test('runs each time at endpoints that only read and at public endpoints', async () => {
    const read = () => post(getOrganizations, { ...workspace.keyHeaders, 'idempotency-key': 'read' }, {});
    await read();
    await add('later');
    const repeated = await read();
    expect(repeated.headers).not.toHaveProperty(REPLAYED);
    expect(repeated.body.result.data).toHaveLength(1);
    const signUp = () =>
      post(createWorkspace, { 'idempotency-key': 'public' }, { ownerEmail: `public-${workspace.id}@example.com` });
    const [first, second] = [await signUp(), await signUp()];
    expect(second.body.result.data.id).not.toBe(first.body.result.data.id);
  });

  test('does not return the stored answer for wrong credentials', async () => {
    await create('guarded');
    expect((await create('guarded', {}, { 'x-svc-workspace-auth-token': 'f'.repeat(32) })).status).toBe(403);
  });
});

describe('Idempotency.once', () => {
  const NOW = 1_800_000_000_000;
  const HOUR = 3_600_000;
  let number = 0;
  let idempotency: Idempotency;
  let call: IdempotentCall;
  let runs: number;
  beforeEach(() => {
    idempotency = new Idempotency(table);
    call = {
      owner: 'key_tenant',
      authToken: 'token',
      path: '/v2/things/add',
      key: `key-${number++}`,
      body: '{}',
      now: NOW,
    };
    runs = 0;
  });

  /** Runs the call once per key. The answer contains the number of runs so far. */
  const once = (change: Partial<IdempotentCall> = {}, answer: Partial<IdempotentAnswer> = {}) =>
    idempotency.once({ ...call, ...change }, async () => ({ httpStatus: 200, body: `run ${++runs}`, ...answer }));
  const item = () => storedItem(engine, IdempotencyEntity.key(call));

  test.each([500, 503, 504, 409, 429])(
    'does not store an answer with status %i, so that the next call runs',
    async (httpStatus) => {
      expect(await once({}, { httpStatus })).toMatchObject({ httpStatus, replayed: false });
      expect(await once({ now: NOW + 1 })).toEqual({ httpStatus: 200, body: 'run 2', replayed: false });
    },
  );

  test.each([200, 400, 403, 404])('stores an answer with status %i', async (httpStatus) => {
    await once({}, { httpStatus });
    expect(await once()).toEqual({ httpStatus, body: 'run 1', replayed: true });
  });

  test('rethrows an unexpected error, and the next call runs', async () => {
    await expect(
      idempotency.once(call, async () => {
        throw new Error('broken');
      }),
    ).rejects.toThrow('broken');
    expect(await once({ now: NOW + 1 })).toMatchObject({ body: 'run 1', replayed: false });
  });

  test.each([
    ['another order of keys', '{"data":{"b":{"d":2,"c":1},"a":[1,2]}}'],
    ['spaces and line breaks', ' {\n "data": {"a": [1, 2], "b": {"c": 1, "d": 2}}}\n'],
    ['other escapes and numbers', '{"data":{"\\u0061":[1.0,2e0],"b":{"c":1,"d":2}}}'],
  ])('returns the stored answer for the same body with %s', async (_, body) => {
    const sent = { body: '{"data":{"a":[1,2],"b":{"c":1,"d":2}}}' };
    await once(sent);
    expect(await once({ body })).toEqual({ httpStatus: 200, body: 'run 1', replayed: true });
  });

  test('rejects a body whose list has another order', async () => {
    await once({ body: '{"data":{"a":[1,2]}}' });
    await expect(once({ body: '{"data":{"a":[2,1]}}' })).rejects.toMatchObject({ status: 'INVALID_ARGUMENT' });
  });

  test('rejects another body even after an unexpected error', async () => {
    await once({}, { httpStatus: 500 });
    await expect(once({ body: '{"other":1}', now: NOW + 1 })).rejects.toMatchObject({ status: 'INVALID_ARGUMENT' });
  });

  test("gives a claim to another call after 60 s, and the first call cannot overwrite that call's answer", async () => {
    const started = Promise.withResolvers<undefined>();
    const finish = Promise.withResolvers<undefined>();
    const slow = idempotency.once(call, async () => {
      started.resolve(undefined);
      await finish.promise;
      return { httpStatus: 200, body: 'late' };
    });
    await started.promise;
    await expect(once({ now: NOW + 59_999 })).rejects.toMatchObject({ status: 'ABORTED' });
    await expect(once({ now: NOW + 60_000, body: '{"other":1}' })).rejects.toMatchObject({
      status: 'INVALID_ARGUMENT',
    });
    expect(await once({ now: NOW + 60_000 })).toEqual({ httpStatus: 200, body: 'run 1', replayed: false });
    finish.resolve(undefined);
    expect(await slow).toEqual({ httpStatus: 200, body: 'late', replayed: false });
    expect(await once({ now: NOW + 61_000 })).toEqual({ httpStatus: 200, body: 'run 1', replayed: true });
  });

  test('gives an abandoned claim to one of several calls', async () => {
    const started = Promise.withResolvers<undefined>();
    void idempotency.once(call, () => {
      started.resolve(undefined);
      return new Promise<never>(() => undefined);
    });
    await started.promise;
    const outcomes = await Promise.allSettled(times(10, () => once({ now: NOW + 60_000 })));
    expect(runs).toBe(1);
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThanOrEqual(1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ status: 'ABORTED' });
  });

  test('passes the time of the first call to a call that takes over the claim', async () => {
    const moments: number[] = [];
    const recordAt = (now: number, httpStatus: number) =>
      idempotency.once({ ...call, now }, async (since) => {
        moments.push(since);
        return { httpStatus, body: '' };
      });
    await recordAt(NOW + 900, 503);
    await recordAt(NOW + 10_000, 503);
    await recordAt(NOW + 24 * HOUR - 1, 200);
    expect(await recordAt(NOW + 24 * HOUR - 1, 200)).toMatchObject({ replayed: true });
    await recordAt(NOW + 24 * HOUR, 200);
    expect(moments).toEqual([NOW, NOW, NOW, NOW + 24 * HOUR]);
  });

  test('returns the stored answer for 24 h, then accepts any body for the key', async () => {
    await once();
    expect(await once({ now: NOW + 24 * HOUR - 1 })).toMatchObject({ body: 'run 1', replayed: true });
    expect(await once({ now: NOW + 24 * HOUR, body: '{"other":1}' })).toMatchObject({ body: 'run 2', replayed: false });
    expect(await once({ now: NOW + 25 * HOUR, body: '{"other":1}' })).toMatchObject({ body: 'run 2', replayed: true });
    expect((await item())?.ttl).toBe((NOW + 48 * HOUR) / 1000);
  });

  test.each([
    ['path', '/v2/things/delete'],
    ['owner', 'key_another'],
    ['key', 'another-key'],
  ] as const)('runs a call with another %s separately', async (part, value) => {
    await once();
    expect(await once({ [part]: `${value}${number}` })).toMatchObject({ body: 'run 2', replayed: false });
  });

  test('runs calls separately even if path and key contain separators of table keys', async () => {
    await once({ path: '/a', key: 'b#c' });
    expect(await once({ path: '/a#b', key: 'c' })).toMatchObject({ replayed: false });
  });

  test('encrypts the stored answer with the token of the caller', async () => {
    const secret = randomBytes(24).toString('hex');
    await once({ body: `{"password":"${secret}"}` }, { body: `{"token":"${secret}"}` });
    const stored = await item();
    const bytes = Buffer.from(
      JSON.stringify(stored, (_key, value: unknown) =>
        value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
      ),
      'latin1',
    );
    expect(bytes.includes(secret)).toBe(false);
    expect(bytes.includes('token":"')).toBe(false);
    // Gzip data begin with these bytes. Sealing hides them, because the answer is compressed before.
    expect(bytes.includes(Buffer.from([0x1f, 0x8b, 0x08]))).toBe(false);
    const bound = [call.owner, call.path, call.key];
    expect(openBytes(deriveKey('another token', ['idempotency']), stored!.sealed, bound)).toBeUndefined();
    expect(
      openBytes(deriveKey('token', ['idempotency']), stored!.sealed, ['key_another', call.path, call.key]),
    ).toBeUndefined();
    expect(openBytes(deriveKey('token', ['idempotency']), stored!.sealed, bound)?.subarray(0, 3)).toEqual(
      gzipSync('').subarray(0, 3),
    );
  });

  test('does not store an answer above 300 KB, and does not run the call again', async () => {
    const body = randomBytes(200_000).toString('hex');
    expect(gzipSync(body).length).toBeLessThan(300_000);
    await once({}, { body });
    expect((await once()).body).toBe(body);
    call = { ...call, key: `${call.key}-large` };
    await once({}, { body: randomBytes(400_000).toString('base64') });
    await expect(once()).rejects.toMatchObject({
      status: 'ABORTED',
      message: expect.stringContaining('too large to keep'),
    });
    expect(runs).toBe(2);
  });

  test('does not write if it returns a stored answer', async () => {
    await once();
    const before = (await item())!;
    await once();
    expect(await item()).toEqual(before);
    expect(before).not.toHaveProperty('leaseUntil');
  });
});
