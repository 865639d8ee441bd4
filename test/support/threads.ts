import { expect } from '@jest/globals';
import { itemsOf, nda } from './content.ts';
import type { Customer } from './customer.ts';
import type { Engine } from './engine.ts';
import { everyItem } from './items.ts';

export const ada = { userId: 'ada', name: 'Ada' };

/** Returns a comment as callers send it. */
export function comment(changes: object = {}) {
  return { commentText: 'hi', from: ada, ...changes };
}

/** Returns a thread as callers send it. It has one comment by default. */
export function thread(annotationId: string, changes: object = {}) {
  return { annotationId, commentData: [comment()], ...changes };
}

/** Adds threads to the document `nda`, or to that in `more`. Creates the document if it does not exist. */
export function addThreads(customer: Customer, commentAnnotations: object[], more: object = {}): Promise<any> {
  return customer.ok('/v2/commentannotations/add', {
    ...nda,
    createOrganization: true,
    createDocument: true,
    commentAnnotations,
    ...more,
  });
}

/** Adds a thread with many comments. Each call adds `each` comments, which must fit into one transaction. */
export async function addLongThread(
  customer: Customer,
  { commentData, ...more }: ReturnType<typeof thread>,
  each = 16,
): Promise<void> {
  const { annotationId } = more;
  expect(await addThreads(customer, [{ ...more, commentData: commentData.slice(0, each) }])).toMatchObject({
    [annotationId]: { success: true },
  });
  for (let i = each; i < commentData.length; i += each)
    await customer.ok('/v2/commentannotations/comments/add', {
      ...nda,
      annotationId,
      commentData: commentData.slice(i, i + each),
    });
}

/** Reads a thread of the document `nda`. Returns null if it does not exist. */
export async function getThread(customer: Customer, annotationId: string): Promise<any> {
  const [thread] = await customer.ok('/v2/commentannotations/get', { ...nda, annotationIds: [annotationId] });
  return thread;
}

/** Returns the ids of threads. */
export const idsIn = (threads: any[]): string[] => threads.map(({ annotationId }) => annotationId);

/** Returns ids that sort in numerical order. */
export const numbered = (prefix: string, count: number) =>
  Array.from({ length: count }, (_each, index) => `${prefix}${String(index).padStart(3, '0')}`);

/** Reads all pages of a listing of threads. Calls `between` with the number of pages after each page. */
export async function threadPages(
  customer: Customer,
  data: object,
  between: (page: number) => Promise<unknown> = async () => undefined,
): Promise<any[][]> {
  const threadsByPage: any[][] = [];
  let pageToken: string | undefined;
  do {
    const { status, body } = await customer.call('/v2/commentannotations/get', { ...data, pageToken });
    expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
    threadsByPage.push(body.result.data);
    pageToken = body.result.nextPageToken ?? undefined;
    expect(body.result.nextPageToken === null || typeof pageToken === 'string').toBe(true);
    await between(threadsByPage.length);
  } while (pageToken !== undefined);
  return threadsByPage;
}

/**
 * Returns the involvements in comments as sorted texts: `<user> made <thread>/<comment>` for the author, otherwise `<user>
 * in <thread>/<comment>`.
 */
export async function involvementsOf(engine: Engine, customer: Customer): Promise<string[]> {
  const involvements = await itemsOf(engine, customer, 'Involvement');
  return involvements
    .map(({ PK, id, commentId, made }) => `${PK.split('#').at(-1)} ${made ? 'made' : 'in'} ${id}/${commentId}`)
    .sort();
}

const contentTypes = ['Thread', 'Comment', 'RecordId', 'Involvement', 'Reaction', 'Job'];

/** Returns the number of items of a customer's threads, by type. */
export async function contentOf(engine: Engine, { apiKey }: Customer): Promise<Record<string, number>> {
  const own = (await everyItem(engine)).filter(
    ({ PK, _t }) => PK.startsWith(`T#${apiKey}#`) && contentTypes.includes(_t),
  );
  return Object.fromEntries([...Map.groupBy(own, ({ _t }) => String(_t))].map(([type, items]) => [type, items.length]));
}
