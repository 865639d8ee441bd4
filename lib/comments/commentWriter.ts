import * as z from 'zod';
import { findAgents } from '../agents/agentRuns.ts';
import type { Capability } from '../app/capability.ts';
import { findUsersWithAccess } from '../content/accessChecks.ts';
import type { DocumentContext, DocumentScope } from '../content/documentScope.ts';
import { recordPartition } from '../content/involvements.ts';
import { findRecordKeys } from '../content/recordIds.ts';
import { jsonBytes } from '../shared/bytes.ts';
import { distinct } from '../shared/collections.ts';
import { ApiError, invalid } from '../shared/errors.ts';
import { inSlices } from '../shared/inSlices.ts';
import type { ItemOutcome } from '../shared/results.ts';
import { defineEntity } from '../table/entity.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insert, type Table } from '../table/table.ts';
import { readActivityConfig } from '../workspaces/configs/activityConfig.ts';
import { commitInParts } from './commitInParts.ts';
import { openTarget } from './commitTarget.ts';
import { commit, type CommitTarget, fitsTransaction, type LoadedThread, threadTransaction } from './commitThread.ts';
import { deleteThreads, deletionTransaction } from './deleteThreads.ts';
import { loadForDeletion, loadWholeThread, MAX_BYTES_IN_TRANSACTION } from './loadDeletion.ts';
import type { ChangeOptions } from './rules/changeOptions.ts';
import { agentsOfComments } from './rules/commentAgents.ts';
import type { CommentChange, NewComment } from './rules/commentRequests.ts';
import { isTooLarge } from './rules/comments.ts';
import {
  type CommentSelection,
  decideCommentAddition,
  decideCommentDeletion,
  decideCommentUpdate,
  isSelected,
} from './rules/decideComments.ts';
import type { Refusals } from './rules/threadParts.ts';
import { readThreads, ThreadEntity, type ThreadKey, threadNotFound, ThreadReader } from './threads.ts';

export interface CommentResult extends ItemOutcome {
  readonly commentId: number;
}

interface Addition {
  readonly target: CommitTarget;
  readonly key: ThreadKey;
  readonly sent: readonly NewComment[];
  /** A repeated request has the same id. */
  readonly additionId: string | undefined;
  readonly field: string;
  readonly byUser: boolean;
}

/** Comments that are read together before a change. Each can have 256 KB. */
const COMMENTS_PER_BATCH = 20;
const PAGE_SIZE = 200;

/** One hour longer than the life of an `Idempotency-Key`, because clocks differ. */
const ADDITION_LIFETIME_SECONDS = 25 * 60 * 60;

/**
 * Written in the transaction of the comments. Their ids are numbers of their thread, so the comments do not show which
 * call added them.
 */
const CommentAdditionEntity = defineEntity({
  type: 'CommentAddition',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'The ids of the comments that a call with an Idempotency-Key added, for its repetition',
  schema: z.object({
    commentIds: z.array(z.number()),
    addedAt: z.number(),
  }),
  pk: (of: DocumentScope) => recordPartition(of, 'COMMENT_ADDITIONS'),
  sk: (key: { additionId: string }) => [key.additionId],
  expiresAt: ({ addedAt }) => Math.floor(addedAt / 1000) + ADDITION_LIFETIME_SECONDS,
});

export class CommentWriter {
  readonly #table: Table;
  readonly #threads: ThreadReader;

  constructor(table: Table) {
    this.#table = table;
    this.#threads = new ThreadReader(table);
  }

  /**
   * Adds comments, all or none, and returns their ids. If an earlier request with the same `additionId` added them,
   * returns the same ids. If `verify` is true, throws PERMISSION_DENIED for an author without access to the document.
   */
  async add(
    context: DocumentContext,
    annotationId: string,
    sent: readonly NewComment[],
    { verify, now, ...options }: { verify: boolean; now: number } & Pick<Addition, 'additionId' | 'field' | 'byUser'>,
  ): Promise<number[]> {
    const authors = distinct(sent.map(({ from }) => from.userId));
    const log = sent.some(({ triggerActivities }) => triggerActivities ?? false);
    const [key, target, allowed] = await Promise.all([
      this.#requireThread(context, annotationId),
      openTarget(this.#table, context, { log, now }),
      verify ? findUsersWithAccess(this.#table, context, authors, now) : new Set(authors),
    ]);
    if (!authors.every((userId) => allowed.has(userId)))
      throw new ApiError('PERMISSION_DENIED', 'User does not have access to document');
    return retryOnConflict(() => this.#tryAdd({ target, key, sent, ...options }));
  }

  /** In one transaction, so that a reader sees all of them or none. */
  async #tryAdd({ target, key, sent, additionId, field, byUser }: Addition): Promise<number[] | 'conflict'> {
    const { scope, now } = target;
    const named = agentsOfComments(sent, { createdAt: now, now });
    const [thread, agents, earlier] = await Promise.all([
      this.#table.get(ThreadEntity, { ...scope, ...key }),
      findAgents(this.#table, scope.tenant, named),
      additionId === undefined ? undefined : this.#table.get(CommentAdditionEntity, { ...scope, additionId }),
    ]);
    if (!thread) throw threadNotFound();
    if (earlier) return [...earlier.commentIds];
    const before = { thread, comments: [], reactions: [], agents };
    const decided = decideCommentAddition(before, sent, { now, byUser });
    if ('refused' in decided) throw new ApiError('FAILED_PRECONDITION', decided.refused);
    agents.requireAll(named);
    const { result: commentIds } = decided;
    const ops =
      additionId === undefined
        ? []
        : [insert(CommentAdditionEntity, { ...scope, additionId, commentIds, addedAt: now })];
    const transaction = threadTransaction(target, before, { ...decided, agents: named, ops });
    // Stored profiles can be larger than the sent ones.
    if ((byUser && decided.after.comments.some(isTooLarge)) || !fitsTransaction(transaction.ops))
      throw tooLargeError(field);
    if ((await commit(this.#table, transaction)) === 'done') return commentIds;
    await this.#requireFreeIds(scope, key, sent);
    return 'conflict';
  }

  async #requireFreeIds(scope: DocumentScope, key: ThreadKey, sent: readonly NewComment[]): Promise<void> {
    const commentIds = sent.flatMap(({ commentId }) => commentId ?? []);
    const comments = await this.#threads.findComments(scope, key, commentIds);
    const taken = comments.find((comment) => comment !== undefined);
    if (taken) throw new ApiError('ALREADY_EXISTS', `Comment ${taken.commentId} already exists`);
  }

  /**
   * Returns one result per comment. A comment that cannot be changed fails alone. Throws NOT_FOUND for an unknown
   * thread or agent.
   */
  async update(
    context: DocumentContext,
    annotationId: string,
    selection: CommentSelection,
    change: CommentChange,
    options: ChangeOptions,
  ): Promise<CommentResult[]> {
    const { target, key } = await this.#beginCall(context, annotationId, options);
    const { scope, now } = target;
    const agents = agentsOfComments([change], { createdAt: now, now });
    const commentIds = await this.#selectIds(scope, key, selection);
    const refusals = await inSlices(commentIds, COMMENTS_PER_BATCH, (batch) =>
      commitInParts(this.#table, batch, {
        target,
        read: async (ids) => {
          const [thread, lookup] = await Promise.all([
            this.#threads.findParts(scope, key, ids),
            findAgents(this.#table, scope.tenant, agents),
          ]);
          lookup.requireAll(agents);
          return thread && { ...thread, agents: lookup };
        },
        decide: (before, ids) => ({ ...decideCommentUpdate(before, ids, { selection, change, options }), agents }),
      }),
    );
    return toResults(commentIds, refusals, 'Updated successfully');
  }

  /**
   * Deletes comments with their reactions, and the thread with its last comment. Returns one result per comment. A
   * comment that cannot be deleted fails alone. Throws NOT_FOUND for an unknown thread.
   */
  async delete(
    context: DocumentContext,
    annotationId: string,
    selection: CommentSelection,
    options: ChangeOptions,
  ): Promise<CommentResult[]> {
    const { target, key } = await this.#beginCall(context, annotationId, options);
    const { scope } = target;
    const commentIds = await this.#selectIds(scope, key, selection);
    let refusals: Refusals = [];
    if (selection.commentIds || selection.userIds)
      refusals = await inSlices(commentIds, COMMENTS_PER_BATCH, (batch) =>
        commitInParts(this.#table, batch, {
          target,
          read: async (ids) => this.#readForDeletion(scope, key, ids, selection),
          decide: (before, ids) => decideCommentDeletion(before, ids, selection, options),
          toTransaction: deletionTransaction,
        }),
      );
    else
      await retryOnConflict(async () => {
        const thread = await this.#table.get(ThreadEntity, { ...scope, ...key });
        if (!thread) throw threadNotFound();
        const deletion = { report: target.report, options };
        const [outcome] = await deleteThreads(this.#table, scope, [thread], options.now, deletion);
        return outcome === 'deleted' ? 'done' : 'conflict';
      });
    return toResults(commentIds, refusals, 'Deleted successfully');
  }

  async #readForDeletion(
    scope: DocumentScope,
    key: ThreadKey,
    ids: readonly number[],
    selection: CommentSelection,
  ): Promise<LoadedThread | 'conflict' | undefined> {
    const before = await this.#threads.findParts(scope, key, ids);
    const deleted = before?.comments.filter((comment) => isSelected(selection, comment)) ?? [];
    if (!before || deleted.length === 0) return before;
    if (deleted.length < before.thread.commentCount) return loadForDeletion(this.#table, scope, before, deleted);
    // The counts are equal, but the thread and its comments are not read at the same moment. So the thread can have a
    // comment that is not in `deleted`.
    const storedIds = deleted.length === 1 ? [before.thread.first.commentId] : await this.#selectIds(scope, key, {});
    const hasOnly = storedIds.every((id) => deleted.some(({ commentId }) => commentId === id));
    // The event of the deletion lists the comments by id.
    const comments = before.comments.toSorted((a, b) => a.commentId - b.commentId);
    const isLarge = jsonBytes(comments.slice(1)) >= MAX_BYTES_IN_TRANSACTION;
    return hasOnly ? loadWholeThread(this.#table, scope, { ...before, comments }, isLarge) : 'conflict';
  }

  async #beginCall(
    context: DocumentContext,
    annotationId: string,
    options: ChangeOptions,
  ): Promise<{ target: CommitTarget; key: ThreadKey }> {
    const [key, target] = await Promise.all([
      this.#requireThread(context, annotationId),
      openTarget(this.#table, context, options),
    ]);
    return { key, target };
  }

  async #selectIds(
    scope: DocumentScope,
    key: ThreadKey,
    { commentIds, userIds }: CommentSelection,
  ): Promise<readonly number[]> {
    if (commentIds) return [...new Set(commentIds)];
    const ids: number[] = [];
    for await (const comments of this.#threads.commentPages(scope, key, PAGE_SIZE))
      ids.push(...comments.filter((comment) => isSelected({ userIds }, comment)).map(({ commentId }) => commentId));
    return ids;
  }

  async #requireThread({ scope, document }: DocumentContext, annotationId: string): Promise<ThreadKey> {
    const { documentId } = document;
    const [key] = await findRecordKeys(this.#table, scope, { kind: 'thread', documentId, ids: [annotationId] });
    if (!key) throw threadNotFound();
    return key;
  }
}

function toResults(ids: readonly number[], refusals: Refusals, success: string): CommentResult[] {
  return ids.map((commentId, index) => {
    const refused = refusals[index];
    return { commentId, success: refused === undefined, message: refused ?? success };
  });
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
