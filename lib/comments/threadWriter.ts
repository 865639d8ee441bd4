import { type AgentLookup, agentNotFound, findAgents } from '../agents/agentRuns.ts';
import type { CommentAgent } from '../agents/rules/runs.ts';
import type { Capability } from '../app/capability.ts';
import { findUsersWithAccess } from '../content/accessChecks.ts';
import type { DocumentContext, DocumentScope } from '../content/documentScope.ts';
import { findRecordIds, recordIdKey, type RecordPosition } from '../content/recordIds.ts';
import type { Viewer } from '../content/rules/viewer.ts';
import { distinct } from '../shared/collections.ts';
import { invalid } from '../shared/errors.ts';
import { inParallel } from '../shared/inParallel.ts';
import { inSlices } from '../shared/inSlices.ts';
import { lazy } from '../shared/lazy.ts';
import { type AnnotationResult, failedAnnotation } from '../shared/results.ts';
import { limits } from '../shared/schema.ts';
import type { Stored } from '../table/entity.ts';
import { pages } from '../table/pages.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { type Decision, writeEach } from '../table/writeEach.ts';
import { readActivityConfig } from '../workspaces/configs/activityConfig.ts';
import { type CommentCommand, commitInParts } from './commitInParts.ts';
import { openTarget } from './commitTarget.ts';
import { type CommitTarget, fitsTransaction, threadTransaction } from './commitThread.ts';
import { deleteThreads } from './deleteThreads.ts';
import { judgmentFromThread } from './judgmentFromThread.ts';
import type { ChangeOptions } from './rules/changeOptions.ts';
import { agentsOfComments } from './rules/commentAgents.ts';
import { decideUserReplacement, NOT_FOUND } from './rules/decideComments.ts';
import { decideThreadAddition, decideThreadUpdate, type ThreadAdded, withNumber } from './rules/decideThread.ts';
import { matchesFilters, type ThreadFilters } from './rules/threadFilters.ts';
import { type Decided, type ExistingThread, NO_PARTS } from './rules/threadParts.ts';
import type { NewThread, ThreadChange, UserReplacement } from './rules/threadRequests.ts';
import type { Thread } from './rules/threads.ts';
import { mayJudge } from './rules/userCalls.ts';
import {
  CommentEntity,
  commentKey,
  readThreads,
  reserveThreadNumbers,
  ThreadEntity,
  threadHeadReader,
  type ThreadKey,
  ThreadReader,
} from './threads.ts';

export interface IdentifiedThread {
  readonly annotationId: string;
  readonly generated: boolean;
  readonly refused?: string | undefined;
  readonly sent: NewThread;
}

export interface ThreadWritten extends AnnotationResult {
  readonly embedding?: string | undefined;
}

export interface ThreadsUpdate {
  readonly change?: ThreadChange | undefined;
  readonly users?: readonly UserReplacement[] | undefined;
  /** A change with a reason can store a judgment. */
  readonly reason?: string | undefined;
  readonly viewer?: Viewer | undefined;
}

/** A thread that passed all checks that need no read. */
interface ThreadDraft extends Pick<IdentifiedThread, 'annotationId' | 'generated'> {
  readonly agents: readonly CommentAgent[];
  readonly decided: Decided<ThreadAdded>;
}

interface DraftState {
  readonly position: Stored<RecordPosition> | undefined;
  readonly agents: AgentLookup;
  readonly annotationNumber: number;
}

interface SelectedThread {
  readonly annotationId: string;
  readonly thread: Stored<Thread> | undefined;
}

const BUSY = 'Annotation is being changed by another request.';
const TOO_LARGE =
  'Annotation is too large for one call: send some of its comments with /v2/commentannotations/comments/add. A call takes 100 items and 3.8 MB of an annotation: 2 items for itself, 1 for each comment, and 1 for each user in a comment. Notifications, activities, an assignee and agents take more.';
const PARALLEL = 4;
/** A changed thread and its events can have 2 MB in memory, and one call can change 500 threads. */
const THREADS_PER_BATCH = 30;
const COMMENTS_PER_PAGE = 20;

export class ThreadWriter {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Adds threads with distinct ids, each in one transaction with its event. Returns one result per thread. A refused
   * thread fails alone. A generated id that exists is not refused: an earlier try of the same call added the thread.
   */
  async add(
    context: DocumentContext,
    threads: readonly IdentifiedThread[],
    { verify, now, byUser }: { verify: boolean; now: number; byUser: boolean },
  ): Promise<ThreadAdded[]> {
    const comments = threads.flatMap(({ sent }) => sent.commentData);
    const authors = distinct(comments.map(({ from }) => from.userId));
    const log = comments.some(({ triggerActivities }) => triggerActivities ?? false);
    const [target, allowed] = await Promise.all([
      openTarget(this.#table, context, { log, now }),
      verify ? findUsersWithAccess(this.#table, context, authors, now) : new Set(authors),
    ]);
    const results = new Map<string, ThreadAdded>();
    const drafts: ThreadDraft[] = [];
    for (const { annotationId, generated, refused, sent } of threads) {
      const isAllowed = sent.commentData.every(({ from }) => allowed.has(from.userId));
      const refusal = refused ?? (isAllowed ? undefined : 'User does not have access to document');
      const { documentId } = context.document;
      const decided =
        refusal === undefined
          ? decideThreadAddition(sent, { annotationId, documentId, now, byUser })
          : { refused: refusal };
      const agents = agentsOfComments(sent.commentData, { createdAt: sent.createdAt ?? now, now });
      if ('refused' in decided) results.set(annotationId, notAddedResult(annotationId, decided.refused));
      else drafts.push({ annotationId, generated, agents, decided });
    }
    const added = await this.#addDrafts(target, context.document.documentId, drafts);
    for (const result of added) results.set(result.annotationId, result);
    return threads.map(({ annotationId }) => results.get(annotationId) as ThreadAdded);
  }

  async #addDrafts(target: CommitTarget, documentId: string, drafts: readonly ThreadDraft[]): Promise<ThreadAdded[]> {
    const { scope, now } = target;
    const { tenant, organizationKey } = scope;
    // Reserved once per request. A thread that fails leaves its number unused.
    const reserveNumbers = lazy(() => reserveThreadNumbers(this.#table, scope, drafts.length));
    return writeEach<ThreadDraft, DraftState, ThreadAdded>({
      table: this.#table,
      items: drafts,
      read: async (items) => {
        const [positions, agents, firstNumber] = await Promise.all([
          findRecordIds(
            this.#table,
            { tenant, organizationKey },
            items.map(({ annotationId }) => recordIdKey('thread', annotationId, documentId)),
          ),
          findAgents(
            this.#table,
            tenant,
            items.flatMap((draft) => draft.agents),
          ),
          reserveNumbers(),
        ]);
        return items.map((draft, index) => {
          return { position: positions[index], agents, annotationNumber: firstNumber + drafts.indexOf(draft) };
        });
      },
      decide: (draft, { position, agents, annotationNumber }) => {
        const { annotationId, generated, decided } = draft;
        const refuse = (message: string) => ({ result: notAddedResult(annotationId, message), ops: [] });
        // An id with another document key belongs to a deleted document with the same document id, and is free.
        if (position?.documentKey === scope.documentKey)
          return generated ? { result: decided.result, ops: [] } : refuse('Annotation already exists.');
        const missing = agents.findMissing(draft.agents);
        if (missing !== undefined) return refuse(agentNotFound(missing));
        const before = { ...NO_PARTS, positions: new Map([[annotationId, position]]) };
        const { ops } = threadTransaction(target, before, withNumber(decided, annotationNumber));
        const isSmall = fitsTransaction([...ops, ...agents.recordRuns(draft.agents, now).ops]);
        return isSmall ? { result: decided.result, ops } : refuse(TOO_LARGE);
      },
      // All threads of a transaction were read together, so they share one `AgentLookup`.
      addToTransaction: (changing) =>
        (changing[0] as (typeof changing)[0]).state.agents.recordRuns(
          changing.flatMap(({ item }) => item.agents),
          now,
        ),
      conflicted: ({ annotationId }) => notAddedResult(annotationId, BUSY),
    });
  }

  /**
   * Replaces `users` in authors, assignees and mentions, and then applies `change`. Returns one result per thread. An
   * unknown id fails alone. Throws INVALID_ARGUMENT if more than 500 threads match.
   */
  async update(
    context: DocumentContext,
    filters: ThreadFilters,
    { users = [], ...update }: ThreadsUpdate,
    options: ChangeOptions,
  ): Promise<ThreadWritten[]> {
    const [selected, target] = await Promise.all([
      this.#select(context, filters),
      openTarget(this.#table, context, options),
    ]);
    const threads = selected.flatMap(({ thread }) => thread ?? []);
    const results = new Map<string, ThreadWritten>();
    if (users.length > 0) {
      await inParallel(threads, PARALLEL, async (thread) => {
        const refused = await this.#replaceUsers(target, thread, users);
        if (refused !== undefined) results.set(thread.annotationId, failedAnnotation(thread.annotationId, refused));
      });
    }
    const { change } = update;
    const changeable = threads.filter(({ annotationId }) => change && !results.has(annotationId));
    const isFresh = users.length === 0;
    const changed = await inSlices(changeable, THREADS_PER_BATCH, async (batch) => {
      const readHeads = threadHeadReader(this.#table, target.scope, isFresh);
      const needsFirst = change?.assignedTo !== undefined || update.reason !== undefined;
      return writeEach<Stored<Thread>, ExistingThread | undefined, ThreadWritten>({
        table: this.#table,
        items: batch,
        read: async (items) => this.#withFirstComments(target.scope, await readHeads(items), needsFirst),
        decide: ({ annotationId }, before) =>
          before && change
            ? decideUpdate(context, target, before, { ...update, change }, options)
            : { result: unknownResult(annotationId), ops: [] },
        conflicted: ({ annotationId }) => failedAnnotation(annotationId, BUSY),
      });
    });
    for (const result of changed) results.set(result.annotationId, result);
    return selected.map(({ annotationId, thread }) => {
      if (!thread) return unknownResult(annotationId);
      return results.get(annotationId) ?? updatedResult(annotationId);
    });
  }

  async #withFirstComments(
    scope: DocumentScope,
    threads: readonly (Stored<Thread> | undefined)[],
    needsFirst: boolean,
  ): Promise<(ExistingThread | undefined)[]> {
    const keys = threads.flatMap((thread) =>
      thread && needsFirst ? [commentKey(scope, thread, thread.first.commentId)] : [],
    );
    const comments = (await this.#table.getMany(CommentEntity, keys)).values();
    return threads.map((thread) => {
      const first = thread && needsFirst ? comments.next().value : undefined;
      return thread && { thread, comments: first ? [first] : [], reactions: [] };
    });
  }

  /** Replaces users page by page. Returns why a replacement is refused, or undefined. */
  async #replaceUsers(
    target: CommitTarget,
    key: ThreadKey,
    users: readonly UserReplacement[],
  ): Promise<string | undefined> {
    const { scope, now } = target;
    const reader = new ThreadReader(this.#table);
    const replacements = new Map(users.map(({ oldUser, newUser }) => [oldUser.userId, newUser]));
    const replacePage = async (after: string | undefined) => {
      const [thread, { values: comments, next }] = await Promise.all([
        this.#table.get(ThreadEntity, { ...scope, ...key }),
        reader.listComments(scope, key, { limit: COMMENTS_PER_PAGE, after }),
      ]);
      if (!thread) return { next: undefined };
      const ids = comments.map(({ commentId }) => commentId);
      const { commentId: firstId } = thread.first;
      const command: CommentCommand = {
        target,
        read: async (unread) => reader.findParts(scope, key, [...new Set([...unread, firstId])]),
        decide: (before, part) => decideUserReplacement(before, part, (userId) => replacements.get(userId), now),
      };
      // The first page must have the first comment, with which the author and the assignee are replaced.
      const known = after !== undefined || ids.includes(firstId) ? { thread, comments, reactions: [] } : undefined;
      const refusals = await commitInParts(this.#table, ids, command, known);
      const refused = refusals.find((refusal) => refusal !== undefined && refusal !== NOT_FOUND);
      return { next: refused === undefined ? next : undefined, refused };
    };
    for await (const { refused } of pages(replacePage)) if (refused !== undefined) return refused;
    return undefined;
  }

  /**
   * Returns one result per thread. An unknown id fails alone. Throws INVALID_ARGUMENT if more than 500 threads match.
   */
  async delete(context: DocumentContext, filters: ThreadFilters, options: ChangeOptions): Promise<ThreadWritten[]> {
    const [selected, { scope, now, report }] = await Promise.all([
      this.#select(context, filters),
      openTarget(this.#table, context, options),
    ]);
    const threads = selected.flatMap(({ thread }) => thread ?? []);
    const isSelected = (thread: Thread) => matchesFilters(thread, filters);
    const deletions = await deleteThreads(this.#table, scope, threads, now, { report, options, isSelected });
    const outcomes = deletions.values();
    return selected.map(({ annotationId, thread }): ThreadWritten => {
      const outcome = thread ? outcomes.next().value : 'absent';
      if (outcome === 'absent') return unknownResult(annotationId);
      return outcome === 'deleted'
        ? { annotationId, success: true, message: 'Deleted Successfully' }
        : failedAnnotation(annotationId, BUSY);
    });
  }

  async #select({ scope, document }: DocumentContext, filters: ThreadFilters): Promise<SelectedThread[]> {
    if (filters.annotationIds) {
      const annotationIds = distinct(filters.annotationIds);
      const threads = await new ThreadReader(this.#table).findByIds(scope, document.documentId, annotationIds);
      return annotationIds.map((annotationId, index) => {
        const thread = threads[index];
        return { annotationId, thread: thread && matchesFilters(thread, filters) ? thread : undefined };
      });
    }
    const selected: SelectedThread[] = [];
    for await (const threads of new ThreadReader(this.#table).pages(scope, filters, limits.list + 1)) {
      selected.push(...threads.map(({ thread }) => ({ annotationId: thread.annotationId, thread })));
      if (selected.length > limits.list)
        throw invalid({
          path: ['annotationIds'],
          code: 'too_big',
          message: `annotationIds: more than ${limits.list} annotations are selected; select fewer`,
        });
    }
    return selected;
  }
}

function decideUpdate(
  context: DocumentContext,
  target: CommitTarget,
  before: ExistingThread,
  { change, reason, viewer }: ThreadsUpdate & { readonly change: ThreadChange },
  options: ChangeOptions,
): Decision<ThreadWritten> {
  const { thread, comments } = before;
  const { actor, now } = options;
  const decided = decideThreadUpdate(before, change, options);
  if ('refused' in decided) return { result: failedAnnotation(thread.annotationId, decided.refused), ops: [] };
  const judgment =
    reason !== undefined && actor && decided.after.thread && (!viewer || mayJudge(viewer, thread))
      ? judgmentFromThread(context, thread, decided.after.thread, comments[0], {
          actor,
          reason,
          now,
          byUser: viewer !== undefined,
        })
      : undefined;
  return {
    result: { ...updatedResult(thread.annotationId), embedding: judgment?.notify },
    ops: threadTransaction(target, before, { ...decided, ops: judgment?.ops }).ops,
  };
}

function notAddedResult(annotationId: string, message: string): ThreadAdded {
  return { success: false, annotationId, commentIds: [], message };
}

function updatedResult(annotationId: string): ThreadWritten {
  return { annotationId, success: true, message: 'Annotations updated successfully' };
}

function unknownResult(annotationId: string): ThreadWritten {
  return failedAnnotation(annotationId, 'Annotation not found.');
}

export const addThreads: Capability<Pick<ThreadWriter, 'add'>> = /* @__PURE__ */ storeCapability(ThreadWriter, [
  readThreads,
  readActivityConfig,
  'PutItem',
  'UpdateItem',
]);

export const writeThreads: Capability<Pick<ThreadWriter, 'update' | 'delete'>> = /* @__PURE__ */ storeCapability(
  ThreadWriter,
  [readThreads, readActivityConfig, 'PutItem', 'DeleteItem'],
);
