import * as z from 'zod';
import type { DocumentScope } from '../content/documentScope.ts';
import { type Involvement, locationIndex, recordPartition, recordSortKey } from '../content/involvements.ts';
import { findRecords } from '../content/recordIds.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import type { ThreadAccess } from '../directory/rules/visibility.ts';
import { jsonBytes } from '../shared/bytes.ts';
import { ApiError } from '../shared/errors.ts';
import { isoTime } from '../shared/isoTime.ts';
import { increment } from '../table/counters.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { keyAfter, sortableNumber } from '../table/keys.ts';
import { pages } from '../table/pages.ts';
import type { ListedRecord, RecordPage } from '../table/recordPage.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { itemOf, type QueryableEntity, type QueryOptions, type QueryPage, type Table } from '../table/table.ts';
import { Comment, MAX_COMMENTS } from './rules/comments.ts';
import { matchesFilters, type ThreadFilters } from './rules/threadFilters.ts';
import type { ExistingThread } from './rules/threadParts.ts';
import { Thread, threadAccessOf, type ThreadWithComments } from './rules/threads.ts';

/** The key of a thread. The keys of its comments begin with this key, so all items of a thread are next to each other. */
export type ThreadKey = Pick<Thread, 'createdAt' | 'annotationId'>;
const threadKey = ({ createdAt, annotationId }: ThreadKey) => recordSortKey(createdAt, annotationId);

/** Returns the key of a comment in a thread. */
export function commentKey(scope: DocumentScope, { createdAt, annotationId }: ThreadKey, commentId: number) {
  return { ...scope, annotationId, threadCreatedAt: createdAt, commentId };
}

/**
 * The head of a thread: the thread without its comments. Callers see a thread only while it has a head. A deletion deletes the
 * head first and the comments later.
 */
export const ThreadEntity = defineEntity({
  type: 'Thread',
  version: 2,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'A thread without its comments: status, assignee, counts',
  schema: Thread,
  pk: (of: DocumentScope) => recordPartition(of, 'THREADS'),
  // `ANNOTATION` sorts before `COMMENT`, so the head comes before the comments of the thread.
  sk: (key: ThreadKey) => [...threadKey(key), 'ANNOTATION'],
  indexes: { gsi2: locationIndex('thread', 'threads with a location') },
});

export const threadIds = { kind: 'thread', uniqueIn: 'document' } as const;

/** A comment. It sorts after the head of its thread. */
export const CommentEntity = defineEntity({
  type: 'Comment',
  version: 2,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'A comment of a thread',
  schema: Comment,
  pk: (of: DocumentScope) => recordPartition(of, 'THREADS'),
  sk: (key: Pick<Comment, 'annotationId' | 'threadCreatedAt' | 'commentId'>) => [
    ...threadKey({ annotationId: key.annotationId, createdAt: key.threadCreatedAt }),
    'COMMENT',
    sortableNumber(key.commentId),
  ],
});

/** Threads and comments, in the order of the partition that they share. */
export const ThreadItems: QueryableEntity<Thread | Comment, DocumentScope> = {
  partition: (scope) => ThreadEntity.partition(scope),
  fromItem: (item, now) =>
    item._t === CommentEntity.type ? CommentEntity.fromItem(item, now) : ThreadEntity.fromItem(item, now),
};

/**
 * The counter of thread numbers. It is incremented outside of transactions, so requests never conflict on it. A purge looks for
 * threads only in documents that have a counter. Each thread must therefore get its number before it is written.
 */
export const ThreadCounterEntity = defineEntity({
  type: 'ThreadCounter',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'The largest number that a thread of a document ever got',
  schema: z.object({ last: z.number() }),
  pk: (of: DocumentScope) => recordPartition(of, 'THREADNUMBERS'),
  sk: (_key: object) => ['COUNTER'],
});

/**
 * Reserves `count` consecutive thread numbers of a document and returns the first one. Numbers begin at 1. A reserved number that
 * stays unused is never reserved again.
 */
export async function reserveThreadNumbers(table: Table, scope: DocumentScope, count: number): Promise<number> {
  return (await increment(table, ThreadCounterEntity, scope, count)) - count + 1;
}

/** The first comments of a thread. `more` is true if the thread has other comments too. */
export interface FirstComments {
  readonly comments: readonly Stored<Comment>[];
  readonly more: boolean;
}

export interface StoredThread extends ThreadWithComments, FirstComments {
  readonly thread: Stored<Thread>;
  readonly comments: readonly Stored<Comment>[];
}

export interface ThreadQuery {
  /** True if the newest thread comes first. */
  readonly descending: boolean;
  readonly filters: ThreadFilters;
  readonly limit: number;
  /** The `next` of the previous page, or the sort key of its last thread. Undefined for the first page. */
  readonly after?: string | undefined;
}

/** The largest size of one thread's comments in a listing, in bytes. Another endpoint returns the remaining comments. */
const THREAD_BYTES = 1_000_000;
/** One step of a listing reads at most this many bytes and this many items. One DynamoDB query returns about 1 MB. */
const STEP_BYTES = 1_000_000;
const STEP_ITEMS = 2_000;

export class ThreadReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Returns the head of one thread per id, in the order of the ids. The value is undefined for a thread that does not exist.
   * `documentId` is the id that the customer chose.
   */
  async findByIds(
    scope: DocumentScope,
    documentId: string,
    annotationIds: readonly string[],
  ): Promise<(Stored<Thread> | undefined)[]> {
    return findRecords(this.#table, ThreadEntity, scope, { kind: 'thread', documentId, ids: annotationIds });
  }

  /** Returns a page of a thread's comments, ordered by id. */
  async listComments(
    scope: DocumentScope,
    thread: ThreadKey,
    options: Pick<QueryOptions, 'limit' | 'after' | 'descending' | 'bytes'>,
  ): Promise<QueryPage<Comment> & { readonly bytes: number }> {
    return this.#table.query(CommentEntity, scope, { ...options, prefix: [...threadKey(thread), 'COMMENT'] });
  }

  /** Yields all comments of a thread after `start`, page by page. */
  async *commentPages(
    scope: DocumentScope,
    thread: ThreadKey,
    limit: number,
    start?: Comment,
  ): AsyncGenerator<Stored<Comment>[]> {
    const read = (after: string | undefined) => this.listComments(scope, thread, { limit, after });
    for await (const { values } of pages(read, start && CommentEntity.key({ ...scope, ...start }).SK)) yield values;
  }

  /** Yields all comments of a thread whose first comments were read already, page by page. */
  async *allComments(
    scope: DocumentScope,
    { thread, comments, more }: ThreadWithComments,
    limit: number,
  ): AsyncGenerator<readonly Comment[]> {
    yield comments;
    if (more) yield* this.commentPages(scope, thread, limit, comments.at(-1));
  }

  /** Returns one comment per id, in the order of the ids. The value is undefined if the thread has no such comment. */
  async findComments(
    scope: DocumentScope,
    thread: ThreadKey,
    commentIds: readonly number[],
  ): Promise<(Stored<Comment> | undefined)[]> {
    return this.#table.getMany(
      CommentEntity,
      commentIds.map((commentId) => commentKey(scope, thread, commentId)),
    );
  }

  /** Returns a thread with those of its comments that have these ids, or undefined if it does not exist. */
  async findParts(
    scope: DocumentScope,
    key: ThreadKey,
    commentIds: readonly number[],
  ): Promise<ExistingThread | undefined> {
    const [thread, ...comments] = await this.#table.batchGet(
      itemOf(ThreadEntity, { ...scope, ...key }),
      ...commentIds.map((commentId) => itemOf(CommentEntity, commentKey(scope, key, commentId))),
    );
    return thread && { thread, comments: comments.filter((comment) => comment !== undefined), reactions: [] };
  }

  /** Returns the first comments of a thread, up to about `bytes`. */
  async firstComments(scope: DocumentScope, thread: ThreadKey, bytes: number): Promise<FirstComments> {
    const { values, next } = await this.listComments(scope, thread, { limit: MAX_COMMENTS, bytes });
    return { comments: values, more: next !== undefined };
  }

  /**
   * Returns the comment that each involvement (`InvolvementEntity`) names, with the head of its thread. The value is undefined if
   * the comment or the head is deleted.
   */
  async findInvolvedComments(
    { tenant, organizationKey }: OrganizationScope,
    involvements: readonly Pick<Involvement, 'documentKey' | 'id' | 'createdAt' | 'commentId'>[],
  ): Promise<({ thread: Stored<Thread>; comment: Stored<Comment> } | undefined)[]> {
    const keys = involvements.map(({ documentKey, id, createdAt, commentId = -1 }) => ({
      tenant,
      organizationKey,
      documentKey,
      annotationId: id,
      createdAt,
      threadCreatedAt: createdAt,
      commentId,
    }));
    const [threads, comments] = await Promise.all([
      this.#table.getMany(ThreadEntity, keys),
      this.#table.getMany(CommentEntity, keys),
    ]);
    return keys.map((_key, index) => {
      const [thread, comment] = [threads[index], comments[index]];
      return thread && comment && { thread, comment };
    });
  }

  /**
   * Returns the next threads of a document that match the filters, with their comments. One call reads about 1 MB, so it can
   * return fewer than `limit` threads, or none. Keys never change, so a thread that changes during a listing is neither lost nor
   * repeated.
   */
  async list(
    scope: DocumentScope,
    { descending, filters, limit, after }: ThreadQuery,
  ): Promise<RecordPage<StoredThread>> {
    const between = createdBetween(filters);
    if (between && between[0] > between[1]) return { records: [], next: undefined, bytes: 0 };
    const itemLimit = hasOtherFilters(filters) ? STEP_ITEMS : Math.min(4 * limit + 20, STEP_ITEMS);
    const { values, next } = await this.#table.query(ThreadItems, scope, {
      between,
      after,
      descending,
      bytes: STEP_BYTES,
      limit: itemLimit,
    });
    const bytes = values.reduce((sum, value) => sum + jsonBytes(value), 0);
    const groups = groupByThread(values, descending);
    // The last thread may be incomplete, so the next call reads it again. If the query returned only this thread, the thread is
    // read completely now.
    const incomplete = next === undefined ? undefined : groups.pop();
    if (incomplete && groups.length === 0) groups.push(await this.#readWhole(scope, incomplete.key));
    const records: ListedRecord<StoredThread>[] = [];
    for (const { thread, comments, more = false } of groups) {
      if (records.length === limit) return { records, next: records.at(-1)?.key, bytes };
      if (thread && matchesFilters(thread, filters))
        records.push({ key: sortKeyAfter(thread, descending), value: { thread, comments, more } });
    }
    const last = groups.at(-1);
    return { records, next: next === undefined || !last ? undefined : sortKeyAfter(last.key, descending), bytes };
  }

  /** Yields all threads that match the filters, page by page, oldest first. */
  async *pages(scope: DocumentScope, filters: ThreadFilters, limit: number): AsyncGenerator<StoredThread[]> {
    const read = (after: string | undefined) => this.list(scope, { descending: false, filters, limit, after });
    for await (const { records } of pages(read)) yield records.map(({ value }) => value);
  }

  async #readWhole(scope: DocumentScope, key: ThreadKey): Promise<ThreadItemGroup> {
    const [thread, first] = await Promise.all([
      this.#table.get(ThreadEntity, { ...scope, ...key }),
      this.firstComments(scope, key, THREAD_BYTES),
    ]);
    return { key, thread, ...first };
  }
}

/**
 * Returns a function that reads the heads of threads. If `isFresh` is true, the given heads were just read. The first call then
 * returns them unchanged, and only later calls read.
 */
export function threadHeadReader(
  table: Table,
  scope: DocumentScope,
  isFresh = true,
): (threads: readonly Stored<Thread>[]) => Promise<readonly (Stored<Thread> | undefined)[]> {
  let skipsRead = isFresh;
  return async (threads) => {
    if (skipsRead) {
      skipsRead = false;
      return threads;
    }
    return table.getMany(
      ThreadEntity,
      threads.map((thread) => ({ ...scope, ...thread })),
    );
  };
}

/** The items of one thread. `thread` is undefined if its head is deleted. */
interface ThreadItemGroup {
  readonly key: ThreadKey;
  readonly thread?: Stored<Thread> | undefined;
  readonly comments: readonly Stored<Comment>[];
  readonly more?: boolean;
}

/** Returns the items of a partition in groups, one per thread. The comments of a group are ordered by id. */
function groupByThread(items: readonly Stored<Thread | Comment>[], descending: boolean): ThreadItemGroup[] {
  const groups: { key: ThreadKey; thread?: Stored<Thread>; comments: Stored<Comment>[] }[] = [];
  for (const item of items) {
    const { annotationId } = item;
    const createdAt = 'commentId' in item ? item.threadCreatedAt : item.createdAt;
    let group = groups.at(-1);
    if (group?.key.annotationId !== annotationId || group.key.createdAt !== createdAt)
      groups.push((group = { key: { annotationId, createdAt }, comments: [] }));
    if ('commentId' in item) group.comments.push(item);
    else group.thread = item;
  }
  if (descending) for (const { comments } of groups) comments.reverse();
  return groups;
}

/**
 * Returns the sort key after which the next thread begins. If ascending, it sorts after the thread's last comment. If descending,
 * it is the key of the thread's head.
 */
function sortKeyAfter(key: ThreadKey, descending: boolean): string {
  if (descending) return ThreadEntity.key({ tenant: '', organizationKey: '', documentKey: '', ...key }).SK;
  return keyAfter(threadKey(key));
}

/**
 * Returns whether there are filters other than the creation time. They are applied after the read, so some of the threads that
 * were read are dropped.
 */
function hasOtherFilters({ createdAfter: _, createdBefore: __, ...others }: ThreadFilters): boolean {
  return Object.values(others).some((filter) => filter !== undefined);
}

/** Returns the range of sort keys for the filters by creation time, or undefined without such filters. */
function createdBetween({ createdAfter, createdBefore }: ThreadFilters): [from: string, to: string] | undefined {
  if (createdAfter === undefined && createdBefore === undefined) return undefined;
  // `/` sorts before every digit, and `:` sorts after every digit. A time without an id sorts before all keys that begin with
  // this time.
  return [
    createdAfter === undefined ? '/' : isoTime(createdAfter),
    createdBefore === undefined ? ':' : isoTime(createdBefore),
  ];
}

/**
 * Returns the current access rules of each thread. The value is undefined for a deleted thread. `organizationId` is the id that
 * the customer chose. Sends one BatchGet per 100 threads.
 */
export async function readThreadAccess(
  table: Table,
  { tenant, organizationKey }: OrganizationScope,
  organizationId: string,
  threads: readonly (ThreadKey & Pick<DocumentScope, 'documentKey'>)[],
): Promise<(ThreadAccess | undefined)[]> {
  const storedThreads = await table.getMany(
    ThreadEntity,
    threads.map(({ documentKey, annotationId, createdAt }) => ({
      tenant,
      organizationKey,
      documentKey,
      annotationId,
      createdAt,
    })),
  );
  return storedThreads.map((thread) => thread && threadAccessOf(thread, organizationId));
}

/** Returns the NOT_FOUND error for a thread. */
export function threadNotFound(): ApiError {
  return new ApiError('NOT_FOUND', 'Annotation does not exist');
}

export const readThreads = /* @__PURE__ */ storeCapability(ThreadReader, ['GetItem', 'BatchGetItem', 'Query']);
