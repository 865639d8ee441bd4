import { beforeEach, describe, expect, test } from '@jest/globals';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import { times } from '../../support/times.ts';

const acme = { organizationId: 'acme' };
const [ADD, GET, UPDATE, DELETE, MOVE, ACCESS, DISABLE, COUNT] = [
  'add',
  'get',
  'update',
  'delete',
  'move',
  'access/update',
  'access/disablestate/update',
  'count/get',
].map((verb) => `/v2/organizations/documents/${verb}`) as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
];

const { customer, itemsOf } = acmeWorld();
beforeEach(async () => {
  await ok('/v2/organizations/folders/add', {
    createOrganization: true,
    folders: [{ folderId: 'f', accessType: 'restricted' }, { folderId: 'g' }],
  });
  await ok(ADD, {
    documents: [{ documentId: 'a', documentName: 'A', metadata: { version: 1, kept: true } }, { documentId: 'b' }],
  });
  await ok(ADD, { folderId: 'f', documents: [{ documentId: 'filed' }] });
});

const ok = (path: string, data: object) => customer.untyped(path, { ...acme, ...data });
const read = async (...documentIds: string[]) => ok(GET, { documentIds });
const error = (path: string, data: object) => customer.error(path, { ...acme, ...data });
const absent = { success: false, message: 'Document does not exist' };
const ids = (count: number) => times(count, (i) => `d${String(i).padStart(3, '0')}`);

describe('documents/update', () => {
  test('replaces the sent fields, with merge keeps other metadata, and fails only for unknown documents', async () => {
    const { body } = await customer.call(UPDATE, {
      ...acme,
      merge: true,
      documents: [
        { documentId: 'a', metadata: JSON.parse('{"version":2,"__proto__":{"x":1}}') },
        { documentId: 'b', documentName: 'B' },
        { documentId: 'none', documentName: 'x' },
        { documentId: 'b', documentName: 'again' },
      ],
    });
    expect(body.result).toEqual({
      status: 'success',
      message: 'Document(s) updated successfully.',
      data: {
        a: { success: true, id: expect.stringMatching(/^doc_/), message: 'Updated Successfully' },
        b: { success: true, id: expect.stringMatching(/^doc_/), message: 'Updated Successfully' },
        none: { ...absent, id: 'none', code: 'not-found' },
      },
    });
    // Metadata that are not sent stay.
    await ok(UPDATE, { documents: [{ documentId: 'a', documentName: 'AA' }] });
    const [a, b] = await read('a', 'b');
    expect([a.documentName, Object.entries(a.metadata), b.documentName]).toEqual([
      'AA',
      [
        ['version', 2],
        ['kept', true],
        ['__proto__', { x: 1 }],
      ],
      'B',
    ]);
  });

  test('returns no metadata for a document with an empty object, however it got it', async () => {
    await ok(ADD, { documents: [{ documentId: 'empty', metadata: {} }] });
    await ok(UPDATE, { documents: [{ documentId: 'a', metadata: {} }] });
    expect((await read('empty', 'a')).map(({ metadata }: any) => metadata)).toEqual([undefined, undefined]);
  });

  test('fails only for a document whose merged metadata exceed 64 KB, and keeps its old metadata', async () => {
    await ok(UPDATE, { documents: [{ documentId: 'a', metadata: { first: 'x'.repeat(40_000) } }] });
    const result = await ok(UPDATE, {
      merge: true,
      documents: [
        { documentId: 'a', metadata: { second: 'x'.repeat(40_000) } },
        { documentId: 'b', metadata: { second: 1 } },
      ],
    });
    expect([result.a.success, result.b.success]).toEqual([false, true]);
    expect((await read('a'))[0].metadata.second).toBeUndefined();
  });
});

describe('documents/delete', () => {
  test('deletes documents and their folder entries, starts a job per transaction, and keeps other documents', async () => {
    await ok(ADD, { folderId: 'f', documents: ids(40).map((documentId) => ({ documentId })) });
    const { body } = await customer.call(DELETE, { ...acme, documentIds: ['filed', 'none', ...ids(40), 'filed'] });
    expect([body.result.message, body.result.data.filed, body.result.data.none]).toEqual([
      'Document(s) deleted successfully.',
      { success: true, id: expect.stringMatching(/^doc_/), message: 'Deleted Successfully' },
      { ...absent, id: 'none', code: 'not-found' },
    ]);
    expect((await ok(GET, {})).map(({ id }: any) => id)).toEqual(['a', 'b']);
    expect((await itemsOf('FolderEntry')).map(({ id }) => id).toSorted()).toEqual(['f', 'g']);
    const jobs = await itemsOf('Job');
    expect(
      jobs.flatMap(({ data }) => JSON.parse(data).documents.map(({ documentId }: any) => documentId)).toSorted(),
    ).toEqual([...ids(40), 'filed']);
    expect(jobs.length).toBe(3);
    expect(new Set(jobs.map(({ kind }) => kind))).toEqual(new Set(['purgeDocuments']));
  });
});

describe('documents/move', () => {
  test('moves documents to another folder or to the top, so that the access type of the new parent applies', async () => {
    const { body } = await customer.call(MOVE, { ...acme, documentIds: ['a', 'filed', 'a'], folderId: 'g' });
    expect(body.result).toEqual({ status: 'success', message: 'Documents moved successfully.' });
    expect(
      (await ok(GET, { folderId: 'g' })).map(({ id, folderId, accessType }: any) => [id, folderId, accessType]),
    ).toEqual([
      ['a', 'g', 'public'],
      ['filed', 'g', 'public'],
    ]);
    expect(await ok(GET, { folderId: 'f' })).toEqual([]);
    await ok(MOVE, { documentIds: ['a'], folderId: 'f' });
    await ok(MOVE, { documentIds: ['filed', 'b'], folderId: 'root' });
    expect((await read('a', 'b', 'filed')).map(({ folderId, accessType }: any) => [folderId, accessType])).toEqual([
      ['f', 'restricted'],
      [undefined, 'public'],
      [undefined, 'public'],
    ]);
    expect((await itemsOf('FolderEntry')).filter(({ kind }) => kind === 'document').map(({ id }) => id)).toEqual(['a']);
  });

  test('moves all documents or none, and names an unknown or disabled document or an unknown folder', async () => {
    const { status, body } = await customer.call(MOVE, { ...acme, documentIds: ['a', 'a', 'none'], folderId: 'f' });
    expect([status, body.error.status, body.error.details.issues]).toEqual([
      404,
      'NOT_FOUND',
      [{ path: ['documentIds', 2], code: 'does_not_exist', message: 'documentIds[2]: Document does not exist' }],
    ]);
    await ok(DISABLE, { documentIds: ['b'], disabled: true });
    expect(await error(MOVE, { documentIds: ['a', 'b'], folderId: 'f' })).toEqual([
      400,
      'FAILED_PRECONDITION',
      'The document is disabled',
    ]);
    expect(await error(MOVE, { documentIds: ['a'], folderId: 'none' })).toEqual([
      404,
      'NOT_FOUND',
      'Folder does not exist',
    ]);
    expect((await read('a'))[0].folderId).toBeUndefined();
  });

  test('moves 30 documents in one transaction, so that concurrent moves leave all of them in one folder', async () => {
    await ok(ADD, { folderId: 'f', documents: ids(30).map((documentId) => ({ documentId })) });
    await Promise.all(['g', 'root'].map((folderId) => ok(MOVE, { documentIds: ids(30), folderId })));
    const inG = (await ok(GET, { folderId: 'g' })).length;
    expect([0, 30]).toContain(inG);
    expect((await itemsOf('FolderEntry')).filter(({ id }) => id.startsWith('d'))).toHaveLength(inG);
  });
});

describe('documents/access/disablestate/update', () => {
  test('disables and enables documents, and fails only for unknown documents', async () => {
    const { body } = await customer.call(DISABLE, { ...acme, documentIds: ['a', 'none'], disabled: true });
    expect(body.result).toEqual({
      status: 'success',
      message: 'Updated disable state for documents successfully.',
      data: {
        a: { success: true, disabled: true, message: 'Document disabled state updated.' },
        none: { ...absent, disabled: null },
      },
    });
    expect((await read('a'))[0].disabled).toBe(true);
    expect(await ok(DISABLE, { documentIds: ['a'], disabled: false })).toEqual({
      a: { success: true, disabled: false, message: 'Document disabled state updated.' },
    });
    expect((await read('a'))[0].disabled).toBe(false);
  });

  test('refuses updates of a disabled document only, and allows reads and deletion', async () => {
    await ok(DISABLE, { documentIds: ['a'], disabled: true });
    const refused = { success: false, message: 'The document is disabled' };
    expect(
      await ok(UPDATE, {
        documents: [
          { documentId: 'a', documentName: 'x' },
          { documentId: 'b', documentName: 'x' },
        ],
      }),
    ).toMatchObject({ a: { ...refused, id: 'a', code: 'internal' }, b: { success: true } });
    expect(await ok(ACCESS, { documentIds: ['a', 'b'], accessType: 'restricted' })).toMatchObject({
      a: { ...refused, accessType: null },
      b: { success: true },
    });
    expect((await read('a'))[0]).toEqual({
      id: 'a',
      documentName: 'A',
      disabled: true,
      accessType: 'public',
      metadata: { version: 1, kept: true },
    });
    expect(await ok(DELETE, { documentIds: ['a'] })).toMatchObject({ a: { success: true } });
  });
});

test('documents/count/get counts the documents of an organization, and those directly in a folder', async () => {
  await ok(ADD, { folderId: 'g', documents: ids(120).map((documentId) => ({ documentId })) });
  await ok('/v2/organizations/folders/add', { folders: [{ folderId: 'sub', parentFolderId: 'g' }] });
  expect(
    await Promise.all([{}, { folderId: 'f' }, { folderId: 'g' }, { folderId: 'sub' }].map((more) => ok(COUNT, more))),
  ).toEqual([123, 1, 120, 0].map((count) => ({ count })));
  expect(await error(COUNT, { folderId: 'none' })).toEqual([404, 'NOT_FOUND', 'Folder does not exist']);
  expect(await error(COUNT, { organizationId: 'none' })).toEqual(
    invalid('organizationId: the organization does not exist'),
  );
});
