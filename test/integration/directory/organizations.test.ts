import { describe, expect, test } from '@jest/globals';
import { acmeWorld } from '../../support/acmeWorld.ts';
import { times } from '../../support/times.ts';

const { customer } = acmeWorld({ table: 'memory' });

const ids = (prefix: string, count: number) => times(count, (i) => `${prefix}${String(i).padStart(4, '0')}`);

/** Returns all pages of a listing. Fails if a page after the first one is empty. */
async function listPages(path: string, data: object): Promise<any[][]> {
  const pages = await customer.pages(path, data);
  expect(pages.slice(1)).not.toContainEqual([]);
  return pages;
}

describe('organizations/add and organizations/get', () => {
  const ADD = '/v2/organizations/add';
  const GET = '/v2/organizations/get';

  test('organizations/get returns organizations as added, with custom fields, in the order of the requested ids', async () => {
    const fields = JSON.parse('{"plan":"pro","big":1e200,"deep":{"a":[null,{"b":""}]},"constructor":"c"}');
    await customer.addOrganizations([{ organizationId: 'a', organizationName: 'A', ...fields }, 'b']);
    const [b, a] = await customer.ok(GET, { organizationIds: ['b', 'nowhere', 'a', 'a'] });
    expect(b).toEqual({ id: 'b', disabled: false });
    expect(a).toEqual({
      plan: 'pro',
      big: 1e200,
      deep: { a: [null, { b: '' }] },
      constructor: 'c',
      id: 'a',
      organizationName: 'A',
      disabled: false,
    });
  });

  test('organizations/add stores a field named __proto__', async () => {
    const organizations = JSON.parse('[{"organizationId":"a","__proto__":{"x":1}}]');
    await customer.ok(ADD, { organizations });
    const [a] = await customer.ok(GET, { organizationIds: ['a'] });
    expect(Object.getOwnPropertyDescriptor(a, '__proto__')?.value).toEqual({ x: 1 });
  });

  test('organizations/add reports an existing organization without changing it, and adds a repeated id once', async () => {
    await customer.addOrganizations([{ organizationId: 'a', organizationName: 'first' }]);
    const data = await customer.addOrganizations([
      { organizationId: 'a', organizationName: 'second' },
      'b',
      { organizationId: 'b', organizationName: 'again' },
    ]);
    expect(data).toMatchObject({
      a: { success: false, message: 'Organization already exists.' },
      b: { success: true, message: 'Added Successfully' },
    });
    expect(data.a.id).toMatch(/^org_/);
    const organizations = await customer.ok(GET, {});
    expect(organizations).toEqual([
      { id: 'a', organizationName: 'first', disabled: false },
      { id: 'b', disabled: false },
    ]);
  });

  test('organizations/add creates an organization once for 20 concurrent calls', async () => {
    const answers = await Promise.all(ids('', 20).map(() => customer.addOrganizations(['same'])));
    expect(answers.filter(({ same }) => same.success)).toHaveLength(1);
    expect(new Set(answers.map(({ same }) => same.id)).size).toBe(1);
  });

  test('organizations/get lists more than 1 MB of organizations in responses below 5 MB', async () => {
    const note = 'x'.repeat(60_000);
    for (let i = 0; i < 100; i += 20)
      await customer.addOrganizations(ids(`big${i}-`, 20).map((organizationId) => ({ organizationId, note })));
    const pages = await listPages(GET, {});
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.flat()).toHaveLength(100);
  });

  test('organizations with similar or special ids stay separate', async () => {
    const awkward = [
      'doc1',
      'doc10',
      'doc1#X',
      'doc1%23X',
      'DOC1',
      ' ',
      'é',
      'e\u0301',
      '😀'.repeat(256),
      `${'😀'.repeat(255)}x`,
      '~',
      '%7e',
    ];
    await customer.addOrganizations(
      awkward.map((organizationId, index) => ({ organizationId, organizationName: String(index) })),
    );
    const read = [...(await customer.ok(GET, { organizationIds: awkward }))];
    expect(read.map(({ id, organizationName }) => [id, organizationName])).toEqual(
      awkward.map((id, index) => [id, String(index)]),
    );
  });
});

describe('folders/add', () => {
  const ADD = '/v2/organizations/folders/add';

  test('creates folders, a repeated id once, and returns success, id and message by folderId', async () => {
    expect(
      await customer.result(ADD, {
        organizationId: 'acme',
        createOrganization: true,
        folders: [
          { folderId: 'a', folderName: 'A', accessType: 'restricted' },
          { folderId: 'a', folderName: 'second' },
          { folderId: 'b', parentFolderId: 'a' },
        ],
      }),
    ).toEqual({
      status: 'success',
      message: 'Folder created successfully.',
      data: {
        a: { success: true, id: 'a', message: 'Folder added.' },
        b: { success: true, id: 'b', message: 'Folder added.' },
      },
    });
  });

  test('creates a missing organization with createOrganization, and leaves an existing one unchanged', async () => {
    await customer.addFolders(['a']);
    const [before] = await customer.ok('/v2/organizations/get', { organizationIds: ['acme'] });
    await customer.addFolders(['b']);
    expect(await customer.ok('/v2/organizations/get', {})).toEqual([before]);
  });

  test('accepts a folder tree in any order, and fails only for unknown parents, cycles and too deep folders', async () => {
    const deep = times(22, (i) => ({
      folderId: `d${i}`,
      parentFolderId: i === 0 ? 'root' : `d${i - 1}`,
    })).reverse();
    const results = await customer.addFolders([
      ...deep,
      { folderId: 'x', parentFolderId: 'y' },
      { folderId: 'y', parentFolderId: 'x' },
      { folderId: 'lost', parentFolderId: 'nowhere' },
      { folderId: 'root' },
    ]);
    expect(Object.entries(results).filter(([, { success }]: any) => success)).toHaveLength(20);
    expect(results).toMatchObject({
      d19: { success: true },
      d20: { success: false, message: 'Folder would be too deep.' },
      d21: { success: false, message: 'Parent folder does not exist.' },
      x: { success: false, message: 'Parent folders form a circle.' },
      lost: { success: false, message: 'Parent folder does not exist.' },
      root: { success: false, message: 'The id root is reserved.' },
    });
  });

  test('finds existing folders as parents, also if the request names other parents for them that form a circle', async () => {
    await customer.addFolders(['a', 'b']);
    expect(
      await customer.addFolders([
        { folderId: 'below', parentFolderId: 'c' },
        { folderId: 'c', parentFolderId: 'a' },
        { folderId: 'a', parentFolderId: 'c' },
        { folderId: 'b', parentFolderId: 'b' },
        { folderId: 'x', parentFolderId: 'x' },
      ]),
    ).toEqual({
      below: { success: true, id: 'below', message: 'Folder added.' },
      c: { success: true, id: 'c', message: 'Folder added.' },
      a: { success: false, id: 'a', message: 'Folder already exists.' },
      b: { success: false, id: 'b', message: 'Folder already exists.' },
      x: { success: false, id: 'x', message: 'Parent folders form a circle.' },
    });
  });

  test('creates a folder once for ten concurrent calls, and creates all other folders of the calls', async () => {
    await customer.addFolders(['start']);
    const answers = await Promise.all(
      ids('', 10).map((own) => customer.addFolders([{ folderId: 'same' }, { folderId: `own${own}` }])),
    );
    expect(answers.filter(({ same }) => same.success)).toHaveLength(1);
    expect(answers.every((answer, index) => answer[`own${String(index).padStart(4, '0')}`].success)).toBe(true);
  });
});

describe('documents/add and documents/get', () => {
  const GET = '/v2/organizations/documents/get';

  test('documents/get returns documents as added, with the effective access type', async () => {
    await customer.addFolders([{ folderId: 'f', accessType: 'restricted' }]);
    await customer.addDocuments([{ documentId: 'a', documentName: 'A', metadata: { version: 3, tags: [] } }], {
      folderId: 'f',
    });
    await customer.addDocuments(['b']);
    expect(await customer.ok(GET, { organizationId: 'acme', documentIds: ['b', 'none', 'a'] })).toEqual([
      { id: 'b', disabled: false, accessType: 'public' },
      {
        id: 'a',
        documentName: 'A',
        disabled: false,
        accessType: 'restricted',
        folderId: 'f',
        metadata: { version: 3, tags: [] },
      },
    ]);
  });

  test('documents/add reports an existing document without changing it, and adds the others', async () => {
    await customer.addDocuments([{ documentId: 'a', documentName: 'first' }]);
    expect(await customer.addDocuments([{ documentId: 'a', documentName: 'second' }, 'b'])).toMatchObject({
      a: { success: false, code: 'already-exists', id: 'a', message: 'Document already exists' },
      b: { success: true },
    });
    expect((await customer.ok(GET, { organizationId: 'acme', documentIds: ['a'] }))[0].documentName).toBe('first');
  });

  test.each([
    ['an organization', {}],
    ['a folder', { folderId: 'f' }],
  ])('documents/get ends a page of large documents of %s early', async (_case, more) => {
    const metadata = { text: 'x'.repeat(60_000) };
    await customer.addDocuments(
      ids('large', 80).map((documentId) => ({ documentId, metadata })),
      { folderId: 'f', createFolder: true },
    );
    const pages = await listPages(GET, { organizationId: 'acme', ...more });
    expect(pages.length).toBe(2);
    expect(pages.flat().map(({ id }) => id)).toEqual(ids('large', 80));
  });

  test('documents/access/update changes the access type, and fails only for unknown documents', async () => {
    await customer.addDocuments(['a']);
    expect(await customer.setAccess('organizationPrivate', ['a', 'none', 'a'])).toEqual({
      a: { success: true, accessType: 'organizationPrivate', message: 'Document access type updated.' },
      none: { success: false, accessType: null, message: 'Document does not exist' },
    });
    expect((await customer.ok(GET, { organizationId: 'acme', documentIds: ['a'] }))[0].accessType).toBe(
      'organizationPrivate',
    );
  });
});

describe('users/add and users/get', () => {
  const ADD = '/v2/users/add';
  const GET = '/v2/users/get';

  test('users/get returns users as added, with the initial of the name', async () => {
    const results = await customer.addUsers([
      { userId: 'ada', name: ' ada lovelace', email: 'ada@example.com', photoUrl: 'https://example.com/a.png' },
      { userId: 'bob' },
    ]);
    expect(results).toEqual({
      ada: { success: true, id: expect.stringMatching(/^usr_/), message: 'User added.' },
      bob: { success: true, id: expect.stringMatching(/^usr_/), message: 'User added.' },
    });
    expect(await customer.ok(GET, { organizationId: 'acme' })).toEqual([
      {
        userId: 'ada',
        name: ' ada lovelace',
        email: 'ada@example.com',
        photoUrl: 'https://example.com/a.png',
        initial: 'A',
      },
      { userId: 'bob' },
    ]);
  });

  test('users/add keeps the id and unsent fields of a user who is added again', async () => {
    const first = await customer.addUsers([{ userId: 'ada', name: 'Ada', email: 'ada@example.com' }]);
    const second = await customer.addUsers([{ userId: 'ada', name: 'Byron' }]);
    expect(second.ada.id).toBe(first.ada.id);
    expect(await customer.ok(GET, { organizationId: 'acme', userIds: ['ada', 'none'] })).toEqual([
      { userId: 'ada', name: 'Byron', email: 'ada@example.com', initial: 'B' },
    ]);
  });

  test('users/add and users/get return NOT_FOUND for an unknown document or folder', async () => {
    await customer.addUsers(['member']);
    for (const path of [ADD, GET]) {
      const error = (scope: object) =>
        customer.error(path, { organizationId: 'acme', ...(path === ADD && { users: [{ userId: 'a' }] }), ...scope });
      expect(await error({ documentId: 'none' })).toEqual([404, 'NOT_FOUND', 'Document does not exist']);
      expect(await error({ folderId: 'none' })).toEqual([404, 'NOT_FOUND', 'Folder does not exist']);
    }
  });

  test.each([
    ['an organization', {}],
    ['a group', { organizationUserGroupIds: ['g'] }],
  ])('users/get and usergroups/get end a page of large profiles of %s early', async (_case, more) => {
    const text = '界'.repeat(512);
    const profile = { name: text, color: text, textColor: text, initial: text, plan: text, photoUrl: text };
    const slices = [ids('u', 300), ids('v', 300)];
    for (const slice of slices) {
      await customer.addUsers(slice.map((userId) => ({ userId, ...profile })));
      await customer.addGroup('g', slice);
    }
    const userIds = slices.flat();
    const pages = await listPages(GET, { organizationId: 'acme', ...more });
    expect(pages).toHaveLength(2);
    expect(pages.flat().map(({ userId }) => userId)).toEqual(userIds);
    const groupPages = await listPages('/v2/organizations/usergroups/get', {
      organizationId: 'acme',
      includeUsers: true,
    });
    expect(groupPages).toHaveLength(2);
    expect(groupPages.flat().flatMap(({ users }) => users.map(({ userId }: any) => userId))).toEqual(userIds);
  });

  test('users/add keeps one id and all fields of successful calls when five calls add a user concurrently', async () => {
    await customer.addUsers(['x']);
    const answers = await Promise.all(
      ['name', 'email', 'plan', 'color', 'type'].map((field) =>
        customer.addUsers([{ userId: 'ada', [field]: `${field}!` }]),
      ),
    );
    const added = answers.filter(({ ada }) => ada.success);
    expect(new Set(added.map(({ ada }) => ada.id)).size).toBe(1);
    const [ada] = await customer.ok(GET, { organizationId: 'acme', userIds: ['ada'] });
    expect(Object.keys(ada).filter((field) => ada[field] === `${field}!`)).toHaveLength(added.length);
  });
});
