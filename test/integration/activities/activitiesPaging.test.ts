import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { forAllTests } from '../../support/acmeWorld.ts';
import { activity, enableActivities } from '../../support/activities.ts';
import { type Customer, newCustomer } from '../../support/customer.ts';
import { startEngine } from '../../support/engine.ts';
import { times } from '../../support/times.ts';

const ADD = '/v2/activities/add';
const GET = '/v2/activities/get';
const DELETE = '/v2/activities/delete';

forAllTests(() => startEngine({ table: 'memory' }));
let customer: Customer;
beforeEach(createCustomer);

/** Creates a new customer for the next test, with activity logs turned on. */
async function createCustomer(): Promise<void> {
  customer = await newCustomer();
  await enableActivities(customer);
}

/** Creates one customer with content for all tests of a block. These tests only read. */
function createSharedCustomer(content: () => Promise<void>): void {
  let sharedCustomer: Customer;
  beforeAll(async () => {
    await createCustomer();
    await content();
    sharedCustomer = customer;
  });
  beforeEach(() => {
    customer = sharedCustomer;
  });
}

const organizationId = 'acme';
const add = (documentId: string, sent: object[]) =>
  customer.untyped(ADD, { organizationId, documentId, activities: sent.map(activity) });
const numbers = (count: number) => times(count, (i) => i);
const name = (i: number) => `a${String(i).padStart(4, '0')}`;

const pages = (filter: object, between?: () => Promise<unknown>) =>
  customer.pages(GET, { organizationId, ...filter }, between);

describe("pages of a document's activities", () => {
  createSharedCustomer(async () => {
    await customer.addDocuments(['nda']);
    for (let n = 0; n < 1_250; n += 250)
      await add(
        'nda',
        numbers(250).map((i) => ({ id: name(n + i) })),
      );
  });

  test.each([
    ['asc', numbers(1_250)],
    ['desc', numbers(1_250).reverse()],
  ])('contain each activity once in order %s', async (order, expected) => {
    const listedPages = await pages({ documentId: 'nda', order, pageSize: 500 });
    expect(listedPages.map((page) => page.length)).toEqual([500, 500, 250]);
    expect(listedPages.flat().map(({ id }) => id)).toEqual(expected.map(name));
    expect((await pages({ documentId: 'nda', order })).map((page) => page.length)).toEqual([1_000, 250]);
    expect((await pages({ documentId: 'nda', order, pageSize: 625 })).map((page) => page.length)).toEqual([625, 625]);
  });
});

describe('pages of activities', () => {
  test('contain every activity of an organization once, over empty, full and unusually named documents', async () => {
    const documentIds = [
      'doc1',
      'doc10',
      'doc1#X',
      'DOC1',
      ' ',
      'é',
      '😀'.repeat(256),
      `${'😀'.repeat(255)}x`,
      '~',
      '%7e',
      '__proto__',
      ...numbers(130).map((i) => `many${i}`),
    ];
    await customer.addDocuments(documentIds);
    for (const [i, documentId] of documentIds.entries())
      if (i % 3 !== 1) await add(documentId, [{ id: `x${i}` }, { id: `y${i}` }]);
    await add(
      'many64',
      numbers(300).map((i) => ({ id: `full${i}` })),
    );
    const expected = documentIds
      .flatMap((documentId, i) =>
        i % 3 === 1
          ? []
          : [
              [`x${i}`, documentId],
              [`y${i}`, documentId],
            ],
      )
      .concat(numbers(300).map((i) => [`full${i}`, 'many64']));
    for (const pageSize of [1_000, 70]) {
      const listedPages = await pages({ pageSize });
      expect(listedPages.slice(0, -1).every((page) => page.length === pageSize)).toBe(true);
      expect(
        listedPages
          .flat()
          .map(({ id, metadata }) => [id, metadata.documentId])
          .sort(),
      ).toEqual(expected.toSorted());
      // The list goes through the documents one after the other, so the activities of a document are consecutive.
      const changes = listedPages
        .flat()
        .filter(({ metadata }, i, all) => all[i - 1]?.metadata.documentId !== metadata.documentId);
      expect(changes).toHaveLength(documentIds.filter((_id, i) => i % 3 !== 1 || documentIds[i] === 'many64').length);
    }
  });

  test('contain the activities of a target entity ordered by time across all documents', async () => {
    await customer.addDocuments(['a', 'b', 'c']);
    for (let n = 0; n < 330; n += 30)
      await add(
        ['a', 'b', 'c'][n % 3]!,
        numbers(30).map((i) => ({ id: name(n + i), targetEntityId: 't' })),
      );
    await add(
      'a',
      numbers(50).map((i) => ({ id: `other${i}`, targetEntityId: 'tt' })),
    );
    const listedPages = await pages({ targetEntityId: 't', order: 'asc', pageSize: 130 });
    expect(listedPages.map((page) => page.length)).toEqual([130, 130, 70]);
    expect(listedPages.flat().map(({ id }) => id)).toEqual(numbers(330).map(name));
    expect((await pages({ targetEntityId: 't', pageSize: 110 })).flat().map(({ id }) => id)).toEqual(
      numbers(330).map(name).reverse(),
    );
  });

  test('contain every match when a filter matches few of many activities', async () => {
    await customer.addDocuments(['nda', 'tos']);
    for (let n = 0; n < 2_500; n += 500)
      await add(
        'nda',
        numbers(500).map((i) => ({ id: name(n + i), actionUser: { userId: (n + i) % 250 === 7 ? 'bob' : 'ada' } })),
      );
    await add('tos', [{ id: 'tos', actionUser: { userId: 'bob' } }]);
    const listedPages = await pages({ userId: 'bob', order: 'asc', pageSize: 4 });
    expect(listedPages.map((page) => page.length)).toEqual([4, 4, 3]);
    expect(listedPages.flat().map(({ id }) => id)).toEqual([...numbers(10).map((i) => name(i * 250 + 7)), 'tos']);
  });
});

test('pages of a filtered list contain every match when the service reads several documents together', async () => {
  const documentIds = numbers(10).map((i) => `d${i}`);
  await customer.addDocuments(documentIds);
  for (const documentId of documentIds)
    await add(
      documentId,
      numbers(40).map((i) => ({
        id: `${documentId}-${String(i).padStart(2, '0')}`,
        actionUser: { userId: i % 2 === 0 ? 'bob' : 'ada' },
      })),
    );
  const listedPages = await pages({ userId: 'bob', order: 'asc', pageSize: 150 });
  expect(listedPages.map((page) => page.length)).toEqual([150, 50]);
  expect(listedPages.flat().map(({ id }) => id)).toEqual(
    documentIds.flatMap((documentId) => numbers(20).map((i) => `${documentId}-${String(i * 2).padStart(2, '0')}`)),
  );
});

describe('pages of more than 1 MB and below 5 MB', () => {
  const big = 'x"'.repeat(32_000);
  const addBig = (documentId: string, first: number) =>
    add(
      documentId,
      numbers(20).map((i) => ({
        id: name(first + i),
        targetEntityId: 't',
        displayMessageTemplate: big.slice(0, 32_000),
        entityData: 'y'.repeat(60_000),
        entityTargetData: 'z'.repeat(60_000),
      })),
    );

  async function expectAll(filter: object): Promise<void> {
    const listedPages = await pages(filter);
    expect(listedPages.length).toBeGreaterThan(2);
    expect(
      listedPages
        .flat()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(numbers(60).map(name));
    expect(Math.max(...listedPages.map((page) => Buffer.byteLength(JSON.stringify(page))))).toBeLessThan(5_000_000);
  }

  test('contain each activity of a document once', async () => {
    await customer.addDocuments(['nda', 'tos']);
    for (const first of [0, 20, 40]) await addBig('nda', first);
    await expectAll({ documentId: 'nda' });
  });

  describe('over two documents', () => {
    createSharedCustomer(async () => {
      await customer.addDocuments(['nda', 'tos']);
      for (const [documentId, first] of [
        ['nda', 0],
        ['tos', 20],
        ['nda', 40],
      ] as const)
        await addBig(documentId, first);
    });

    test.each([
      ['an organization', {}],
      ['a target entity', { targetEntityId: 't' }],
      ['a filter', { userId: 'ada' }],
    ])('contain each activity of %s once', async (_of, filter) => {
      await expectAll(filter);
    });
  });
});

test('a page of a target entity ends early if most of its activities are in other documents', async () => {
  await customer.addDocuments(['nda', 'tos']);
  const large = { entityData: 'y'.repeat(65_000), entityTargetData: 'z'.repeat(65_000) };
  for (let n = 0; n < 330; n += 30)
    await add(
      'nda',
      numbers(30).map((i) => ({ id: name(n + i), targetEntityId: 't', ...large })),
    );
  await add('tos', [{ id: 'tos', targetEntityId: 't' }]);
  const listedPages = await pages({ documentId: 'tos', targetEntityId: 't', order: 'asc' });
  expect(listedPages.map((page) => page.map(({ id }: { id: string }) => id))).toEqual([[], ['tos']]);
});

describe('POST /v2/activities/get returns each activity once while others write', () => {
  test.each([
    ['a document', { documentId: 'b' }],
    ['an organization', {}],
    ['a target entity', { targetEntityId: 't' }],
  ])('in pages of %s', async (_of, filter) => {
    const documents = 'documentId' in filter ? ['b'] : ['a', 'b', 'c'];
    await customer.addDocuments(['a', 'b', 'c']);
    for (const documentId of documents)
      await add(
        documentId,
        numbers(200).map((i) => ({ id: `${documentId}${i}`, targetEntityId: 't' })),
      );
    const staying = documents.flatMap((documentId) =>
      numbers(200)
        .filter((i) => i % 10 !== 3)
        .map((i) => `${documentId}${i}`),
    );
    let round = 0;
    for (const order of ['asc', 'desc']) {
      const listedPages = await pages({ ...filter, order, pageSize: 60 }, async () => {
        round += 1;
        await Promise.all(
          documents.map(async (documentId) => {
            // These two calls add some activities, overwrite others and delete one.
            await add(documentId, [
              { id: `${documentId}-new-${round}`, targetEntityId: 't' },
              ...numbers(20).map((i) => ({ id: `${documentId}${i * 10}`, targetEntityId: 't', entityData: round })),
            ]);
            await customer.ok(DELETE, { organizationId, activityIds: [`${documentId}${(round % 20) * 10 + 3}`] });
          }),
        );
      });
      const ids = listedPages.flat().map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.filter((id) => staying.includes(id)).sort()).toEqual(staying.toSorted());
    }
  });
});
