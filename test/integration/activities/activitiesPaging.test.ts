import { describe, expect, test } from '@jest/globals';
import { acmeWorld } from '../../support/acmeWorld.ts';
import { activity, activityCalls } from '../../support/activities.ts';
import { times } from '../../support/times.ts';

const { customer } = acmeWorld({ table: 'memory' });
const { add: addTo } = activityCalls(customer);
const add = (documentId: string, sent: object[]) => addTo(sent.map(activity), { documentId });
const numbers = (count: number) => times(count, (i) => i);
const name = (i: number) => `a${String(i).padStart(4, '0')}`;

const pages = (filter: object) => customer.pages('/v2/activities/get', { organizationId: 'acme', ...filter });

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
    const listedPages = await pages({ pageSize: 70 });
    expect(listedPages.slice(0, -1).every((page) => page.length === 70)).toBe(true);
    const listed = listedPages.flat();
    expect(listed.map(({ id, metadata }) => [id, metadata.documentId]).sort()).toEqual(expected.toSorted());
    // The list goes through the documents one after the other, so the activities of a document are consecutive.
    const changes = listed.filter(({ metadata }, i) => listed[i - 1]?.metadata.documentId !== metadata.documentId);
    expect(changes).toHaveLength(documentIds.filter((_id, i) => i % 3 !== 1 || documentIds[i] === 'many64').length);
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
