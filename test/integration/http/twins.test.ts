import { beforeEach, describe, expect, test } from '@jest/globals';
import { acmeWorld } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { addThreads, comment, thread } from '../../support/threads.ts';
import { times } from '../../support/times.ts';

const acme = { organizationId: 'acme' };

const { customer } = acmeWorld();

const result = async (path: string, data: object) => {
  const { status, body } = await customer.call(path, data);
  expect([path, status, body.error]).toEqual([path, 200, undefined]);
  return body.result;
};
const error = (path: string, data: object) => customer.error(path, data);

const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
const row = (commentId: number, fields: object) => ({
  commentId,
  type: 'text',
  status: 'added',
  from: expect.objectContaining({ userId: 'ada' }),
  lastUpdated: iso,
  ...fields,
});

describe('POST /v1/commentannotations/get', () => {
  const html = { commentText: 'Two', commentHtml: '<b>Two</b>' };
  beforeEach(async () => {
    const first = comment({ commentText: 'One', from: { userId: 'ada', name: 'Ada', color: '#f00' } });
    await addThreads(customer, [thread('first', { commentData: [first, comment(html)] }), thread('second')]);
  });

  test('returns rows with the fields of API version 1, newest first', async () => {
    const { message, data, ...more } = await result('/v1/commentannotations/get', {
      ...nda,
      pageSize: 1,
      order: 'asc',
    });
    expect([message, more]).toEqual(['Annotations fetched successfully.', { status: 'success' }]);
    expect(data.map(({ annotationId }: any) => annotationId)).toEqual(['second', 'first']);
    expect((await result('/v1/commentannotations/get', { ...nda, annotationIds: ['first'] })).data).toEqual([
      {
        annotationId: 'first',
        from: expect.objectContaining({ userId: 'ada' }),
        color: '#f00',
        createdAt: expect.any(Number),
        lastUpdated: iso,
        status: { id: 'OPEN', name: 'Open', type: 'default' },
        comments: [row(1, { commentText: 'One' }), row(2, html)],
      },
    ]);
  });

  test('returns null for the unknown id of a thread or comment', async () => {
    const { data } = await result('/v1/commentannotations/get', { ...nda, annotationIds: ['nobody', 'second'] });
    expect(data.map((row: any) => row?.annotationId ?? null)).toEqual([null, 'second']);
    const comments = await result('/v1/commentannotations/comments/get', {
      ...nda,
      annotationId: 'first',
      commentIds: [9, 2],
    });
    expect([comments.message, comments.data]).toEqual(['Comments(s) retrieved successfully.', [null, row(2, html)]]);
  });

  test('ignores groupByDocumentId and deletedAfter', async () => {
    const plain = await result('/v1/commentannotations/get', nda);
    expect(plain.data.length).toBeGreaterThan(0);
    expect(await result('/v1/commentannotations/get', { ...nda, groupByDocumentId: true, deletedAfter: 0 })).toEqual(
      plain,
    );
  });

  test('accepts a status with a type only', async () => {
    await result('/v1/commentannotations/update', {
      ...nda,
      annotationIds: ['first'],
      updatedData: { status: { type: 'ongoing' } },
    });
    const [row] = (await result('/v1/commentannotations/get', { ...nda, annotationIds: ['first'] })).data;
    expect(row.status).toEqual({ id: 'IN_PROGRESS', name: 'In Progress', type: 'ongoing' });
    expect(
      await error('/v1/commentannotations/update', {
        ...nda,
        annotationIds: ['first'],
        updatedData: { status: { type: 'other' } },
      }),
    ).toEqual([400, 'INVALID_ARGUMENT', expect.stringContaining('status')]);
  });
});

describe('the endpoints of organizations, documents, users and folders under /v1', () => {
  beforeEach(async () => {
    await result('/v1/organizations/add', {
      organizations: ['acme', 'beta', 'gamma'].map((organizationId) => ({ organizationId })),
    });
  });

  test('return all organizations, documents and users at once, without a page token', async () => {
    await result('/v1/organizations/documents/add', {
      ...acme,
      documents: ['a', 'b'].map((documentId) => ({ documentId })),
    });
    await result('/v1/users/add', { ...acme, users: ['ada', 'bob'].map((userId) => ({ userId })) });
    const reads = [
      ['/v1/organizations/get', {}, 'id'],
      ['/v1/organizations/documents/get', acme, 'id'],
      ['/v1/users/get', { ...acme, groupByDocumentId: true }, 'userId'],
    ] as const;
    const ids = [];
    for (const [path, data, id] of reads) {
      const { data: rows, ...more } = await result(path, { ...data, pageSize: 1 });
      expect(Object.keys(more)).toEqual(['status', 'message']);
      ids.push(rows.map((row: any) => row[id]));
    }
    expect(ids).toEqual([
      ['acme', 'beta', 'gamma'],
      ['a', 'b'],
      ['ada', 'bob'],
    ]);
  });

  test('return folders with fewer fields at every level', async () => {
    const names = times(1_001, (index) => `sub-${String(index).padStart(4, '0')}`);
    await result('/v1/organizations/folders/add', { ...acme, folders: [{ folderId: 'top', folderName: 'Top' }] });
    for (let i = 0; i < names.length; i += 500)
      await result('/v1/organizations/folders/add', {
        ...acme,
        folders: names.slice(i, i + 500).map((folderId) => ({ folderId, parentFolderId: 'top' })),
      });
    const { message, data } = await result('/v1/organizations/folders/get', {
      ...acme,
      folderId: 'top',
      maxDepth: 3,
      pageSize: 1,
    });
    expect(message).toBe('Folders retrieved successfully.');
    expect(data).toHaveLength(1);
    expect(data[0]).toEqual({
      folderId: 'top',
      folderName: 'Top',
      organizationId: 'acme',
      parentFolderId: 'root',
      createdAt: expect.any(Number),
      lastUpdated: expect.any(Number),
      subFolders: expect.any(Array),
    });
    expect(data[0].subFolders.map(({ folderId }: any) => folderId).sort()).toEqual(names);
    expect(Object.keys(data[0].subFolders[0]).sort()).toEqual([
      'createdAt',
      'folderId',
      'lastUpdated',
      'organizationId',
      'parentFolderId',
      'subFolders',
    ]);
  });

  test.each([
    [
      'update',
      {
        documents: [
          { documentId: 'a', documentName: 'A' },
          { documentId: 'lost', documentName: 'L' },
        ],
      },
    ],
    ['delete', { documentIds: ['a', 'lost'] }],
  ])('return a failed result with the sent id if documents/%s fails for a document', async (verb, data) => {
    await result('/v1/organizations/documents/add', { ...acme, documents: [{ documentId: 'a' }] });
    const answer = await result(`/v1/organizations/documents/${verb}`, { ...acme, ...data });
    expect(answer.data).toEqual({
      a: expect.objectContaining({ success: true }),
      lost: { success: false, id: 'lost', message: 'Document does not exist', code: 'not-found' },
    });
  });

  test('remove users from groups, as those under /v2 do', async () => {
    const group = { ...acme, organizationUserGroupId: 'lawyers' };
    await result('/v1/users/add', { ...acme, users: [{ userId: 'ada' }] });
    await result('/v1/organizations/usergroups/add', {
      ...acme,
      organizationUserGroups: [{ groupId: 'lawyers', groupName: 'Lawyers' }],
    });
    for (const version of ['v1', 'v2']) {
      await result(`/${version}/organizations/usergroups/users/add`, { ...group, userIds: ['ada'] });
      const { data } = await result(`/${version}/organizations/usergroups/users/delete`, {
        ...group,
        userIds: ['ada'],
      });
      expect(data).toEqual({
        ada: {
          success: true,
          organizationUserGroupId: 'lawyers',
          message: 'User deleted from organization user group.',
        },
      });
      expect((await result('/v2/organizations/usergroups/get', { ...acme, includeUsers: true })).data[0].users).toEqual(
        [],
      );
    }
  });
});

test('a request under /v1 and the same request under /v2 have separate Idempotency-Keys', async () => {
  const add = async (version: string) => {
    const { body, headers } = await customer.call(
      `/${version}/organizations/add`,
      { organizations: [{ organizationId: 'acme' }] },
      { 'idempotency-key': 'one' },
    );
    return [headers['idempotency-replayed'], body.result.data.acme.success];
  };
  expect([await add('v1'), await add('v1'), await add('v2'), await add('v2')]).toEqual([
    [undefined, true],
    ['true', true],
    [undefined, false],
    ['true', false],
  ]);
});
