import { describe, expect, test } from '@jest/globals';
import { acmeWorld } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { addThreads, commentCalls, numbered } from '../../support/threads.ts';

const GET = '/v2/commentannotations/get';
const DAY = 24 * 60 * 60 * 1000;

const { customer, itemsOf } = acmeWorld();

const remove = (annotationIds: string[], scope = {}) =>
  customer.ok('/v2/commentannotations/delete', { ...nda, ...scope, annotationIds });
async function page(
  data: object,
): Promise<{ ids: string[]; rows: any[]; nextPageToken: string | null; data: unknown }> {
  const { status, body } = await customer.call(GET, { organizationId: 'acme', ...data });
  expect([status, body.error]).toEqual([200, undefined]);
  const { deletedAnnotations: rows, nextPageToken, data: threads } = body.result;
  return { ids: rows.map(({ annotationId }: any) => annotationId), rows, nextPageToken, data: threads };
}

describe('deletedAfter of commentannotations/get', () => {
  test('lists threads that were deleted at or after the given time, with document and time', async () => {
    const start = Date.now();
    await addThreads(customer, ['a', 'b', 'stays']);
    await remove(['a']);
    await commentCalls(customer, 'b').remove();
    const { ids, rows, data, nextPageToken } = await page({ documentId: 'nda', deletedAfter: start });
    expect([ids.sort(), data, nextPageToken]).toEqual([['a', 'b'], [], null]);
    expect(rows[0]).toEqual({ annotationId: expect.any(String), documentId: 'nda', deletedAt: expect.any(Number) });
    expect(rows[0].deletedAt).toBeGreaterThanOrEqual(start);
    const last = Math.max(...rows.map(({ deletedAt }) => deletedAt));
    expect((await page({ documentId: 'nda', deletedAfter: new Date(last + 1).toISOString() })).ids).toEqual([]);
    expect((await page({ documentId: 'nda', deletedAfter: last })).ids).toContain('b');
  });

  test('lists the deletions in several documents in pages', async () => {
    const documentIds = ['d1', 'd2', 'd3'];
    for (const documentId of documentIds) {
      const ids = numbered(`${documentId}-`, 7);
      await addThreads(customer, ids, { documentId });
      await remove(ids, { documentId });
    }
    const deletedIds: string[] = [];
    let pageToken: string | undefined;
    do {
      const { ids, nextPageToken } = await page({ deletedAfter: 0, pageSize: 4, pageToken });
      deletedIds.push(...ids);
      pageToken = nextPageToken ?? undefined;
    } while (pageToken);
    expect(deletedIds.sort()).toEqual(documentIds.flatMap((documentId) => numbered(`${documentId}-`, 7)));
  });

  test('lists no deletions in another or a deleted document, or in another organization', async () => {
    await addThreads(customer, ['mine']);
    await addThreads(customer, ['elsewhere'], { documentId: 'other' });
    await remove(['mine']);
    expect((await page({ documentId: 'other', deletedAfter: 0 })).ids).toEqual([]);
    await customer.addDocuments(['nda'], { organizationId: 'second' });
    expect((await page({ organizationId: 'second', deletedAfter: 0 })).ids).toEqual([]);
    await customer.ok('/v2/organizations/documents/delete', { organizationId: 'acme', documentIds: ['nda'] });
    expect((await page({ deletedAfter: 0 })).ids).toEqual([]);
  });

  test('lists a deletion for 30 days', async () => {
    await addThreads(customer, ['a']);
    await remove(['a']);
    const [item] = await itemsOf('DeletedThread');
    expect(item!.ttl).toBe(Math.floor((Number(item!.deletedAt) + 30 * DAY) / 1000));
    expect(JSON.stringify(item)).not.toMatch(/ada|comment/);
  });
});
