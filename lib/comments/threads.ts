import { Comment, MAX_COMMENTS } from './rules/comments.ts';
import { matchesFilters, type ThreadFilters } from './rules/threadFilters.ts';
import { Thread, type ThreadWithComments } from './rules/threads.ts';
import { instantKey } from '../shared/times.ts';
import { ApiError } from '../shared/errors.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import type { OrganizationScope } from '../directory/folders/folders.ts';
import { keyPrefix } from '../table/keys.ts';
import type { QueryPage, QueryableEntity, QueryOptions, Table } from '../table/table.ts';
import { type Involvement, recordSortKey, recordPartition } from '../content/involvements.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { findRecordIds } from '../content/recordIds.ts';
import type { ListedRecord, RecordPage } from '../content/recordListing.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** What the keys of a thread and its comments begin with. All of them share it, so that no other thread's key comes in between. */
export type ThreadKey = Pick<Thread, 'createdAt' | 'annotationId'>;
const threadKey = ({ createdAt, annotationId }: ThreadKey) => recordSortKey(createdAt, annotationId);

/** The head of a thread. What has no head is not there: comments lie behind it, and are written before it and removed after it. */
export const ThreadEntity = defineEntity({
  type: 'Thread',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'A thread: status, assignee, counts, and what else is not a comment',
  schema: Thread,
  pk: (of: DocumentScope) => recordPartition(of, 'THREADS'),
  // Sorts before its comments.
  sk: (key: ThreadKey) => [...threadKey(key), 'ANNOTATION'],
  indexes: {
    // The only thread that moves in the index is one whose location is changed.
    gsi2: {
      holds: 'threads with a location',
      pk: ({ tenant, documentId, locationKey }) =>
        locationKey === undefined ? undefined : [tenant, 'LOCATION', documentId, locationKey],
      sk: ({ organizationKey, createdAt, annotationId }) => [
        organizationKey,
        'thread',
        instantKey(createdAt),
        annotationId,
      ],
    },
  },
});

/** A comment, right behind the head of its thread, by its id. */
export const CommentEntity = defineEntity({
  type: 'Comment',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'A comment of a thread',
  schema: Comment,
  pk: (of: DocumentScope) => recordPartition(of, 'THREADS'),
  sk: ({
    annotationId,
    threadCreatedAt,
    commentId,
  }: Pick<Comment, 'annotationId' | 'threadCreatedAt' | 'commentId'>) => [
    ...threadKey({ annotationId, createdAt: threadCreatedAt }),
    'COMMENT',
    String(commentId).padStart(16, '0'),
  ],
});

/** Both, as they lie in their partition. */
const ThreadItems: QueryableEntity<Thread | Comment, DocumentScope> = {
  partition: (scope) => ThreadEntity.partition(scope),
  fromItem: (item, now) =>
    item._t === CommentEntity.type ? CommentEntity.fromItem(item, now) : ThreadEntity.fromItem(item, now),
};

/** The first comments of a thread, and whether there are more. */
export interface FirstComments {
  readonly comments: readonly Stored<Comment>[];
  readonly more: boolean;
}

/** A thread as it was read, with comments of it. */
export interface StoredThread extends ThreadWithComments, FirstComments {
  readonly thread: Stored<Thread>;
  readonly comments: readonly Stored<Comment>[];
}

/** How a listing reads the threads of a document. */
export interface ThreadQuery {
  /** By creation, the latest first. */
  readonly descending: boolean;
  readonly filters: ThreadFilters;
  /** How many threads are wanted at most. */
  readonly limit: number;
  /** Where the listing stopped, as the key of a listed thread or `next` said. */
  readonly after?: string | undefined;
}

/** How much of its comments a thread brings along in a listing; further ones are read by themselves. */
const THREAD_BYTES = 1_000_000;
/** What one step of a listing reads, about what one query of DynamoDB gives. */
const STEP_BYTES = 1_000_000;
const STEP_ITEMS = 2_000;

export class ThreadReader {
  protected readonly table: Table;

  constructor(table: Table) {
    this.table = table;
  }

  /** The heads of threads by the customer's ids, undefined where there is none. `within` is the customer's id of the document. */
  async findByIds(
    scope: DocumentScope,
    within: string,
    annotationIds: readonly string[],
  ): Promise<(Stored<Thread> | undefined)[]> {
    const positions = await findRecordIds(
      this.table,
      scope,
      annotationIds.map((id) => ({ kind: 'thread', id, within })),
    );
    const found = positions.flatMap((position, index) =>
      position ? [{ ...scope, annotationId: annotationIds[index] as string, createdAt: position.createdAt }] : [],
    );
    const threads = (await this.table.getMany(ThreadEntity, found)).values();
    return positions.map((position) => position && threads.next().value);
  }

  /** A page of a thread's comments in the order of their ids. */
  async listComments(
    scope: DocumentScope,
    thread: ThreadKey,
    options: Pick<QueryOptions, 'limit' | 'after' | 'descending' | 'bytes'>,
  ): Promise<QueryPage<Comment>> {
    return this.table.query(CommentEntity, scope, { ...options, prefix: [...threadKey(thread), 'COMMENT'] });
  }

  /** The comments of a thread by their ids, undefined where there is none. */
  async findComments(
    scope: DocumentScope,
    thread: ThreadKey,
    commentIds: readonly number[],
  ): Promise<(Stored<Comment> | undefined)[]> {
    const { annotationId, createdAt } = thread;
    return this.table.getMany(
      CommentEntity,
      commentIds.map((commentId) => ({ ...scope, annotationId, threadCreatedAt: createdAt, commentId })),
    );
  }

  /** The comments of a thread, or the first ones, up to about so many bytes. */
  async firstComments(scope: DocumentScope, thread: ThreadKey, bytes: number): Promise<FirstComments> {
    const { values, next } = await this.listComments(scope, thread, { limit: MAX_COMMENTS, bytes });
    return { comments: values, more: next !== undefined };
  }

  /** The comments of a user's data with the heads of their threads, by the edges that lead to them; undefined where either is gone. */
  async findInvolvedComments(
    scope: OrganizationScope,
    edges: readonly Pick<Involvement, 'documentKey' | 'id' | 'createdAt' | 'commentId'>[],
  ): Promise<({ thread: Stored<Thread>; comment: Stored<Comment> } | undefined)[]> {
    const { tenant, organizationKey } = scope;
    const at = edges.map(({ documentKey, id, createdAt, commentId = -1 }) => ({
      tenant,
      organizationKey,
      documentKey,
      annotationId: id,
      createdAt,
      threadCreatedAt: createdAt,
      commentId,
    }));
    const [threads, comments] = await Promise.all([
      this.table.getMany(ThreadEntity, at),
      this.table.getMany(CommentEntity, at),
    ]);
    return edges.map((_edge, index) => {
      const [thread, comment] = [threads[index], comments[index]];
      return thread && comment && { thread, comment };
    });
  }

  /**
   * Reads on in the threads of a document, with their comments: about 1 MB at a time, so that what is wanted of it can be less than
   * `limit`, or nothing. Keys never change while a thread lives, so a listing neither loses nor repeats one that is changed meanwhile.
   */
  async list(
    scope: DocumentScope,
    { descending, filters, limit, after }: ThreadQuery,
  ): Promise<RecordPage<StoredThread>> {
    const between = createdBetween(filters);
    if (between && between[0] > between[1]) return { records: [], next: undefined, bytes: 0 };
    const items = isSelective(filters) ? STEP_ITEMS : Math.min(4 * limit + 20, STEP_ITEMS);
    const { values, next } = await this.table.query(ThreadItems, scope, {
      between,
      after,
      descending,
      bytes: STEP_BYTES,
      limit: items,
    });
    const bytes = values.reduce((sum, value) => sum + Buffer.byteLength(JSON.stringify(value)), 0);
    const groups = byThread(values, descending);
    // Where the step ends within a thread, that one is read anew by the next step; unless it is all that this one met.
    const cut = next === undefined ? undefined : groups.pop();
    if (cut && groups.length === 0) groups.push(await this.#whole(scope, cut));
    const records: ListedRecord<StoredThread>[] = [];
    for (const { thread, comments, more = false } of groups) {
      if (records.length === limit) return { records, next: records.at(-1)?.key, bytes };
      if (thread && matchesFilters(thread, filters))
        records.push({ key: endOf(thread, descending), value: { thread, comments, more } });
    }
    const last = groups.at(-1);
    return { records, next: next === undefined || !last ? undefined : endOf(last.key, descending), bytes };
  }

  /** A thread of which a step saw a part only: its head, which may not have been among that, and its first comments. */
  async #whole(scope: DocumentScope, { key }: Group): Promise<Group> {
    const [thread, first] = await Promise.all([
      this.table.get(ThreadEntity, { ...scope, ...key }),
      this.firstComments(scope, key, THREAD_BYTES),
    ]);
    return { key, thread, ...first };
  }
}

/** Reads the heads of threads, but not for the first time when they are `fresh`: for lists that are read again after a conflict. */
export function threadHeadReader(
  table: Table,
  scope: DocumentScope,
  fresh = true,
): (threads: readonly Stored<Thread>[]) => Promise<readonly (Stored<Thread> | undefined)[]> {
  let known = fresh;
  return async (threads) => {
    if (!known)
      return table.getMany(
        ThreadEntity,
        threads.map((thread) => ({ ...scope, ...thread })),
      );
    known = false;
    return threads;
  };
}

/** What was read of one thread; without a head when it is being removed or was never finished. */
interface Group {
  readonly key: ThreadKey;
  readonly thread?: Stored<Thread> | undefined;
  readonly comments: readonly Stored<Comment>[];
  readonly more?: boolean;
}

/** Items as they lie in their partition, by thread, with the comments in the order of their ids. */
function byThread(items: readonly Stored<Thread | Comment>[], descending: boolean): Group[] {
  const groups: { key: ThreadKey; thread?: Stored<Thread>; comments: Stored<Comment>[] }[] = [];
  for (const item of items) {
    const { annotationId } = item;
    const createdAt = 'commentId' in item ? item.threadCreatedAt : item.createdAt;
    let group = groups.at(-1);
    if (!group || group.key.annotationId !== annotationId || group.key.createdAt !== createdAt)
      groups.push((group = { key: { annotationId, createdAt }, comments: [] }));
    if ('commentId' in item) group.comments.push(item);
    else group.thread = item;
  }
  if (descending) for (const { comments } of groups) comments.reverse();
  return groups;
}

/** The sort key after which the next thread comes: in the one direction behind all comments, in the other its head, which comes last. */
function endOf(key: ThreadKey, descending: boolean): string {
  return descending
    ? ThreadEntity.key({ tenant: '', organizationKey: '', documentKey: '', ...key }).SK
    : behind(threadKey(key));
}

/** A sort key behind all that begin with these parts, and before all others that sort higher. */
function behind(parts: readonly string[]): string {
  // The separator, plus one.
  return `${keyPrefix(parts).slice(0, -1)}$`;
}

/** Whether a listing leaves threads out that it has to read. */
function isSelective({ createdAfter: _, createdBefore: __, ...others }: ThreadFilters): boolean {
  return Object.values(others).some((filter) => filter !== undefined);
}

/** The sort keys of the threads created in a time; undefined for all. */
function createdBetween({ createdAfter, createdBefore }: ThreadFilters): [from: string, to: string] | undefined {
  if (createdAfter === undefined && createdBefore === undefined) return undefined;
  // What sorts before and behind every digit. An instant without what follows it sorts before all keys that begin with it.
  return [
    createdAfter === undefined ? '/' : instantKey(createdAfter),
    createdBefore === undefined ? ':' : instantKey(createdBefore),
  ];
}

/** What is answered about a thread that is not there. */
export function threadNotFound(): ApiError {
  return new ApiError('NOT_FOUND', 'Annotation does not exist');
}

/** Read threads and their comments. */
export const readThreads = /* @__PURE__ */ storeCapability(ThreadReader, ['GetItem', 'BatchGetItem', 'Query']);
