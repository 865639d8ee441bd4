import { beforeAll, describe, expect, test } from '@jest/globals';
import { endpoint as countEndpoint } from '../../../functions/v2/organizations/documents/count/get.ts';
import { DocumentSearch, searchDocuments } from '../../../lib/directory/documentSearch.ts';
import { openTable } from '../../../lib/table/table.ts';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import { endpointHandler } from '../../support/functionHandlers.ts';
import { post } from '../../support/requests.ts';
import { times } from '../../support/times.ts';

const [ADD, GET, COUNT] = ['add', 'get', 'count/get'].map((verb) => `/v2/organizations/documents/${verb}`) as [
  string,
  string,
  string,
];
const acme = { organizationId: 'acme' };
const isDraft = [{ key: 'status', operator: '==', value: 'draft' }];

const { customer } = acmeWorld({ table: 'memory', isShared: true });
const numbered = (prefix: string, count: number) =>
  times(count, (index) => `${prefix}${String(index).padStart(4, '0')}`);
const crowd = numbered('c', 2_600);
const ids = (documents: any[]) => documents.map(({ id }) => id);

/**
 * Creates the organization acme with documents at the top and in a folder. A second organization has many documents,
 * and every 100th of them is a draft.
 */
beforeAll(async () => {
  const document = (documentId: string, status: string, version: number) => ({
    documentId,
    metadata: { status, version },
  });
  await customer.addFolders(['f']);
  await customer.untyped(ADD, {
    ...acme,
    documents: [document('a', 'draft', 1), document('b', 'final', 2), { documentId: 'bare' }],
  });
  await customer.untyped(ADD, {
    ...acme,
    folderId: 'f',
    documents: [document('filed', 'draft', 3), document('filed2', 'final', 4)],
  });
  for (let from = 0; from < crowd.length; from += 500) {
    const documents = crowd.slice(from, from + 500).map((documentId, index) => ({
      documentId,
      ...((from + index) % 100 === 99 && { metadata: { status: 'draft' } }),
    }));
    await customer.untyped(ADD, { organizationId: 'crowd', createOrganization: true, documents });
  }
}, 60_000);

/** Returns the document ids of each page. */
const pages = async (data: object) => (await customer.pages(GET, { ...acme, ...data })).map(ids);

const error = (path: string, data: object) => customer.error(path, { ...acme, ...data });

describe('filters of documents/get', () => {
  test('read a limited number of documents per page, and return every matching document', async () => {
    const drafts = crowd.filter((_id, index) => index % 100 === 99);
    const documentPages = await pages({ organizationId: 'crowd', filters: isDraft, pageSize: 7 });
    expect(documentPages.flat()).toEqual(drafts);
    expect(Math.max(...documentPages.map(({ length }) => length))).toBe(7);
    expect((await pages({ organizationId: 'crowd', filters: isDraft })).map(({ length }) => length)).toEqual([20, 6]);
  });

  test.each([
    [
      'filters[0].value must be a list of 1 to 30 values with the operators in, not-in, array-contains-any',
      [{ key: 'status', operator: 'in', value: 'draft' }],
    ],
    [
      'filters[0].value must be a string, a number or a boolean with the operators <, <=, >, >=',
      [{ key: 'status', operator: '<', value: ['draft'] }],
    ],
  ] as const)('are refused by documents/get and documents/count/get: %s', async (message, filters) => {
    expect([await error(GET, { filters }), await error(COUNT, { filters })]).toEqual([
      invalid(message),
      invalid(message),
    ]);
  });
});

describe('documents/count/get', () => {
  test('counts the documents that match the filters, and returns filtersApplied: true', async () => {
    const { body } = await customer.call(COUNT, { ...acme, filters: isDraft });
    expect(body.result).toEqual({
      status: 'success',
      message: 'Documents count retrieved successfully.',
      data: { count: 2, filtersApplied: true },
    });
    expect(await customer.untyped(COUNT, { ...acme, folderId: 'f', filters: isDraft })).toEqual({
      count: 1,
      filtersApplied: true,
    });
    expect(await customer.untyped(COUNT, { organizationId: 'crowd', filters: isDraft })).toEqual({
      count: 26,
      filtersApplied: true,
    });
    expect(await customer.untyped(COUNT, acme)).toEqual({ count: 5 });
  });

  test('counts all documents and returns filtersApplied: false if there are too many documents to filter', async () => {
    const count = async (organizationId: string, limit: number) => {
      const open = (env: Parameters<typeof searchDocuments.open>[0]) => new DocumentSearch(openTable(env), limit);
      const search = { ...searchDocuments, open };
      const handler = endpointHandler({ ...countEndpoint, uses: { ...countEndpoint.uses, search } });
      return (await post(handler, customer.headers, { organizationId, filters: isDraft })).body.result.data;
    };
    expect(await count('crowd', 500)).toEqual({ count: 2_600, filtersApplied: false });
    expect(await count('crowd', 2_600)).toEqual({ count: 26, filtersApplied: true });
    expect(await count('acme', 500)).toEqual({ count: 2, filtersApplied: true });
  });

  test('counts only documents at the top level with excludeFolderDocs', async () => {
    expect(await customer.untyped(COUNT, { ...acme, excludeFolderDocs: true })).toEqual({ count: 3 });
    expect(await customer.untyped(COUNT, { ...acme, excludeFolderDocs: false })).toEqual({ count: 5 });
  });
});

describe('the folderId root', () => {
  const root = { folderId: 'root' };

  test('selects the documents that are in no folder', async () => {
    expect((await pages({ ...root, pageSize: 2 })).flat()).toEqual(['a', 'b', 'bare']);
    expect(await pages({ ...root, filters: isDraft })).toEqual([['a']]);
    expect(await pages({ ...root, documentIds: ['filed', 'b'] })).toEqual([['b']]);
    expect(await customer.untyped(COUNT, { ...acme, ...root })).toEqual({ count: 3 });
    expect(await customer.untyped(COUNT, { ...acme, ...root, filters: isDraft })).toEqual({
      count: 1,
      filtersApplied: true,
    });
  });

  test('adds documents to no folder', async () => {
    const data = { organizationId: 'rooted', createOrganization: true, createFolder: true, ...root };
    await customer.untyped(ADD, { ...data, documents: [{ documentId: 'd' }] });
    const [document] = await customer.untyped(GET, { organizationId: 'rooted' });
    expect([document.id, document.folderId]).toEqual(['d', undefined]);
  });
});
