import { expect } from '@jest/globals';
import { nda } from './content.ts';
import type { Customer } from './customer.ts';
import type { Engine } from './engine.ts';
import { itemsOfTenant } from './items.ts';
import { times } from './times.ts';

export const ada = { userId: 'ada', name: 'Ada' };

/** Returns a comment in the form that requests have. */
export function comment(changes: object = {}) {
  return { commentText: 'hi', from: ada, ...changes };
}

/** Returns a thread in the form that requests have. By default it has one comment. */
export function thread(annotationId: string, changes: object = {}) {
  return { annotationId, commentData: [comment()], ...changes };
}

/**
 * Adds threads to the document `nda`, or to the one that `more` names. Creates a missing document and organization.
 * A thread is an object in the form of requests, or the id of a thread with one comment.
 */
export function addThreads(customer: Customer, threads: readonly (string | object)[], more: object = {}): Promise<any> {
  return customer.ok('/v2/commentannotations/add', {
    ...nda,
    createOrganization: true,
    createDocument: true,
    commentAnnotations: threads.map((each) => (typeof each === 'string' ? thread(each) : each)),
    ...more,
  });
}

/** Adds a thread with many comments. Each call adds `each` of them, which must fit into one transaction. */
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
    await commentCalls(customer, annotationId).add(...commentData.slice(i, i + each));
}

/** Reads a thread of the document `nda`. Returns null if it does not exist. */
export async function getThread(customer: Customer, annotationId: string): Promise<any> {
  const [thread] = await customer.ok('/v2/commentannotations/get', { ...nda, annotationIds: [annotationId] });
  return thread;
}

/** Returns functions that call the endpoints of the comments of a thread of the document `nda`. */
export function commentCalls(customer: Customer, annotationId: string) {
  const path = (verb: string) => `/v2/commentannotations/comments/${verb}`;
  const call = (verb: string, data: object): Promise<any> =>
    customer.untyped(path(verb), { ...nda, annotationId, ...data });
  return {
    add: (...commentData: object[]) => call('add', { commentData }),
    get: (data: object = {}) => call('get', data),
    update: (data: object) => call('update', data),
    remove: (data: object = {}) => call('delete', data),
    error: (verb: string, data: object = {}) => customer.error(path(verb), { ...nda, annotationId, ...data }),
  };
}

export const idsIn = (threads: any[]): string[] => threads.map(({ annotationId }) => annotationId);

/** Returns ids whose text order is their numeric order. */
export const numbered = (prefix: string, count: number) =>
  times(count, (index) => `${prefix}${String(index).padStart(3, '0')}`);

/** Reads all pages of a list of threads. After each page, calls `between` with the number of pages so far. */
export function threadPages(
  customer: Customer,
  data: object,
  between?: (page: number) => Promise<unknown>,
): Promise<any[][]> {
  return customer.pages('/v2/commentannotations/get', data, between);
}

const contentTypes = ['Thread', 'Comment', 'RecordId', 'Involvement', 'Reaction', 'Job'];

/** Returns how many items of each type a customer's threads have. */
export async function contentOf(engine: Engine, { apiKey }: Customer): Promise<Record<string, number>> {
  const own = (await itemsOfTenant(engine, apiKey)).filter(({ _t }) => contentTypes.includes(_t));
  return Object.fromEntries([...Map.groupBy(own, ({ _t }) => String(_t))].map(([type, items]) => [type, items.length]));
}
