import { beforeAll, describe, expect, test } from '@jest/globals';
import { forAllTests, invalid } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { newCustomer } from '../../support/customer.ts';
import { startEngine } from '../../support/engine.ts';
import { addThreads, getThread, idsIn, numbered, thread, threadPages } from '../../support/threads.ts';

const GET = '/v2/commentannotations/get';

forAllTests(startEngine);

describe('POST /v2/commentannotations/get across documents', () => {
  const customer = forAllTests(newCustomer);
  const documents = numbered('d', 12);
  beforeAll(async () => {
    await customer.addFolders(['f']);
    await customer.addDocuments(documents.slice(0, 5), { folderId: 'f' });
    for (const documentId of documents.filter((_each, index) => index % 2 === 0))
      await addThreads(
        customer,
        ['a', 'b', 'c'].map((id) => thread(`${id}-${documentId}`)),
        { documentId },
      );
    await addThreads(customer, ['a-d001', 'shared'], { documentId: 'd001' });
    await addThreads(customer, ['shared'], { documentId: 'd010' });
  });
  const inDocument = (documentId: string) =>
    documentId === 'd001'
      ? ['shared', 'a-d001']
      : [...(documentId === 'd010' ? ['shared'] : []), `c-${documentId}`, `b-${documentId}`, `a-${documentId}`];
  const withThreads = ['d000', 'd001', 'd002', 'd004', 'd006', 'd008', 'd010'];

  test('lists the threads of an organization document by document', async () => {
    const threads = (await threadPages(customer, { organizationId: 'acme', pageSize: 3 })).flat();
    expect(threads.map(({ annotationId, metadata }) => [metadata.documentId, annotationId])).toEqual(
      withThreads.flatMap((documentId) => inDocument(documentId).map((id) => [documentId, id])),
    );
  });

  test.each([
    ['the documents in a folder', { folderId: 'f', pageSize: 3 }, ['d000', 'd001', 'd002', 'd004']],
    [
      'the given documents, without unknown ones',
      { documentIds: ['d006', 'nowhere', 'd000', 'd006'], pageSize: 2 },
      ['d000', 'd006'],
    ],
  ])('lists the threads of %s', async (_what, data, expected) => {
    const pages = await threadPages(customer, { organizationId: 'acme', ...data });
    expect(idsIn(pages.flat())).toEqual(expected.flatMap(inDocument));
  });

  test('returns metadata and pageInfo unless the call excludes them', async () => {
    const keys = async (data: object) => {
      const read = (more: object) => customer.ok(GET, { organizationId: 'acme', documentId: 'd000', ...data, ...more });
      const rows = [
        ...(await read({})),
        ...(await read({ annotationIds: ['a-d000'] })),
        ...Object.values<any>(await read({ groupByDocumentId: true })).flat(),
      ];
      return [...new Set(rows.map((row) => ['metadata', 'pageInfo'].filter((key) => key in row).join()))];
    };
    expect(await keys({})).toEqual(['metadata,pageInfo']);
    expect(await keys({ includeMetadata: false })).toEqual(['pageInfo']);
    expect(await keys({ includePageInfo: false })).toEqual(['metadata']);
    expect(await keys({ includeMetadata: true, includePageInfo: true })).toEqual(['metadata,pageInfo']);
  });

  test('returns lists and flags even if they are empty or false', async () => {
    const [row] = await customer.ok(GET, { organizationId: 'acme', documentId: 'd000' });
    expect(row).toMatchObject({
      subscribedUsers: [],
      unsubscribedUsers: [],
      subscribedGroups: [],
      customList: [],
      pageInfo: {},
      visibilityConfig: { type: 'public' },
      context: { access: {}, accessFields: [] },
      locationId: null,
      hasDraftComments: false,
      comments: [
        {
          isDraft: false,
          to: [],
          toOrganizationUserGroup: [],
          recorders: [],
          customList: [],
          attachments: [],
          taggedUserContacts: [],
          isCommentTextAvailable: true,
        },
      ],
    });
  });

  test('groups threads by document with groupByDocumentId, with a message of its own', async () => {
    const inD = { organizationId: 'acme', documentIds: ['d000', 'd001', 'd003'] };
    const { message, data } = await customer.result(GET, { ...inD, groupByDocumentId: true });
    expect(message).toBe('Annotations fetched successfully.');
    expect((await customer.result(GET, inD)).message).toBe('Annotation(s) fetched successfully.');
    expect(
      Object.fromEntries(Object.entries<any>(data).map(([documentId, threads]) => [documentId, idsIn(threads)])),
    ).toEqual({ d000: inDocument('d000'), d001: inDocument('d001') });
  });

  test('returns threads in the order of the ids, with null for an unknown id', async () => {
    const namesOf = async (data: object) =>
      (await customer.ok(GET, { organizationId: 'acme', ...data })).map(
        (thread: any) => thread && `${thread.metadata.documentId} ${thread.annotationId}`,
      );
    expect(
      await namesOf({ documentId: 'd000', annotationIds: ['c-d000', 'nothing', 'a-d000', 'c-d000', 'a-d001'] }),
    ).toEqual(['d000 c-d000', null, 'd000 a-d000', null]);
    expect(await namesOf({ documentIds: ['d001', 'd000'], annotationIds: ['a-d001', 'a-d000', 'a-d002'] })).toEqual([
      'd001 a-d001',
      'd000 a-d000',
      null,
    ]);
    expect(await namesOf({ documentIds: ['d001', 'd000', 'd001'], annotationIds: ['a-d001'] })).toEqual([
      'd001 a-d001',
    ]);
    expect((await namesOf({ annotationIds: ['shared', 'nothing'] })).toSorted()).toEqual([
      'd001 shared',
      'd010 shared',
      null,
    ]);
    expect(await namesOf({ folderId: 'f', annotationIds: ['shared', 'a-d006'] })).toEqual(['d001 shared', null]);
    expect(await namesOf({ documentId: 'd000', annotationIds: ['a-d000', 'b-d000'], statusIds: ['RESOLVED'] })).toEqual(
      [null, null],
    );
    expect(
      Object.keys(
        await customer.ok(GET, {
          organizationId: 'acme',
          annotationIds: ['shared', 'nothing'],
          groupByDocumentId: true,
        }),
      ),
    ).toEqual(expect.arrayContaining(['d001', 'd010']));
  });

  test.each([
    ['an unknown document', { documentId: 'none' }, 404],
    ['an unknown folder', { folderId: 'none' }, 404],
    ['an unknown document, with ids', { documentId: 'none', annotationIds: ['a'] }, 404],
    ['an unknown folder, with ids', { folderId: 'none', annotationIds: ['a'] }, 404],
    ['two agent filters', { agentId: 'a', agentComments: true }, 400],
  ])('rejects %s', async (_what, data, status) => {
    expect((await customer.call(GET, { organizationId: 'acme', ...data })).status).toBe(status);
  });

  test('finds an id that many documents have, also in a folder and after deletions', async () => {
    const wide = await newCustomer();
    const documentIds = numbered('w', 110);
    const [deleted, inFolder] = [documentIds.slice(0, 105), documentIds.slice(105)];
    await wide.addDocuments(deleted);
    await wide.addDocuments(inFolder, { folderId: 'f', createFolder: true });
    await Promise.all(documentIds.map((documentId) => addThreads(wide, ['same'], { documentId })));
    const find = (data: object) => wide.call(GET, { organizationId: 'acme', annotationIds: ['same'], ...data });
    expect((await find({})).body.result.data).toHaveLength(110);
    expect(idsIn((await find({ folderId: 'f' })).body.result.data)).toEqual(inFolder.map(() => 'same'));
    const { status, body } = await find({ annotationIds: ['same', ...numbered('n', 29)] });
    expect([status, body.error.message]).toEqual([
      400,
      'annotationIds must be given together with documentId or documentIds: too many documents have a thread same',
    ]);
    await wide.ok('/v2/organizations/documents/delete', { organizationId: 'acme', documentIds: deleted });
    expect(idsIn((await find({})).body.result.data)).toEqual(inFolder.map(() => 'same'));
  });

  test('refuses order together with annotationIds, which set the order', async () => {
    const data = { organizationId: 'acme', documentId: 'd000', annotationIds: ['a-d000'], order: 'asc' };
    expect(await customer.error(GET, data)).toEqual(invalid('order must not be given together with annotationIds'));
    expect(idsIn(await customer.ok('/v1/commentannotations/get', data))).toEqual(['a-d000']);
  });

  test('lists all threads of an organization with many empty documents', async () => {
    const wide = await newCustomer();
    const documentIds = numbered('n', 450);
    await wide.addDocuments(documentIds);
    for (const documentId of ['n003', 'n200', 'n449'])
      await addThreads(wide, [thread(`in-${documentId}`)], { documentId });
    expect(idsIn((await threadPages(wide, { organizationId: 'acme' })).flat())).toEqual([
      'in-n003',
      'in-n200',
      'in-n449',
    ]);
  });
});

describe('POST /v2/commentannotations/get: filters', () => {
  const customer = forAllTests(newCustomer);
  beforeAll(async () => {
    await addThreads(customer, [
      thread('plain', { createdAt: 1 }),
      thread('named', { createdAt: 2, location: { locationName: 'Page' } }),
      thread('resolved', { createdAt: 3, status: 'RESOLVED' }),
    ]);
  });

  test.each<[object, string[]]>([
    [{ statusId: 'RESOLVED', statusIds: ['OPEN', 'RESOLVED'] }, ['resolved']],
    [{ statusId: 'RESOLVED', statusIds: ['OPEN'] }, []],
    [{ createdAfter: 2, createdBefore: '1970-01-01T00:00:00.003Z' }, ['named']],
  ])('selects threads by %j', async (filters, expected) => {
    expect(idsIn(await customer.ok(GET, { ...nda, ...filters }))).toEqual(expected);
  });

  test('returns null for a thread in annotationIds that does not match statusId', async () => {
    expect(await customer.ok(GET, { ...nda, annotationIds: ['plain'], statusId: 'RESOLVED' })).toEqual([null]);
  });

  test('finds a location with only a name or a version by its locationId', async () => {
    const version = { id: 0, name: 'Draft' };
    await addThreads(customer, [
      thread('draft', { location: { version } }),
      thread('next', { location: { version: { ...version, id: 1 } } }),
    ]);
    for (const id of ['named', 'draft']) {
      const { locationId } = await getThread(customer, id);
      expect(locationId).toMatch(/^[0-9a-f]{32}$/);
      expect(idsIn(await customer.ok(GET, { ...nda, locationIds: [locationId] }))).toEqual([id]);
    }
  });
});
