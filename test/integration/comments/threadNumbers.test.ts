import { describe, expect, test } from '@jest/globals';
import { acmeWorld } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { JobRunner } from '../../support/jobRunner.ts';
import { addThreads, numbered, thread, threadPages } from '../../support/threads.ts';
import { times } from '../../support/times.ts';

const GET = '/v2/commentannotations/get';

const { customer, itemsOf } = acmeWorld();

/** Returns the number and the index of each thread in a document, by thread id. */
async function numbersIn(documentId: string = nda.documentId): Promise<Record<string, [number, number]>> {
  const rows = (
    await threadPages(customer, { organizationId: nda.organizationId, documentId, pageSize: 1_000 })
  ).flat();
  return Object.fromEntries(
    rows.map(({ annotationId, annotationNumber, annotationIndex }) => [
      annotationId,
      [annotationNumber, annotationIndex],
    ]),
  );
}

/** Deletes a document or an organization. Runs the job that removes its content. */
async function deleteNow(path: string, data: object): Promise<void> {
  await customer.untyped(path, data);
  const [job, ...more] = (await itemsOf('Job')).filter(({ kind }) => /^purge(Organization|Documents)$/.test(kind));
  expect(more).toEqual([]);
  await new JobRunner(Date.now()).finish({ tenant: customer.apiKey, jobId: job!.jobId });
}

describe('the number of a thread', () => {
  test('increases over several calls in a document, and annotationIndex is one less', async () => {
    await addThreads(customer, ['a', 'b', 'c']);
    await addThreads(customer, ['d', 'e']);
    await addThreads(customer, ['a'], { documentId: 'other' });
    expect(await numbersIn()).toEqual({ a: [1, 0], b: [2, 1], c: [3, 2], d: [4, 3], e: [5, 4] });
    expect(await numbersIn('other')).toEqual({ a: [1, 0] });
  });

  test('is the same in a page, by id, by document and after an update', async () => {
    await addThreads(customer, ['a', 'b']);
    await customer.ok('/v2/commentannotations/update', {
      ...nda,
      annotationIds: ['b'],
      updatedData: { status: { id: 'RESOLVED', type: 'terminal' } },
    });
    await customer.ok('/v2/commentannotations/comments/add', {
      ...nda,
      annotationId: 'b',
      commentData: [{ commentText: 'more', from: { userId: 'ada' } }],
    });
    const [byId] = await customer.ok(GET, { ...nda, annotationIds: ['b'] });
    const {
      nda: [grouped],
    } = await customer.ok(GET, { ...nda, groupByDocumentId: true });
    const anywhere = await customer.ok(GET, { organizationId: nda.organizationId, annotationIds: ['b'] });
    expect([byId, grouped, ...anywhere]).toMatchObject(times(3, () => ({ annotationNumber: 2, annotationIndex: 1 })));
    expect(await numbersIn()).toEqual({ a: [1, 0], b: [2, 1] });
  });

  test('is unique when ten calls add threads at the same time', async () => {
    await addThreads(customer, ['first']);
    await Promise.all(
      numbered('t', 10).map((id) => addThreads(customer, [thread(`${id}a`), thread(`${id}b`), thread(`${id}c`)])),
    );
    const numbers = Object.values(await numbersIn()).map(([number]) => number);
    expect(numbers.toSorted((a, b) => a - b)).toEqual(times(31, (index) => index + 1));
  });

  test('stays the same if the thread is added again, and the rejected thread uses up a number', async () => {
    await addThreads(customer, ['a']);
    expect(await addThreads(customer, ['a', 'b'])).toMatchObject({
      a: { success: false },
      b: { success: true },
    });
    expect(await numbersIn()).toEqual({ a: [1, 0], b: [3, 2] });
  });

  test('is not used again after the thread is deleted', async () => {
    await addThreads(customer, ['a', 'b']);
    await customer.ok('/v2/commentannotations/delete', { ...nda, annotationIds: ['b'] });
    await addThreads(customer, ['b']);
    await customer.ok('/v2/commentannotations/delete', nda);
    await addThreads(customer, ['c']);
    expect(await numbersIn()).toEqual({ c: [4, 3] });
  });

  test.each([
    [
      'document',
      '/v2/organizations/documents/delete',
      { organizationId: nda.organizationId, documentIds: [nda.documentId] },
    ],
    ['organization', '/v2/organizations/delete', { organizationIds: [nda.organizationId] }],
  ])('begins with 1 again if the document is created again after its %s was deleted', async (_name, path, data) => {
    await addThreads(customer, ['a', 'b']);
    const [counter] = await itemsOf('ThreadCounter');
    await deleteNow(path, data);
    expect([counter!.last, await itemsOf('ThreadCounter')]).toEqual([2, []]);
    await addThreads(customer, ['c']);
    expect(await numbersIn()).toEqual({ c: [1, 0] });
  });
});
