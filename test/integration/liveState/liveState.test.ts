import { describe, expect, test } from '@jest/globals';
import { purgeDocument } from '../../../lib/deletion/purgeDocuments.ts';
import { liveStateKind } from '../../../lib/liveState/kind.ts';
import { LiveStateCountEntity, LiveStateStore } from '../../../lib/liveState/liveStates.ts';
import { upsert } from '../../../lib/table/table.ts';
import { acmeWorld, table } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { handlerOf } from '../../support/functionHandlers.ts';
import { eventOf, post, resultOf, send } from '../../support/requests.ts';
import { storedDocumentScope } from '../../support/storedScope.ts';
import { times } from '../../support/times.ts';

const BROADCAST = '/v2/livestate/broadcast';

const { customer, itemsOf } = acmeWorld({ documents: ['nda'] });

const broadcast = (data: object, fields: object = {}) =>
  customer.call(BROADCAST, { ...nda, liveStateDataId: 'clause', data, ...fields });
const states = async (fields: object = {}): Promise<any[]> =>
  (await customer.ok('/v2/livestate/get', { ...nda, ...fields })).states;
const sendBare = async (path: string, body: object) =>
  send(handlerOf(path), eventOf(JSON.stringify(body), customer.headers));
const failure = async (data: object, fields: object = {}) => {
  const { status, body } = await broadcast(data, fields);
  return { http: status, status: body.error?.status, message: body.error?.message };
};
const scope = () => storedDocumentScope(customer);

describe('POST /v2/livestate/broadcast', () => {
  test('stores the data under its id and returns success', async () => {
    expect(resultOf(await broadcast({ clause: 4, __proto__x: null }))).toEqual({
      status: 'success',
      message: 'Event broadcasted successfully.',
      data: { success: true },
    });
    expect(await states()).toEqual([
      { liveStateDataId: 'clause', data: { clause: 4, __proto__x: null }, at: expect.any(Number) },
    ]);
  });

  test('accepts a body without the data envelope, under /v1 and /v2', async () => {
    for (const [n, path] of [BROADCAST, '/v1/livestate/broadcast'].entries()) {
      const answer = await sendBare(path, { ...nda, liveStateDataId: 'bare', data: { n } });
      expect(answer.status).toBe(200);
      expect(await states()).toMatchObject([{ liveStateDataId: 'bare', data: { n } }]);
    }
  });

  test('is an exception: other endpoints reject a body without the data envelope', async () => {
    const answer = await sendBare('/v2/livestate/get', { ...nda, data: { organizationId: 'acme' } });
    expect(answer.body.error).toMatchObject({
      status: 'INVALID_ARGUMENT',
      message: 'organizationId: unknown field. Did you mean data.organizationId?',
    });
  });

  test('replaces the stored data without merge', async () => {
    await broadcast({ a: 1, b: 2 });
    await broadcast({ b: 3 });
    expect(await states()).toMatchObject([{ data: { b: 3 } }]);
    expect((await states())[0].data).not.toHaveProperty('a');
  });

  test('merges objects at any depth with `merge`, and replaces arrays', async () => {
    await broadcast({ a: { x: 1, y: { z: 1 } }, list: [1, 2], keep: true });
    await broadcast({ a: { y: { w: 2 } }, list: [3], keep: null }, { merge: true });
    expect((await states())[0].data).toEqual({ a: { x: 1, y: { z: 1, w: 2 } }, list: [3], keep: null });
  });

  test('merges a key named __proto__ like any other', async () => {
    await broadcast(JSON.parse('{"__proto__":{"x":1},"a":1}') as object);
    await broadcast(JSON.parse('{"__proto__":{"y":2}}') as object, { merge: true });
    expect(JSON.stringify((await states())[0].data)).toBe('{"__proto__":{"x":1,"y":2},"a":1}');
  });

  test('keeps the fields of concurrent merges', async () => {
    const names = times(10, (n) => `field${n}`);
    await Promise.all(names.map((name) => broadcast({ [name]: true }, { merge: true })));
    expect(Object.keys((await states())[0].data).toSorted()).toEqual(names);
  });

  test('gives each broadcast a later time than the broadcast before', async () => {
    const moments: number[] = [];
    for (let n = 0; n < 5; n++) {
      await broadcast({ n });
      moments.push((await states())[0].at);
    }
    expect(moments).toEqual([...new Set(moments)].toSorted((a, b) => a - b));
  });

  test('keeps stored data that has a newer server time', async () => {
    const store = new LiveStateStore(table);
    const where = await scope();
    const of = (text: string) => ({ liveStateDataId: 'clause', data: { text }, merge: false, userId: undefined });
    await store.broadcast(where, of('newer'), 2_000);
    await store.broadcast(where, of('older'), 1_000);
    expect(await states()).toEqual([{ liveStateDataId: 'clause', data: { text: 'newer' }, at: 2_000 }]);
  });

  test('rejects a merge that makes the stored data too large, and keeps the stored data', async () => {
    await broadcast({ first: 'x'.repeat(40_000) });
    expect(await failure({ second: 'y'.repeat(40_000) }, { merge: true })).toEqual({
      http: 400,
      status: 'INVALID_ARGUMENT',
      message: 'data must be at most 65536 bytes as JSON together with the stored data',
    });
    expect(Object.keys((await states())[0].data)).toEqual(['first']);
  });

  test('stores 1,000 states of a document, refuses another one, and still changes the stored ones', async () => {
    await broadcast({ n: 1 });
    await table.write([upsert(LiveStateCountEntity, { ...(await scope()), count: 999 })]);
    expect((await broadcast({}, { liveStateDataId: 'last' })).status).toBe(200);
    expect(await failure({}, { liveStateDataId: 'more' })).toEqual({
      http: 429,
      status: 'RESOURCE_EXHAUSTED',
      message: 'The document has 1000 live states. Broadcast under an existing liveStateDataId.',
    });
    expect((await broadcast({ n: 2 })).status).toBe(200);
    expect((await states()).map(({ liveStateDataId }) => liveStateDataId)).toEqual(['clause', 'last']);
  });

  test('counts each state once, also if several calls add it at the same time', async () => {
    const ids = times(12, (n) => `state-${n % 3}`);
    await Promise.all(ids.map((liveStateDataId, n) => broadcast({ n }, { liveStateDataId })));
    await broadcast({}, { liveStateDataId: 'state-0' });
    expect(await itemsOf('LiveStateCount')).toMatchObject([{ count: 3 }]);
  });
});

describe('POST /v2/livestate/get', () => {
  test('returns the states with the given ids, or all states ordered by id', async () => {
    for (const liveStateDataId of ['b', 'a', 'c']) await broadcast({}, { liveStateDataId });
    const ids = async (fields: object) => (await states(fields)).map(({ liveStateDataId }) => liveStateDataId);
    expect(await ids({})).toEqual(['a', 'b', 'c']);
    expect(await ids({ liveStateDataIds: ['c', 'none', 'a', 'c'] })).toEqual(['c', 'a']);
  });

  test('returns all states in pages of less than 5 MB', async () => {
    const store = new LiveStateStore(table);
    const where = await scope();
    const data = { text: 'x'.repeat(60_000) };
    const ids = times(100, (n) => String(n).padStart(3, '0'));
    for (const liveStateDataId of ids)
      await store.broadcast(where, { liveStateDataId, data, merge: false, userId: undefined }, 1);
    const pages = await customer.pages('/v2/livestate/get', nda);
    expect(pages.length).toBe(2);
    expect(pages.flatMap(({ states: page }) => page).map(({ liveStateDataId }: any) => liveStateDataId)).toEqual(ids);
  });
});

test("a broadcast with a user token stores the user's id", async () => {
  const resources = [{ type: 'document', id: 'nda', organizationId: 'acme', accessRole: 'viewer' }];
  const { token } = await customer.untyped('/v2/auth/generate_token', {
    userId: 'ada',
    userProperties: { name: 'Ada', email: 'ada@example.com' },
    permissions: { resources },
  });
  const headers = { authorization: `Bearer ${token}` };
  const answer = await post(handlerOf(BROADCAST), headers, { ...nda, liveStateDataId: 'clause', data: { n: 1 } });
  expect(answer.status).toBe(200);
  expect(await itemsOf('LiveState')).toMatchObject([{ userId: 'ada' }]);
  const read = await post(handlerOf('/v2/livestate/get'), headers, nda);
  expect(read.body.result.data.states).toMatchObject([{ data: { n: 1 } }]);
});

test('live states of a deleted document are purged', async () => {
  await broadcast({ secret: true });
  const where = await scope();
  await customer.ok('/v2/organizations/documents/delete', { organizationId: 'acme', documentIds: ['nda'] });
  await purgeDocument(table, { ...where, documentId: 'nda' }, { clock: Date.now, deadline: Infinity });
  expect([await itemsOf('LiveState'), await itemsOf('LiveStateCount')]).toEqual([[], []]);
});

test('an erasure removes live states whose last broadcast was by the user', async () => {
  const store = new LiveStateStore(table);
  const where = await scope();
  const broadcastAs = (liveStateDataId: string, userId: string | undefined, now: number) =>
    store.broadcast(where, { liveStateDataId, data: {}, merge: false, userId }, now);
  await broadcastAs('erased', 'ada', 1_000);
  await broadcastAs('later', 'ada', 3_000);
  await broadcastAs('of another user', 'grace', 1_000);
  await broadcastAs('of a server', undefined, 1_000);
  const removedUsers = { userIds: new Set(['ada']), removedAt: 2_000 };
  await liveStateKind.erase.erase({ table, scope: where, removedUsers, mode: 'erase', clock: Date.now }, undefined);
  expect((await states()).map(({ liveStateDataId }) => liveStateDataId)).toEqual([
    'later',
    'of a server',
    'of another user',
  ]);
  expect(await itemsOf('LiveStateCount')).toMatchObject([{ count: 3 }]);
});
