import { findAgents } from '../agents/agentRuns.ts';
import type { Capability } from '../app/capability.ts';
import { findUsersWithAccess } from '../content/accessChecks.ts';
import type { DocumentContext } from '../content/documentScope.ts';
import { findRecordKeys } from '../content/recordIds.ts';
import { contextAllows } from '../directory/rules/access.ts';
import { distinct } from '../shared/collections.ts';
import { ApiError, invalid } from '../shared/errors.ts';
import { inSlices } from '../shared/inSlices.ts';
import type { ItemOutcome } from '../shared/results.ts';
import type { Stored } from '../table/entity.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insert, inTransactions, itemOf, replace, type Table, type WriteOp } from '../table/table.ts';
import { readActivityConfig } from '../workspaces/configs/activityConfig.ts';
import { changeEventOps, type LoggedVerbs, readLoggedVerbs, threadDeletedEvent } from './changeEvents.ts';
import { CommentAdditionEntity } from './commentAdditions.ts';
import { type ChangedComment, changeOps, fitsTransaction, OPS_BESIDE_HEAD, writeChanges } from './commentChanges.ts';
import { commentInvolvementOps } from './commentInvolvements.ts';
import { deleteComments } from './deleteComments.ts';
import { commentDeletionOps, type DeletableThread, deleteThreads } from './deleteThreads.ts';
import type { ChangeOptions } from './rules/changeOptions.ts';
import { agentsOfComments } from './rules/commentAgents.ts';
import type { ContentChange } from './rules/commentEvents.ts';
import {
  accessFieldsOf,
  changeComment,
  type Comment,
  type CommentChange,
  hasTextChange,
  isTooLarge,
  MAX_COMMENTS,
  type NewComment,
  newComments,
} from './rules/comments.ts';
import { addComments, changeComments, type Thread } from './rules/threads.ts';
import { hiddenDeletionOps } from './threadAccessChanges.ts';
import {
  CommentEntity,
  commentKey,
  readThreads,
  ThreadEntity,
  type ThreadKey,
  threadNotFound,
  ThreadReader,
} from './threads.ts';

/** The result for one comment of a request. */
export interface CommentResult extends ItemOutcome {
  readonly commentId: number;
}

/** Comments to add to a thread. */
interface Addition {
  readonly context: DocumentContext;
  readonly key: ThreadKey;
  readonly sent: readonly NewComment[];
  readonly logged: LoggedVerbs;
  /** The id of the addition, if a repeated request has the same id. */
  readonly additionId: string | undefined;
  /** The field of the request that has the comments. */
  readonly field: string;
  readonly byUser: boolean;
  readonly now: number;
}

/** A request that changes or deletes comments of a thread. */
interface CommentCall {
  readonly context: DocumentContext;
  readonly key: ThreadKey;
  readonly options: ChangeOptions;
  readonly logged: LoggedVerbs;
}

/** Selects comments of a thread by id, by author, or by both. If both fields are undefined, selects all comments. */
export interface CommentSelection {
  readonly commentIds?: readonly number[] | undefined;
  /** The user ids of authors. */
  readonly userIds?: readonly string[] | undefined;
}

/** The number of comments that are read together before they are changed or deleted. Each can have 256 KB. */
const COMMENTS_PER_BATCH = 20;
/** The page size when all comments of a thread are read. */
const PAGE_SIZE = 200;

export class CommentWriter {
  readonly #table: Table;
  readonly #threads: ThreadReader;

  constructor(table: Table) {
    this.#table = table;
    this.#threads = new ThreadReader(table);
  }

  /**
   * Adds comments to a thread, all or none, and returns their ids. If an earlier request with the same `additionId` added them,
   * adds nothing and returns the ids again. Throws:
   * - NOT_FOUND for an unknown thread or agent
   * - ALREADY_EXISTS for a comment id that the thread already has
   * - FAILED_PRECONDITION if the thread is full
   * - INVALID_ARGUMENT if the comments do not fit into one transaction
   * - PERMISSION_DENIED if `verify` is true and an author has no access to the document
   */
  async add(
    context: DocumentContext,
    annotationId: string,
    sent: readonly NewComment[],
    { verify, ...options }: { verify: boolean } & Pick<Addition, 'additionId' | 'field' | 'byUser' | 'now'>,
  ): Promise<number[]> {
    const authors = distinct(sent.map(({ from }) => from.userId));
    const logs = sent.some(({ triggerActivities }) => triggerActivities);
    const [key, logged, allowed] = await Promise.all([
      this.#requireThread(context, annotationId),
      readLoggedVerbs(this.#table, context.scope.tenant, logs),
      verify ? findUsersWithAccess(this.#table, context, authors, options.now) : new Set(authors),
    ]);
    if (!authors.every((userId) => allowed.has(userId)))
      throw new ApiError('PERMISSION_DENIED', 'User does not have access to document');
    return retryOnConflict(() => this.#tryAdd({ context, key, sent, logged, ...options }));
  }

  /** Tries once to add the comments, in one transaction. A reader therefore sees all of them or none. */
  async #tryAdd(addition: Addition): Promise<number[] | 'conflict'> {
    const { context, key, sent, additionId, field, byUser, now } = addition;
    const { scope } = context;
    const named = agentsOfComments(sent, { createdAt: now, now });
    const [thread, agents, earlier] = await Promise.all([
      this.#table.get(ThreadEntity, { ...scope, ...key }),
      findAgents(this.#table, scope.tenant, named),
      additionId === undefined ? undefined : this.#table.get(CommentAdditionEntity, { ...scope, additionId }),
    ]);
    if (!thread) throw threadNotFound();
    if (earlier) return [...earlier.commentIds];
    if (thread.commentCount + sent.length > MAX_COMMENTS)
      throw new ApiError('FAILED_PRECONDITION', `A thread takes at most ${MAX_COMMENTS} comments`);
    agents.requireAll(named);
    const comments = newComments(sent, thread.lastCommentId, {
      annotationId: key.annotationId,
      threadCreatedAt: thread.createdAt,
      createdAt: now,
      byUser,
    });
    // Stored profiles can be larger than the sent ones.
    if (byUser && comments.some(isTooLarge)) throw tooLargeError(field);
    const ops = [...additionOps(addition, thread, comments), ...agents.recordRuns(named, now).ops];
    if (!fitsTransaction(ops)) throw tooLargeError(field);
    if ((await this.#table.write(ops)) === 'done') return comments.map(({ commentId }) => commentId);
    await this.#requireFreeIds(addition);
    return 'conflict';
  }

  /** Throws ALREADY_EXISTS if the thread already has a comment with an id from the request. */
  async #requireFreeIds({ context, key, sent }: Addition): Promise<void> {
    const commentIds = sent.flatMap(({ commentId }) => commentId ?? []);
    const comments = await this.#threads.findComments(context.scope, key, commentIds);
    const taken = comments.find((comment) => comment !== undefined);
    if (taken) throw new ApiError('ALREADY_EXISTS', `Comment ${taken.commentId} already exists`);
  }

  /**
   * Changes the selected comments of a thread. Returns one result per comment. A comment that does not exist, or has an author
   * who is not selected, fails in its own result only. Throws NOT_FOUND for an unknown thread or agent.
   */
  async update(
    context: DocumentContext,
    annotationId: string,
    selection: CommentSelection,
    change: CommentChange,
    options: ChangeOptions,
  ): Promise<CommentResult[]> {
    const call = await this.#beginCall(context, annotationId, options);
    const commentIds = await this.#selectIds(call, selection);
    return inSlices(commentIds, COMMENTS_PER_BATCH, (ids) => {
      const isSelected = authorFilter(selection.userIds);
      return retryOnConflict(() => this.#tryUpdate(call, ids, isSelected, change));
    });
  }

  async #tryUpdate(
    call: CommentCall,
    ids: readonly number[],
    isSelected: CommentFilter,
    change: CommentChange,
  ): Promise<CommentResult[] | 'conflict'> {
    const { scope } = call.context;
    const { now } = call.options;
    const named = agentsOfComments([change], { createdAt: now, now });
    const [[thread, comments], agents] = await Promise.all([
      this.#readComments(call, ids),
      findAgents(this.#table, scope.tenant, named),
    ]);
    agents.requireAll(named);
    if (!thread) return ids.map(notFoundResult);
    const changes: ChangedComment[] = [];
    let head: Thread = thread;
    const results = ids.map((commentId, index): CommentResult => {
      const before = comments[index];
      if (!before || !isSelected(before)) return notFoundResult(commentId);
      const after = changeComment(before, change, now, call.options.byUser);
      if ('refused' in after) return { commentId, success: false, message: after.refused };
      const next = changeComments(head, [before], [after], now);
      if ('refused' in next) return { commentId, success: false, message: next.refused };
      const eventOps = updateEventOps(call, next, before, after);
      // All comments get the same agent, so its run is recorded once, with the first changed comment.
      if (changes.length === 0) eventOps.push(...agents.recordRuns(named, now).ops);
      const changed = { before, after, eventOps };
      if (changeOps(scope, thread, changed, now).length > OPS_BESIDE_HEAD)
        return { commentId, success: false, message: 'Comment would involve too many other users at once.' };
      changes.push(changed);
      head = next;
      return { commentId, success: true, message: 'Updated successfully' };
    });
    const outcome = await writeChanges(this.#table, scope, thread, changes, now);
    if (outcome === 'conflict') return outcome;
    return 'refused' in outcome
      ? ids.map((commentId) => ({ commentId, success: false, message: outcome.refused }))
      : results;
  }

  /**
   * Deletes the selected comments of a thread with their reactions. A thread is deleted with its last comment. Returns one result
   * per comment. A comment that does not exist, or has an author who is not selected, fails in its own result only. Throws
   * NOT_FOUND for an unknown thread.
   */
  async delete(
    context: DocumentContext,
    annotationId: string,
    selection: CommentSelection,
    options: ChangeOptions,
  ): Promise<CommentResult[]> {
    const call = await this.#beginCall(context, annotationId, options);
    if (selection.commentIds || selection.userIds) {
      const commentIds = await this.#selectIds(call, selection);
      return inSlices(commentIds, COMMENTS_PER_BATCH, (ids) => {
        const deletedIds = new Set<number>();
        return retryOnConflict(() => this.#tryDelete(call, ids, authorFilter(selection.userIds), deletedIds));
      });
    }
    return retryOnConflict(async () => {
      const [[thread], commentIds] = await Promise.all([this.#readComments(call, []), this.#selectIds(call, {})]);
      if (!thread) throw threadNotFound();
      return (await this.#deleteThread(call, thread)) === 'conflict' ? 'conflict' : commentIds.map(deletedResult);
    });
  }

  /**
   * Tries once to delete comments. Adds the ids of deleted comments to `deletedIds`, so that the next try still reports them as
   * deleted.
   */
  async #tryDelete(
    call: CommentCall,
    ids: readonly number[],
    isSelected: CommentFilter,
    deletedIds: Set<number>,
  ): Promise<CommentResult[] | 'conflict'> {
    const [thread, read] = await this.#readComments(call, ids);
    const comments = thread ? read.filter((comment) => comment !== undefined).filter(isSelected) : [];
    const successful = new Set([...deletedIds, ...comments.map(({ commentId }) => commentId)]);
    const results = ids.map((commentId) =>
      successful.has(commentId) ? deletedResult(commentId) : notFoundResult(commentId),
    );
    if (!thread || comments.length === 0) return results;
    const isLast = comments.length === thread.commentCount;
    // The thread and its comments are not read at the same moment. A comment can be deleted in between, so the same number of
    // comments can include another one.
    if (isLast && !(await this.#hasOnly(call, thread, comments))) return 'conflict';
    const outcome = await (isLast
      ? this.#deleteThread(call, thread, ({ _r }) => _r === thread._r)
      : this.#deleteSome(call, thread, comments, deletedIds));
    return outcome === 'conflict' ? 'conflict' : results;
  }

  /** Returns whether a thread has no other comments than these. */
  async #hasOnly(call: CommentCall, { first }: Thread, comments: readonly Comment[]): Promise<boolean> {
    const ids = new Set(comments.map(({ commentId }) => commentId));
    const storedIds = comments.length === 1 ? [first.commentId] : await this.#selectIds(call, {});
    return storedIds.every((commentId) => ids.has(commentId));
  }

  async #deleteThread(
    { context, options, logged }: CommentCall,
    thread: Stored<Thread>,
    isSelected?: (thread: Stored<Thread>) => boolean,
  ): Promise<'done' | 'conflict'> {
    const eventOps = (deletable: DeletableThread) =>
      changeEventOps(context, [threadDeletedEvent(deletable, options)], logged, options.now);
    const [outcome] = await deleteThreads(this.#table, context.scope, [thread], options.now, { eventOps, isSelected });
    return outcome === 'deleted' ? 'done' : 'conflict';
  }

  /** Deletes comments of a thread that keeps at least one comment, in as few transactions as possible. */
  async #deleteSome(
    call: CommentCall,
    thread: Stored<Thread>,
    comments: readonly Stored<Comment>[],
    deletedIds: Set<number>,
  ): Promise<'done' | 'conflict'> {
    const { scope } = call.context;
    const { now } = call.options;
    const units = comments.map((comment) => {
      const eventOps = deletionEventOps(call, thread, comment);
      const ops = [...commentDeletionOps(scope, thread, comment), ...hiddenDeletionOps(scope, thread, comment, now)];
      return { comment, eventOps, ops: [...ops, ...eventOps] };
    });
    let head = thread;
    // Three operations are kept free. One can start a job. Two can move the assignee's involvement to the new first comment.
    for (const group of inTransactions(units, { operations: OPS_BESIDE_HEAD - 3 })) {
      const removed = group.map(({ comment }) => comment);
      const extraOps = group.flatMap(({ eventOps }) => eventOps);
      const outcome = await deleteComments(this.#table, scope, head, removed, { extraOps, now });
      if (outcome === 'conflict') return 'conflict';
      for (const { commentId } of removed) deletedIds.add(commentId);
      head = outcome;
    }
    return 'done';
  }

  async #beginCall(context: DocumentContext, annotationId: string, options: ChangeOptions): Promise<CommentCall> {
    const [key, logged] = await Promise.all([
      this.#requireThread(context, annotationId),
      readLoggedVerbs(this.#table, context.scope.tenant, options.log),
    ]);
    return { context, key, options, logged };
  }

  /** Returns the distinct ids of the selected comments. Ids from the request are not checked. */
  async #selectIds(
    { context, key }: CommentCall,
    { commentIds, userIds }: CommentSelection,
  ): Promise<readonly number[]> {
    if (commentIds) return [...new Set(commentIds)];
    const isSelected = authorFilter(userIds);
    const ids: number[] = [];
    for await (const comments of this.#threads.commentPages(context.scope, key, PAGE_SIZE))
      ids.push(...comments.filter(isSelected).map(({ commentId }) => commentId));
    return ids;
  }

  /**
   * Returns the thread without its other comments, and its comments with these ids, in the order of `ids`. A missing item is
   * undefined.
   */
  async #readComments(
    { context: { scope }, key }: CommentCall,
    ids: readonly number[],
  ): Promise<[Stored<Thread> | undefined, (Stored<Comment> | undefined)[]]> {
    const [thread, ...comments] = await this.#table.batchGet(
      itemOf(ThreadEntity, { ...scope, ...key }),
      ...ids.map((commentId) => itemOf(CommentEntity, commentKey(scope, key, commentId))),
    );
    return [thread, comments];
  }

  async #requireThread({ scope, document }: DocumentContext, annotationId: string): Promise<ThreadKey> {
    const { documentId } = document;
    const [key] = await findRecordKeys(this.#table, scope, { kind: 'thread', documentId, ids: [annotationId] });
    if (!key) throw threadNotFound();
    return key;
  }
}

/**
 * Returns the operations that add comments. They write the thread, the comments and their events, and for each involved user an
 * item which says that the comment involves the user. Throws FAILED_PRECONDITION if the thread would be too large.
 */
function additionOps(
  { context, sent, logged, additionId, now }: Addition,
  thread: Stored<Thread>,
  comments: readonly Comment[],
): WriteOp[] {
  const { scope } = context;
  const next = addComments(thread, comments, now);
  if ('refused' in next) throw new ApiError('FAILED_PRECONDITION', next.refused);
  const commentIds = comments.map(({ commentId }) => commentId);
  const events = comments.map((comment, index): ContentChange => {
    const { triggerNotification: notify = false, triggerActivities: log = false } = sent[index] as NewComment;
    return { verb: 'added', actor: comment.from, thread: next, revision: 1, comment, notify, log };
  });
  return [
    replace(ThreadEntity, { ...scope, ...next }, thread._r),
    ...comments.flatMap((comment) => [
      insert(CommentEntity, { ...scope, ...comment }, now),
      ...commentInvolvementOps(scope, undefined, { thread, comment }),
    ]),
    ...changeEventOps(context, events, logged, now),
    ...(additionId === undefined
      ? []
      : [insert(CommentAdditionEntity, { ...scope, additionId, commentIds, addedAt: now })]),
  ];
}

function updateEventOps(
  { context, options, logged }: CommentCall,
  thread: Thread,
  before: Stored<Comment>,
  after: Comment,
): WriteOp[] {
  // Users who have the new access context, but not the former one, may not read the former text.
  const isFormerTextOpen = contextAllows(
    { accessFields: accessFieldsOf(before.context) },
    accessFieldsOf(after.context),
  );
  const event: ContentChange = {
    verb: 'updated',
    actor: options.actor ?? before.from,
    thread,
    revision: before._r + 1,
    comment: after,
    from: isFormerTextOpen ? before.commentText : undefined,
    to: after.commentText,
    notify: options.notify,
    log: options.log && hasTextChange(before, after),
  };
  return changeEventOps(context, [event], logged, options.now);
}

function deletionEventOps(
  { context, options: { actor, notify, log, now }, logged }: CommentCall,
  thread: Thread,
  comment: Stored<Comment>,
): WriteOp[] {
  const event = {
    verb: 'deleted',
    actor: actor ?? comment.from,
    thread,
    revision: comment._r,
    comment,
    notify,
    log,
  } as const;
  return changeEventOps(context, [event], logged, now);
}

type CommentFilter = (comment: Comment) => boolean;

/**
 * Returns a filter that accepts comments of these authors, or all comments if `userIds` is undefined. A comment that was accepted
 * once stays accepted. A retry needs this, because an earlier write of the same request can have changed the author.
 */
function authorFilter(userIds: readonly string[] | undefined): CommentFilter {
  const authors = userIds && new Set(userIds);
  const accepted = new Set<number>();
  return ({ commentId, from }) => {
    if (!authors || authors.has(from.userId)) accepted.add(commentId);
    return accepted.has(commentId);
  };
}

function notFoundResult(commentId: number): CommentResult {
  return { commentId, success: false, message: 'Not found' };
}

function deletedResult(commentId: number): CommentResult {
  return { commentId, success: true, message: 'Deleted successfully' };
}

function tooLargeError(field: string): ApiError {
  const message = `${field} is too much for one call: send fewer comments, or fewer that mention users or trigger notifications and activities`;
  return invalid({ path: [field], code: 'too_big', message });
}

export const addCommentsToThreads: Capability<Pick<CommentWriter, 'add'>> = /* @__PURE__ */ storeCapability(
  CommentWriter,
  [readThreads, readActivityConfig, 'PutItem'],
);

export const writeComments: Capability<Pick<CommentWriter, 'update' | 'delete'>> = /* @__PURE__ */ storeCapability(
  CommentWriter,
  [readThreads, readActivityConfig, 'PutItem', 'DeleteItem'],
);
