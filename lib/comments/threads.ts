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

/** The keys of a thread's comments begin with its key. */
export type ThreadKey = Pick<Thread, 'createdAt' | 'annotationId'>;
const threadKey = ({ createdAt, annotationId }: ThreadKey) => recordSortKey(createdAt, annotationId);

export function commentKey(scope: DocumentScope, { createdAt, annotationId }: ThreadKey, commentId: number) {
  return { ...scope, annotationId, threadCreatedAt: createdAt, commentId };
}

/**
 * The head of a thread. Callers see a thread only while it has a head. A deletion deletes the head no later than the
 * comments.
 */
export const ThreadEntity = defineEntity({
  type: 'Thread',
  version: 2,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'A thread without its comments: status, assignee, counts',
  schema: Thread,
  pk: (of: DocumentScope) => recordPartition(of, 'THREADS'),
  // `ANNOTATION` sorts before `COMMENT`, so the head is the first item of a thread.
  sk: (key: ThreadKey) => [...threadKey(key), 'ANNOTATION'],
  indexes: { gsi2: locationIndex('thread', 'threads with a location') },
});

export const threadIds = { kind: 'thread', uniqueIn: 'document' } as const;

export const CommentEntity = defineEntity({
  type: 'Comment',
  version: 3,
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
 * Incremented outside of transactions, so requests never conflict on it. A purge looks for threads only in documents
 * that have a counter. A thread must therefore get its number before it is written.
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

export async function reserveThreadNumbers(table: Table, scope: DocumentScope, count: number): Promise<number> {
  return (await increment(table, ThreadCounterEntity, scope, count)) - count + 1;
}

/** `more` is true if the thread has other comments too. */
export interface FirstComments {
  readonly comments: readonly Stored<Comment>[];
  readonly more: boolean;
}

export interface StoredThread extends ThreadWithComments, FirstComments {
  readonly thread: Stored<Thread>;
  readonly comments: readonly Stored<Comment>[];
}

export interface ThreadQuery {
  readonly descending: boolean;
  readonly filters: ThreadFilters;
  readonly limit: number;
  readonly after?: string | undefined;
}

/** For the comments of one thread in a listing. Another endpoint returns the remaining ones. */
const THREAD_BYTES = 1_000_000;
/** For one step of a listing. One DynamoDB query returns about 1 MB. */
const STEP_BYTES = 1_000_000;
const STEP_ITEMS = 2_000;

export class ThreadReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** In the order of the ids. Undefined for a thread that does not exist. */
  async findByIds(
    scope: DocumentScope,
    documentId: string,
    annotationIds: readonly string[],
  ): Promise<(Stored<Thread> | undefined)[]> {
    return findRecords(this.#table, ThreadEntity, scope, { kind: 'thread', documentId, ids: annotationIds });
  }

  async listComments(
    scope: DocumentScope,
    thread: ThreadKey,
    options: Pick<QueryOptions, 'limit' | 'after' | 'descending' | 'bytes'>,
  ): Promise<QueryPage<Comment> & { readonly bytes: number }> {
    return this.#table.query(CommentEntity, scope, { ...options, prefix: [...threadKey(thread), 'COMMENT'] });
  }

  async *commentPages(
    scope: DocumentScope,
    thread: ThreadKey,
    limit: number,
    start?: Comment,
  ): AsyncGenerator<Stored<Comment>[]> {
    const read = (after: string | undefined) => this.listComments(scope, thread, { limit, after });
    for await (const { values } of pages(read, start && CommentEntity.key({ ...scope, ...start }).SK)) yield values;
  }

  /** Yields all comments of a thread whose first comments were read already. */
  async *allComments(
    scope: DocumentScope,
    { thread, comments, more }: ThreadWithComments,
    limit: number,
  ): AsyncGenerator<readonly Comment[]> {
    yield comments;
    if (more) yield* this.commentPages(scope, thread, limit, comments.at(-1));
  }

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

  /** Returns a thread with its comments with these ids, or undefined if it does not exist. */
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

  async firstComments(scope: DocumentScope, thread: ThreadKey, bytes: number): Promise<FirstComments> {
    const { values, next } = await this.listComments(scope, thread, { limit: MAX_COMMENTS, bytes });
    return { comments: values, more: next !== undefined };
  }

  /** A result is undefined if the comment or the head is deleted. */
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
   * Returns the next matching threads with their first comments. One call reads about 1 MB, so it can return fewer than
   * `limit` threads. Keys never change, so a thread that changes during a listing is neither lost nor repeated.
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
    // The last thread may be incomplete, so the next call reads it again. A thread that fills the query alone is read
    // by itself now.
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

/** If `isFresh` is true, the given heads were just read. The first call returns them, and later calls read. */
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

interface ThreadItemGroup {
  readonly key: ThreadKey;
  readonly thread?: Stored<Thread> | undefined;
  readonly comments: readonly Stored<Comment>[];
  readonly more?: boolean;
}

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

/** In descending order, the head is the last item of a thread. In ascending order, its last comment is. */
function sortKeyAfter(key: ThreadKey, descending: boolean): string {
  if (descending) return ThreadEntity.key({ tenant: '', organizationKey: '', documentKey: '', ...key }).SK;
  return keyAfter(threadKey(key));
}

/** Filters other than times are applied after the read, so some of the threads that were read are dropped. */
function hasOtherFilters({ createdAfter: _, createdBefore: __, ...others }: ThreadFilters): boolean {
  return Object.values(others).some((filter) => filter !== undefined);
}

function createdBetween({ createdAfter, createdBefore }: ThreadFilters): [from: string, to: string] | undefined {
  if (createdAfter === undefined && createdBefore === undefined) return undefined;
  // `/` sorts before every digit, and `:` after. A time without an id sorts before all keys that begin with this time.
  return [
    createdAfter === undefined ? '/' : isoTime(createdAfter),
    createdBefore === undefined ? ':' : isoTime(createdBefore),
  ];
}

/** A result is undefined for a deleted thread. */
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

export function threadNotFound(): ApiError {
  return new ApiError('NOT_FOUND', 'Annotation does not exist');
}

export const readThreads = /* @__PURE__ */ storeCapability(ThreadReader, ['GetItem', 'BatchGetItem', 'Query']);
