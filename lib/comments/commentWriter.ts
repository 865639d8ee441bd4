import { building, type Capability } from '../app/capability.ts';
import { distinct } from '../shared/collections.ts';
import { agentsOfComments } from './rules/commentAgents.ts';
import type { ContentChange } from './rules/commentEvents.ts';
import {
  changeComment,
  type Comment,
  type CommentChange,
  MAX_COMMENTS,
  type NewComment,
  newComments,
  hasTextChange,
} from './rules/comments.ts';
import { type Thread, addComments, removeComments } from './rules/threads.ts';
import { ApiError, invalid } from '../shared/errors.ts';
import { inSlices } from '../shared/inSlices.ts';
import type { ItemOutcome } from '../shared/results.ts';
import { readActivityConfig } from '../workspaces/configs/activityConfig.ts';
import { findAgents } from '../agents/agentRuns.ts';
import type { Stored } from '../table/entity.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { insert, inTransactions, openTable, replace, itemOf, type WriteOp } from '../table/table.ts';
import { OPS_BESIDE_HEAD, type ChangedComment, changeOps, fitsTransaction, writeChanges } from './commentChanges.ts';
import {
  type ChangeOptions,
  changeEventOps,
  type LoggedVerbs,
  readLoggedVerbs,
  threadDeletedEvent,
} from './changeEvents.ts';
import type { DocumentContext } from '../content/documentScope.ts';
import { reactionDeletionOps, readCommentReactions } from '../reactions/reactions.ts';
import { findRecordIds } from '../content/recordIds.ts';
import {
  startLeftoverPurge,
  commentDeletionOps,
  finishLeftoverPurge,
  type DeletableThread,
  deleteThreads,
  type UnfinishedLeftover,
} from './deleteThreads.ts';
import { commentInvolvementOps } from './commentInvolvements.ts';
import { CommentEntity, readThreads, ThreadEntity, type ThreadKey, ThreadReader, threadNotFound } from './threads.ts';
import { usersWithAccess } from '../content/accessChecks.ts';

/** What became of one comment of a call. */
export interface CommentResult extends ItemOutcome {
  readonly commentId: number;
}

/** Comments on their way into a thread. */
interface Sending {
  readonly found: DocumentContext;
  readonly key: ThreadKey;
  readonly sent: readonly NewComment[];
  readonly logged: LoggedVerbs;
  readonly now: number;
}

/** A change or removal of comments of a thread. */
interface Doing {
  readonly found: DocumentContext;
  readonly key: ThreadKey;
  readonly acting: ChangeOptions;
  readonly logged: LoggedVerbs;
}

/** Which comments of a thread a call selects: those that have one of the ids and one of the authors, where they are given; all comments without both. */
export interface CommentSelection {
  /** Distinct. */
  readonly commentIds?: readonly number[] | undefined;
  /** Authors. */
  readonly userIds?: readonly string[] | undefined;
}

/** How many comments are read to be changed or removed at a time: one can be 256 KB. */
const AT_A_TIME = 20;
/** How many comments are listed at a time, when all of them are meant. */
const LISTED = 200;

export class CommentWriter extends ThreadReader {
  /**
   * Adds comments to a thread, all or none, and gives their ids. NOT_FOUND when there is no such thread or agent, ALREADY_EXISTS for an id that is
   * taken, FAILED_PRECONDITION when the thread takes no more, INVALID_ARGUMENT when they are too much for one transaction; with `verify`
   * PERMISSION_DENIED when an author has no access to the document.
   */
  async add(
    found: DocumentContext,
    annotationId: string,
    sent: readonly NewComment[],
    { verify, now }: { verify: boolean; now: number },
  ): Promise<number[]> {
    const authors = distinct(sent.map(({ from }) => from.userId));
    const [key, logged, allowed] = await Promise.all([
      this.#require(found, annotationId),
      readLoggedVerbs(
        this.table,
        found.scope.tenant,
        sent.some(({ triggerActivities }) => triggerActivities),
      ),
      verify ? usersWithAccess(this.table, found, authors, { now }) : new Set(authors),
    ]);
    if (!authors.every((userId) => allowed.has(userId)))
      throw new ApiError('PERMISSION_DENIED', 'User does not have access to document');
    const sending: Sending = { found, key, sent, logged, now };
    return retryOnConflict(() => this.#add(sending));
  }

  /** One try to add comments: in one transaction, so that whoever sees one of them, or is involved in it, sees all that was acknowledged. */
  async #add(sending: Sending): Promise<number[] | 'conflict'> {
    const {
      found: {
        scope: { tenant },
      },
      key: { annotationId },
      sent,
      now,
    } = sending;
    const named = agentsOfComments(sent, { createdAt: now, now });
    const [thread, agents] = await Promise.all([this.#taking(sending), findAgents(this.table, tenant, named)]);
    agents.requireAll(named);
    const comments = newComments(sent, thread.lastCommentId, {
      annotationId,
      threadCreatedAt: thread.createdAt,
      createdAt: now,
      now,
    });
    const ops = [...additionOps(sending, thread, comments), ...agents.recordRuns(named, now).ops];
    if (!fitsTransaction(ops)) throw tooMuch();
    return (await this.table.write(ops)) === 'done'
      ? comments.map(({ commentId }) => commentId)
      : this.#whyNot(sending);
  }

  /** The head of a thread that takes these comments. NOT_FOUND when it is gone, FAILED_PRECONDITION when it takes no more. */
  async #taking({ found: { scope: scope }, key, sent }: Sending): Promise<Stored<Thread>> {
    const thread = await this.table.get(ThreadEntity, { ...scope, ...key });
    if (!thread) throw threadNotFound();
    if (thread.commentCount + sent.length > MAX_COMMENTS)
      throw new ApiError('FAILED_PRECONDITION', `A thread takes at most ${MAX_COMMENTS} comments`);
    return thread;
  }

  /** Why comments could not be added: ALREADY_EXISTS when an id that the caller chose is taken, else somebody else changed the thread. */
  async #whyNot({ found: { scope: scope }, key, sent }: Sending): Promise<'conflict'> {
    const taken = (
      await this.findComments(
        scope,
        key,
        sent.flatMap(({ commentId }) => commentId ?? []),
      )
    ).find((comment) => comment !== undefined);
    if (taken) throw new ApiError('ALREADY_EXISTS', `Comment ${taken.commentId} already exists`);
    return 'conflict';
  }

  /**
   * Changes the selected comments of a thread. Throws NOT_FOUND when the thread or agent does not exist. A comment that is named and does not exist, or
   * is by another author, fails alone.
   */
  async update(
    found: DocumentContext,
    annotationId: string,
    { commentIds, userIds }: CommentSelection,
    change: CommentChange,
    acting: ChangeOptions,
  ): Promise<CommentResult[]> {
    const doing = await this.#begin(found, annotationId, acting);
    return inSlices(commentIds ?? (await this.#idsOf(doing, userIds)), AT_A_TIME, (ids) => {
      const isSelected = authorFilter(userIds);
      return retryOnConflict(() => this.#change(doing, ids, isSelected, change));
    });
  }

  async #change(
    { found, key, acting, logged }: Doing,
    ids: readonly number[],
    isSelected: CommentFilter,
    change: CommentChange,
  ): Promise<CommentResult[] | 'conflict'> {
    const { now, notify, log } = acting;
    const named = agentsOfComments([change], { createdAt: now, now });
    const [[thread, comments], agents] = await Promise.all([
      this.#read(found, key, ids),
      findAgents(this.table, found.scope.tenant, named),
    ]);
    agents.requireAll(named);
    const changed: ChangedComment[] = [];
    const results = ids.map((commentId, index): CommentResult => {
      const before = comments[index];
      if (!thread || !before || !isSelected(before)) return unknownComment(commentId);
      const after = changeComment(before, change, now);
      if ('refused' in after) return { commentId, success: false, message: after.refused };
      const actor = acting.actor ?? before.from;
      const happening: ContentChange = {
        verb: 'updated',
        actor,
        thread,
        revision: before._r + 1,
        comment: after,
        from: before.commentText,
        to: after.commentText,
        notify,
        log: log && hasTextChange(before, after),
      };
      const told = changeEventOps(found, [happening], logged, now);
      // All are of the same execution: the first of them tells of it, and is written first.
      const one = { before, after, told: changed.length === 0 ? [...told, ...agents.recordRuns(named, now).ops] : told };
      if (changeOps(found.scope, thread, one).length > OPS_BESIDE_HEAD)
        return { commentId, success: false, message: 'Comment would involve too many other users at once.' };
      changed.push(one);
      return { commentId, success: true, message: 'Updated successfully' };
    });
    if (!thread) return results;
    const outcome = await writeChanges(this.table, found.scope, thread, changed, now);
    if (outcome === 'conflict') return outcome;
    return 'refused' in outcome
      ? results.map(({ commentId }) => ({ commentId, success: false, message: outcome.refused }))
      : results;
  }

  /**
   * Deletes the selected comments of a thread with the reactions on them. A thread without comments does not exist: it is deleted with its last comment.
   * Throws NOT_FOUND when the thread does not exist. A comment that is named and does not exist, or is by another author, fails alone.
   */
  async delete(
    found: DocumentContext,
    annotationId: string,
    { commentIds, userIds }: CommentSelection,
    acting: ChangeOptions,
  ): Promise<CommentResult[]> {
    const doing = await this.#begin(found, annotationId, acting);
    if (commentIds || userIds) {
      return inSlices(commentIds ?? (await this.#idsOf(doing, userIds)), AT_A_TIME, (ids) => {
        const gone = new Set<number>();
        return retryOnConflict(() => this.#remove(doing, ids, authorFilter(userIds), gone));
      });
    }
    return retryOnConflict(async () => {
      const [[thread], every] = await Promise.all([this.#read(found, doing.key, []), this.#idsOf(doing)]);
      if (!thread) throw threadNotFound();
      return (await this.#removeThread(doing, thread)) === 'conflict' ? 'conflict' : every.map(removed);
    });
  }

  /** One try to remove some comments; `gone` are those that an earlier one removed. */
  async #remove(
    doing: Doing,
    ids: readonly number[],
    isSelected: CommentFilter,
    gone: Set<number>,
  ): Promise<CommentResult[] | 'conflict'> {
    const [thread, comments] = await this.#read(doing.found, doing.key, ids);
    const there = thread ? comments.filter((comment) => comment !== undefined).filter(isSelected) : [];
    const ends = new Set([...gone, ...there.map(({ commentId }) => commentId)]);
    const results = ids.map((commentId) => (ends.has(commentId) ? removed(commentId) : unknownComment(commentId)));
    if (!thread || there.length === 0) return results;
    const outcome = await (there.length === thread.commentCount
      ? this.#removeThread(doing, thread)
      : this.#removeSome(doing, thread, there, gone));
    return outcome === 'conflict' ? 'conflict' : results;
  }

  async #removeThread({ found, acting, logged }: Doing, thread: Stored<Thread>): Promise<'done' | 'conflict'> {
    const told = (removable: DeletableThread) =>
      changeEventOps(found, [threadDeletedEvent(removable, acting)], logged, acting.now);
    const [outcome] = await deleteThreads(this.table, found.scope, [thread], acting.now, told);
    return outcome === 'busy' ? 'conflict' : 'done';
  }

  /** Removes comments of a thread that has others, in as few transactions as hold them. */
  async #removeSome(
    doing: Doing,
    thread: Stored<Thread>,
    comments: readonly Stored<Comment>[],
    gone: Set<number>,
  ): Promise<'done' | 'conflict'> {
    const {
      found: { scope: scope },
      acting: { now },
    } = doing;
    const units = comments.map((comment) => {
      const told = removalTold(doing, thread, comment);
      return { comment, told, ops: [...commentDeletionOps(scope, thread, comment), ...told] };
    });
    let head = thread;
    // Besides, there may be a job, and the assignee goes with the first comment and comes with the one that is first then.
    for (const group of inTransactions(units, { operations: OPS_BESIDE_HEAD - 3 })) {
      const current = head;
      const went = group.map(({ comment }) => comment);
      const left = await this.#ends(doing.found, current, went);
      const next = removeComments(current, went, left, now);
      const ops = [
        replace(ThreadEntity, { ...scope, ...next }, current._r),
        ...(left.first
          ? commentInvolvementOps(
              scope,
              { thread: current, comment: left.first },
              { thread: next, comment: left.first },
            )
          : []),
        ...group.flatMap(({ comment, told }) => [...commentDeletionOps(scope, current, comment), ...told]),
      ];
      const { ops: reactionOps, unfinished } = await this.#reactionsOf(
        doing.found,
        went,
        OPS_BESIDE_HEAD + 1 - ops.length,
        now,
      );
      if ((await this.table.write([...ops, ...reactionOps])) !== 'done') return 'conflict';
      for (const { commentId } of went) gone.add(commentId);
      if (unfinished) await finishLeftoverPurge(this.table, scope.tenant, unfinished);
      head = { ...next, _r: current._r + 1 };
    }
    return 'done';
  }

  /** The first and last comment that stay, where those that go are the first or last. */
  async #ends(
    { scope: scope }: DocumentContext,
    thread: Thread,
    went: readonly Comment[],
  ): Promise<{ first?: Comment | undefined; last?: Comment | undefined }> {
    const goes = (commentId: number) => went.some((comment) => comment.commentId === commentId);
    const end = async (commentId: number, descending: boolean) => {
      if (!goes(commentId)) return undefined;
      const { values } = await this.listComments(scope, thread, { limit: went.length + 1, descending });
      return values.find((comment) => !goes(comment.commentId));
    };
    const [first, last] = await Promise.all([end(thread.first.commentId, false), end(thread.last.commentId, true)]);
    return { first, last };
  }

  /** The operations that remove the reactions on comments, where there is room for them; else one that begins to, and what is left to do. */
  async #reactionsOf(
    { scope: scope, document: { documentId } }: DocumentContext,
    comments: readonly Comment[],
    room: number,
    now: number,
  ): Promise<{ ops: WriteOp[]; unfinished?: UnfinishedLeftover }> {
    const references = comments.flatMap(({ reactions = [] }) => reactions);
    if (references.length === 0) return { ops: [] };
    const reactions = await readCommentReactions(this.table, scope, references);
    const ops = reactionDeletionOps(
      scope,
      documentId,
      reactions.filter((reaction) => reaction !== undefined),
    );
    if (ops.length <= room) return { ops };
    const { op, unfinished } = startLeftoverPurge(scope, { documentId, reactions: references }, now);
    return { ops: [op], unfinished };
  }

  async #begin(found: DocumentContext, annotationId: string, acting: ChangeOptions): Promise<Doing> {
    const [key, logged] = await Promise.all([
      this.#require(found, annotationId),
      readLoggedVerbs(this.table, found.scope.tenant, acting.log),
    ]);
    return { found, key, acting, logged };
  }

  /** The ids of a thread's comments, or of those by some authors. */
  async #idsOf({ found: { scope: scope }, key }: Doing, userIds?: readonly string[]): Promise<number[]> {
    const isSelected = authorFilter(userIds);
    const ids: number[] = [];
    let after: string | undefined;
    do {
      const page = await this.listComments(scope, key, { limit: LISTED, after });
      ids.push(...page.values.filter(isSelected).map(({ commentId }) => commentId));
      after = page.next;
    } while (after !== undefined);
    return ids;
  }

  /** The head of a thread and some of its comments. One BatchGet. */
  async #read(
    { scope: scope }: DocumentContext,
    { annotationId, createdAt }: ThreadKey,
    ids: readonly number[],
  ): Promise<[Stored<Thread> | undefined, (Stored<Comment> | undefined)[]]> {
    const comments = ids.map((commentId) =>
      itemOf(CommentEntity, { ...scope, annotationId, threadCreatedAt: createdAt, commentId }),
    );
    const [thread, ...found] = await this.table.batchGet(
      itemOf(ThreadEntity, { ...scope, annotationId, createdAt }),
      ...comments,
    );
    return [thread, found];
  }

  async #require(
    { scope: scope, document: { documentId } }: DocumentContext,
    annotationId: string,
  ): Promise<ThreadKey> {
    const [position] = await findRecordIds(this.table, scope, [
      { kind: 'thread', id: annotationId, within: documentId },
    ]);
    if (!position) throw threadNotFound();
    return { annotationId, createdAt: position.createdAt };
  }
}

/** The operations that add comments, with the head, whom they involve and what tells of them. FAILED_PRECONDITION when the thread cannot have them. */
function additionOps(
  { found, sent, logged, now }: Sending,
  thread: Stored<Thread>,
  comments: readonly Comment[],
): WriteOp[] {
  const next = addComments(thread, comments, now);
  if ('refused' in next) throw new ApiError('FAILED_PRECONDITION', next.refused);
  const told = comments.map((comment, index): ContentChange => {
    const { triggerNotification: notify = false, triggerActivities: log = false } = sent[index] as NewComment;
    return { verb: 'added', actor: comment.from, thread: next, revision: 1, comment, notify, log };
  });
  return [
    replace(ThreadEntity, { ...found.scope, ...next }, thread._r),
    ...comments.flatMap((comment) => [
      insert(CommentEntity, { ...found.scope, ...comment }),
      ...commentInvolvementOps(found.scope, undefined, { thread, comment }),
    ]),
    ...changeEventOps(found, told, logged, now),
  ];
}

/** What tells of the removal of a comment. */
function removalTold(
  { found, acting: { actor, notify, log, now }, logged }: Doing,
  thread: Thread,
  comment: Stored<Comment>,
): WriteOp[] {
  return changeEventOps(
    found,
    [{ verb: 'deleted', actor: actor ?? comment.from, thread, revision: comment._r, comment, notify, log }],
    logged,
    now,
  );
}

type CommentFilter = (comment: Comment) => boolean;

/**
 * Whether a comment is by one of the authors; all are without a list. A comment that was once selected stays so: a retry after a partial write has to
 * find it again though the write changed its author.
 */
function authorFilter(userIds: readonly string[] | undefined): CommentFilter {
  const authors = userIds && new Set(userIds);
  const selected = new Set<number>();
  return ({ commentId, from }) => {
    if (!authors || authors.has(from.userId)) selected.add(commentId);
    return selected.has(commentId);
  };
}

function unknownComment(commentId: number): CommentResult {
  return { commentId, success: false, message: 'Not found' };
}

function removed(commentId: number): CommentResult {
  return { commentId, success: true, message: 'Deleted successfully' };
}

function tooMuch(): ApiError {
  const message =
    'commentData is too much for one call: send fewer comments, or fewer that mention users or trigger notifications and activities';
  return invalid({ path: ['commentData'], code: 'too_big', message });
}

/** Add, change and remove comments of threads. */
export const writeComments: Capability<Pick<CommentWriter, 'add' | 'update' | 'delete'>> = /* @__PURE__ */ building(
  [readThreads, readActivityConfig],
  {
    grants: [{ resource: 'table', actions: ['PutItem', 'DeleteItem'] }],
    env: [],
    open: (env) => new CommentWriter(openTable(env)),
  },
);
