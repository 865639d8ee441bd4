import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import * as Y from 'yjs';
import { EditorItems } from '../../../lib/editors/entities.ts';
import { Table } from '../../../lib/table/table.ts';
import { acmeWorld, forAllTests } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { restartFunctions } from '../../support/functionHandlers.ts';
import { startQueues } from '../../support/queues.ts';
import { times } from '../../support/times.ts';
import { contents, encodeUpdate, type UpdateParts } from '../../support/yjsUpdates.ts';

const [ADD, UPDATE, GET, DELETE] = ['/v2/crdt/add', '/v2/crdt/update', '/v2/crdt/get', '/v2/crdt/delete'] as const;
const [PULL, PUSH] = ['/v2/crdt/updates/get', '/v2/crdt/updates/push'] as const;

const { customer } = acmeWorld({ table: 'memory', documents: ['nda'] });
forAllTests(startQueues);
beforeAll(() => {
  restartFunctions();
});

const UNKNOWN_EDITOR = { http: 404, status: 'NOT_FOUND', message: 'No CRDT data found for this editor ID.' };
const editor = { ...nda, editorId: 'summary' };
const text = { ...editor, type: 'text' };
const add = (fields: object = {}) => customer.untyped(ADD, { ...text, data: 'one', ...fields });
const values = async (document: object = nda) =>
  ((await customer.untyped(GET, document)) as any[]).map(({ id, data }) => [id, data]);
const answer = async (path: string, data: object) => {
  const { status, body } = await customer.call(path, data);
  return status === 200 ? body.result : { http: status, ...body.error };
};
/** Returns the error of a call whose field is invalid. */
const invalid = (field: string, message: unknown = expect.any(String)) => ({
  http: 400,
  status: 'INVALID_ARGUMENT',
  message,
  details: { issues: [expect.objectContaining({ path: [field] })] },
});
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64'));

/** Returns a Yjs client with the state that the service has. */
async function client(fields: object = {}): Promise<Y.Doc> {
  const doc = new Y.Doc();
  Y.applyUpdate(doc, bytes((await customer.ok(PULL, { ...editor, ...fields })).update));
  return doc;
}
/** Returns the update that a client's change produces. */
function updateOf(doc: Y.Doc, change: (doc: Y.Doc) => void): string {
  const before = Y.encodeStateVector(doc);
  doc.transact(() => change(doc));
  return base64(Y.encodeStateAsUpdate(doc, before));
}
const pushText = async (insert: string, fields: object = {}) => {
  const doc = await client();
  return customer.ok(PUSH, {
    ...editor,
    update: updateOf(doc, (changed) => changed.getText('content').insert(changed.getText('content').length, insert)),
    ...fields,
  });
};

describe('POST /v2/crdt/add', () => {
  test('adds an editor with a value of each type, and get returns the same value', async () => {
    const data = {
      text: 'a 🦉',
      map: { a: { b: [1, null, ''] }, ['__proto__']: 'x' },
      array: [{ a: 1 }, [], 'x'],
      xml: '<paragraph>a<b>c</b></paragraph><heading level="2">d</heading>',
    };
    for (const [type, value] of Object.entries(data))
      await customer.untyped(ADD, { ...nda, editorId: type, type, data: JSON.parse(JSON.stringify(value)) });
    expect(JSON.stringify(await values())).toBe(
      JSON.stringify([
        ['array', data.array],
        ['map', data.map],
        ['text', data.text],
        ['xml', data.xml],
      ]),
    );
  });

  test('accepts empty data, and returns ALREADY_EXISTS for an existing editor, which stays unchanged', async () => {
    for (const [type, data] of Object.entries({ text: '', map: {}, array: [], xml: '' })) {
      const request = { ...nda, editorId: type, type, data };
      expect(await answer(ADD, request)).toEqual({ status: 'success', message: 'CRDT data added successfully.' });
      expect(await answer(ADD, { ...request, ...(type === 'text' && { data: 'two' }) })).toEqual({
        http: 409,
        status: 'ALREADY_EXISTS',
        message: 'CRDT data already exists for this editor ID.',
      });
      expect(await values({ ...nda, editorId: type })).toEqual([[type, data]]);
    }
  });
});

describe('POST /v2/crdt/update', () => {
  test('replaces the data and returns no data', async () => {
    await add();
    expect(await answer(UPDATE, { ...text, data: 'two' })).toEqual({
      status: 'success',
      message: 'CRDT data updated successfully.',
    });
    expect(await values()).toEqual([['summary', 'two']]);
  });

  test.each([
    ['xml', {}, 'Data must be a string for type xml.'],
    ['map', [], 'Data must be an object for type map.'],
    ['array', 'x', 'Data must be an array for type array.'],
    ['text', 1, 'data must be a string, an object or an array'],
  ])('rejects for type %s the data %j', async (type, data, message) => {
    const request = { ...nda, editorId: type, type };
    await customer.untyped(ADD, { ...request, data: { text: '', xml: '', map: {}, array: [] }[type] });
    for (const path of [UPDATE, ADD])
      expect(await answer(path, { ...request, data })).toEqual(invalid('data', message));
  });

  test('rejects a type or content key other than the stored one', async () => {
    await add({ contentKey: 'default' });
    expect(await answer(UPDATE, { ...editor, type: 'map', data: {} })).toEqual(
      invalid('type', 'type must be text, as the editor has it'),
    );
    expect(await answer(UPDATE, { ...text, data: 'two', contentKey: 'content' })).toEqual(
      invalid('contentKey', 'contentKey must be "default", as the editor has it'),
    );
    await customer.untyped(UPDATE, { ...text, data: 'two' });
    await customer.untyped(UPDATE, { ...text, data: 'three', contentKey: 'default' });
    expect((await client()).getText('default').toJSON()).toBe('three');
  });

  test('accepts, reads and syncs a value of nearly 4 MB', async () => {
    // Random letters hardly compress.
    const data = times(500_000, (index) =>
      Math.imul(index + 1, 0x9e3779b1)
        .toString(36)
        .padStart(8, '-'),
    )
      .join('')
      .slice(0, 4_100_000);
    await add({ data });
    expect((await values())[0]![1] === data).toBe(true);
    expect((await client()).getText('content').toJSON() === data).toBe(true);
    await customer.untyped(UPDATE, { ...text, data: `${data}!` });
    restartFunctions();
    expect((await values())[0]![1] === `${data}!`).toBe(true);
  });
});

/** Returns a request for the editor `summary`. */
function requestOf(path: string): object {
  if (path === DELETE) return nda;
  if (path === PUSH) return { ...editor, update: 'AAA=' };
  return path === ADD || path === UPDATE ? { ...text, data: 'x' } : editor;
}

describe('POST /v2/crdt/get', () => {
  test('returns records with the value and the last change of editors', async () => {
    const before = Date.now();
    await add({ userId: 'ada', sessionId: 'tab-1' });
    await customer.ok(ADD, { ...nda, editorId: 'a', type: 'map', data: {} });
    const [first, second, ...more] = await customer.ok(GET, nda);
    expect([first, second, more]).toEqual([
      { data: {}, id: 'a', lastUpdate: expect.any(String), lastUpdatedBy: '', sessionId: null },
      { data: 'one', id: 'summary', lastUpdate: expect.any(String), lastUpdatedBy: 'ada', sessionId: 'tab-1' },
      [],
    ]);
    expect(Date.parse(second.lastUpdate)).toBeGreaterThanOrEqual(before);
    expect(second.lastUpdate).toBe(new Date(second.lastUpdate).toISOString());
    expect(await answer(GET, editor)).toEqual({
      status: 'success',
      message: 'CRDT data retrieved successfully.',
      data: [second],
    });
  });

  test('returns the user and session of the last change, if its request named them', async () => {
    await add({ userId: 'ada', sessionId: 'tab-1' });
    await customer.untyped(UPDATE, { ...text, data: 'two', userId: 'bob' });
    expect(await customer.ok(GET, nda)).toMatchObject([{ lastUpdatedBy: 'bob', sessionId: null }]);
    await pushText('!', { userId: 'cy', sessionId: 'tab-2' });
    expect(await customer.ok(GET, nda)).toMatchObject([{ data: 'two!', lastUpdatedBy: 'cy', sessionId: 'tab-2' }]);
    await customer.untyped(UPDATE, { ...text, data: 'three' });
    expect(await customer.ok(GET, nda)).toMatchObject([{ lastUpdatedBy: '', sessionId: null }]);
  });

  test('returns the messages that published clients expect if an id is missing', async () => {
    expect(await answer(GET, { documentId: 'nda' })).toEqual(invalid('organizationId', 'Organization ID is required'));
    expect(await answer(ADD, { ...nda, type: 'text', data: 'x' })).toEqual(
      invalid('editorId', 'Editor ID is required.'),
    );
  });

  test('rejects an unknown organization or document, as all CRDT endpoints do', async () => {
    await add();
    for (const path of [ADD, UPDATE, GET, DELETE, PULL, PUSH]) {
      const data = requestOf(path);
      expect(await answer(path, { ...data, organizationId: 'other' })).toMatchObject({ status: 'INVALID_ARGUMENT' });
      expect(await answer(path, { ...data, documentId: 'other' })).toMatchObject({ status: 'NOT_FOUND' });
    }
  });

  test('returns editors with similar or unusual ids separately', async () => {
    const ids = ['a', 'a!', 'a#META', 'ab', '#', '%', '__proto__', 'x'.repeat(512), 'é🦉'];
    for (const editorId of ids) await customer.ok(ADD, { ...nda, editorId, type: 'text', data: editorId });
    for (const editorId of ids) await customer.ok(UPDATE, { ...nda, editorId, type: 'text', data: `of ${editorId}` });
    expect(await values()).toEqual(ids.toSorted().map((id) => [id, `of ${id}`]));
    for (const editorId of ids) expect(await values({ ...nda, editorId })).toEqual([[editorId, `of ${editorId}`]]);
  });

  test('asks for an editorId if the editors of a document exceed one response', async () => {
    for (const editorId of ['a', 'b', 'c'])
      await customer.ok(ADD, { ...nda, editorId, type: 'text', data: 'x'.repeat(2_000_000) });
    expect(await answer(GET, nda)).toMatchObject({
      http: 400,
      status: 'INVALID_ARGUMENT',
      message: expect.stringContaining('narrow it by editorId'),
    });
    expect((await values({ ...nda, editorId: 'b' }))[0]![1]).toHaveLength(2_000_000);
  });
});

describe('POST /v2/crdt/delete', () => {
  test('deletes editors by id and returns a result for each. Only unknown ids fail', async () => {
    for (const editorId of ['a', 'b', 'c']) await add({ editorId });
    expect(await answer(DELETE, { ...nda, editorIds: ['a', 'b', 'a', 'z'] })).toEqual({
      status: 'success',
      message: 'CRDT data deleted successfully.',
      data: {
        a: { success: true, message: 'CRDT data deleted.' },
        b: { success: true, message: 'CRDT data deleted.' },
        z: { success: false, message: UNKNOWN_EDITOR.message },
      },
      hasMore: false,
    });
    expect(await values()).toEqual([['c', 'one']]);
  });

  test('deletes all editors of a document without editorIds, and none of another document', async () => {
    await customer.addDocuments(['tos']);
    for (const editorId of ['a', 'a!', 'b#']) await add({ editorId });
    await add({ documentId: 'tos' });
    expect(Object.keys(await customer.ok(DELETE, nda)).sort()).toEqual(['a', 'a!', 'b#']);
    expect(await values()).toEqual([]);
    expect(await values({ ...nda, documentId: 'tos' })).toEqual([['summary', 'one']]);
    expect(await answer(DELETE, nda)).toMatchObject({ status: 'success', data: {}, hasMore: false });
  });

  test('finds many small editors beside a large one and beside deleted ones with few queries', async () => {
    for (const editorId of times(60, String)) await add({ editorId });
    await add();
    for (const word of times(30, String)) await pushText(word);
    await customer.ok(DELETE, { ...nda, editorIds: times(30, String) });
    const query = jest.spyOn(Table.prototype, 'query');
    const deleted = Object.keys(await customer.ok(DELETE, nda));
    const listings = query.mock.calls.filter(([entity]) => entity === EditorItems).length;
    query.mockRestore();
    expect(deleted.sort()).toEqual([...times(30, (n) => String(30 + n)), 'summary']);
    expect(listings).toBeLessThan(15);
    expect(await values()).toEqual([]);
  });

  test('makes requests with the key of the deleted editor fail, also after an editor was added under its id', async () => {
    await add({ data: 'old' });
    const old = await customer.ok(PULL, editor);
    expect(old.editorKey).toMatch(/^edt_/);
    const { editorKey, stateVector, version } = old;
    const update = updateOf(await client(), (doc) => doc.getText('content').insert(0, 'late '));
    const requests: [string, object][] = [
      [PULL, { ...editor, editorKey }],
      [PULL, { ...editor, editorKey, version }],
      [PULL, { ...editor, editorKey, version, stateVector }],
      [PUSH, { ...editor, editorKey, update }],
    ];
    for (const [path, request] of requests) expect(await answer(path, request)).toMatchObject({ status: 'success' });
    await customer.ok(DELETE, { ...nda, editorIds: ['summary'] });
    for (const [path, request] of requests) expect(await answer(path, request)).toEqual(UNKNOWN_EDITOR);
    expect(await answer(UPDATE, { ...text, data: 'x' })).toEqual(UNKNOWN_EDITOR);
    await add({ data: 'new' });
    const { editorKey: newKey, ...again } = await customer.ok(PULL, { ...editor, version, stateVector });
    expect([again.version > version, typeof again.stateVector]).toEqual([true, 'string']);
    expect(newKey).not.toBe(editorKey);
    for (const [path, request] of requests) {
      expect(await answer(path, request)).toMatchObject({
        http: 404,
        status: 'NOT_FOUND',
        message: 'No CRDT data found for this editorKey. Another editor has this editor ID.',
        details: { issues: [{ path: ['editorKey'], code: 'does_not_exist' }] },
      });
    }
    expect(await values()).toEqual([['summary', 'new']]);
    expect(await customer.ok(PULL, { ...editor, editorKey: newKey })).toMatchObject({ editorKey: newKey });
    await pushText('!', { editorKey: newKey });
    expect(await values()).toEqual([['summary', 'new!']]);
  });
});

describe('POST /v2/crdt/updates/get', () => {
  test('returns only the updates after a version', async () => {
    await add();
    const { editorKey, version } = await customer.ok(PULL, editor);
    const doc = await client();
    expect(await customer.ok(PULL, { ...editor, version })).toEqual({ editorKey, update: 'AAA=', version });
    await pushText(' two');
    await customer.untyped(UPDATE, { ...text, data: 'one two three' });
    const after = await customer.ok(PULL, { ...editor, version });
    expect(after).toEqual({ editorKey, update: expect.any(String), version: Number(version) + 2 });
    Y.applyUpdate(doc, bytes(after.update));
    expect(doc.getText('content').toJSON()).toBe('one two three');
    // The request also has a state vector now. The answer then leaves out what the client already has.
    const { update } = await customer.ok(PULL, { ...editor, version, stateVector: base64(Y.encodeStateVector(doc)) });
    expect(bytes(update).length).toBeLessThan(bytes(after.update).length);
  });

  test('returns the whole state for an unknown version', async () => {
    await add();
    for (const version of [0, 1, Number.MAX_SAFE_INTEGER, Date.now() * 1000 + 10_000_000]) {
      const { update, stateVector } = await customer.ok(PULL, { ...editor, version });
      const doc = new Y.Doc();
      Y.applyUpdate(doc, bytes(update));
      expect([doc.getText('content').toJSON(), typeof stateVector]).toEqual(['one', 'string']);
    }
  });

  test.each(['AAA', base64(Uint8Array.of(5, 1))])('rejects the state vector %j', async (stateVector) => {
    await add();
    const { version } = await customer.ok(PULL, editor);
    await pushText('!');
    for (const fields of [{}, { version }])
      expect(await answer(PULL, { ...editor, stateVector, ...fields })).toMatchObject(invalid('stateVector'));
  });
});

describe('POST /v2/crdt/updates/push', () => {
  test('applies the update of a client and returns its version', async () => {
    await add();
    const { version } = await customer.ok(PULL, editor);
    expect(
      await answer(PUSH, {
        ...editor,
        update: updateOf(await client(), (doc) => doc.getText('content').insert(0, '> ')),
      }),
    ).toEqual({
      status: 'success',
      message: 'CRDT update added successfully.',
      data: { version: Number(version) + 1 },
    });
    expect(await values()).toEqual([['summary', '> one']]);
  });

  test('returns the current version for an update that the editor already contains', async () => {
    await add();
    const doc = await client();
    const update = updateOf(doc, (changed) => changed.getText('content').insert(0, '> '));
    const { version } = await customer.ok(PUSH, { ...editor, update });
    expect(await customer.ok(PUSH, { ...editor, update })).toEqual({ version });
    expect(await customer.ok(PUSH, { ...editor, update: base64(Y.encodeStateAsUpdate(doc)) })).toEqual({ version });
    const deletion = updateOf(doc, (changed) => changed.getText('content').delete(0, 1));
    expect(await customer.ok(PUSH, { ...editor, update: deletion })).toEqual({ version: Number(version) + 1 });
    expect(await customer.ok(PUSH, { ...editor, update: deletion })).toEqual({ version: Number(version) + 1 });
  });

  test.each<[string, string | ((state: { stateVector: string }) => string)]>([
    ['no base64', '???'],
    ['no update', base64(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8))],
    ['of another type', updateOf(new Y.Doc(), (doc) => doc.getArray('content').push([1, 2]))],
    [
      'waiting for the next change of the service',
      ({ stateVector }) => {
        const [[service, clock]] = [...Y.decodeStateVector(bytes(stateVector))] as [[number, number]];
        const content = contents.text('x');
        const structs = [{ kind: 'item', origin: [service, clock], content } as const];
        return base64(encodeUpdate({ clients: [{ client: 1, clock: 0, structs }] }));
      },
    ],
  ])('rejects an update that is %s, and keeps the state', async (_what, update) => {
    await add();
    const before = await customer.ok(PULL, editor);
    expect(
      await answer(PUSH, { ...editor, update: typeof update === 'string' ? update : update(before) }),
    ).toMatchObject(invalid('update'));
    expect(await customer.ok(PULL, editor)).toEqual(before);
  });

  test('stores no struct under the id of a stored one, so that every client reads the same text', async () => {
    await add();
    const { version } = await customer.ok(PULL, editor);
    const of7 = (...structs: UpdateParts['clients'][number]['structs']) =>
      base64(encodeUpdate({ clients: [{ client: 7, clock: 0, structs }] }));
    const doc = await client();
    await customer.ok(PUSH, { ...editor, update: of7({ kind: 'item', content: contents.text('ab') }) });
    const last = { kind: 'item', origin: [7, 1], content: contents.text('c') } as const;
    await customer.ok(PUSH, { ...editor, update: of7({ kind: 'gc', length: 2 }, last) });
    Y.applyUpdate(doc, bytes((await customer.ok(PULL, { ...editor, version })).update));
    expect(await values()).toEqual([['summary', doc.getText('content').toJSON()]]);
    expect(doc.getText('content').toJSON()).toContain('abc');
  });

  test('rejects changes that make the state too large, and keeps the state', async () => {
    await add();
    const attribute = (name: string, length: number) =>
      updateOf(new Y.Doc(), (doc) => doc.getText('content').setAttribute(name, 'x'.repeat(length)));
    await customer.ok(PUSH, { ...editor, update: attribute('large', 4 * 1024 * 1024 - 100_000) });
    expect(await answer(PUSH, { ...editor, update: attribute('more', 200_000) })).toMatchObject(invalid('update'));
    expect(await answer(UPDATE, { ...text, data: 'y'.repeat(200_000) })).toMatchObject(invalid('data'));
    expect(await values()).toEqual([['summary', 'one']]);
  });
});
