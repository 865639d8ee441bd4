import { type AgentLookup, agentNotFound, findAgents } from '../agents/agentRuns.ts';
import type { CommentAgent } from '../agents/rules/runs.ts';
import type { Capability } from '../app/capability.ts';
import { findUsersWithAccess } from '../content/accessChecks.ts';
import type { DocumentContext, DocumentScope } from '../content/documentScope.ts';
import { claimRecordId, findRecordIds, recordIdKey, type RecordPosition } from '../content/recordIds.ts';
import type { ContentUser } from '../content/rules/contentUser.ts';
import type { Viewer } from '../content/rules/viewer.ts';
import { distinct } from '../shared/collections.ts';
import { invalid } from '../shared/errors.ts';
import { inParallel } from '../shared/inParallel.ts';
import { inSlices } from '../shared/inSlices.ts';
import { readJson } from '../shared/jsonFields.ts';
import { lazy } from '../shared/lazy.ts';
import { type AnnotationResult, failedAnnotation } from '../shared/results.ts';
import { limits } from '../shared/schema.ts';
import type { Stored } from '../table/entity.ts';
import { pages } from '../table/pages.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insert, replace, type Table, type WriteOp } from '../table/table.ts';
import { type Decision, writeEach } from '../table/writeEach.ts';
import { readActivityConfig } from '../workspaces/configs/activityConfig.ts';
import { changeEventOps, type LoggedVerbs, readLoggedVerbs, threadDeletedEvent } from './changeEvents.ts';
import { fitsTransaction, writeChanges } from './commentChanges.ts';
import { commentInvolvementOps } from './commentInvolvements.ts';
import { type DeletableThread, deleteThreads } from './deleteThreads.ts';
import { judgmentFromThread } from './judgmentFromThread.ts';
import type { ChangeOptions } from './rules/changeOptions.ts';
import { agentsOfComments } from './rules/commentAgents.ts';
import { type ContentChange, detectThreadChanges } from './rules/commentEvents.ts';
import { type Comment, COMMENT_TOO_LARGE, isTooLarge, parseAgent, replaceCommentUsers } from './rules/comments.ts';
import { matchesFilters, type ThreadFilters } from './rules/threadFilters.ts';
import {
  changeThread,
  type NewThread,
  newThread,
  type Refused,
  replaceThreadUsers,
  type Thread,
  type ThreadChange,
  type UserReplacement,
} from './rules/threads.ts';
import { mayJudge } from './rules/userCalls.ts';
import { threadAccessOps } from './threadAccessChanges.ts';
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

/** A thread from a request, with the id that it will have. */
export interface IdentifiedThread {
  readonly annotationId: string;
  /** True if the service generated the id. A thread that already has such an id was added by an earlier try of the same call. */
  readonly generated: boolean;
  readonly refused?: string | undefined;
  readonly sent: NewThread;
}

/** The result of adding one thread. */
export interface ThreadAdded {
  readonly success: boolean;
  readonly annotationId: string;
  readonly commentIds: number[];
  readonly message: string;
  /** The id of the agent's finding. Undefined for a thread that no agent wrote. */
  readonly findingId?: string | undefined;
}

/** The result of updating or deleting one thread. */
export interface ThreadWritten extends AnnotationResult {
  readonly embedding?: string | undefined;
}

export interface ThreadsUpdate {
  readonly change?: ThreadChange | undefined;
  readonly users?: readonly UserReplacement[] | undefined;
  /** The reason for a decision. A change with a reason can store a judgment, which semantic search can find. */
  readonly reason?: string | undefined;
  /** Undefined for an API key. */
  readonly viewer?: Viewer | undefined;
}

/** A thread to add. It has passed all checks that need no read. */
interface ThreadDraft extends Pick<IdentifiedThread, 'annotationId' | 'generated'> {
  readonly createdAt: number;
  /** The agents of the service that wrote the comments of the thread. */
  readonly agents: readonly CommentAgent[];
  readonly toOps: (annotationNumber: number) => readonly WriteOp[];
  readonly result: ThreadAdded;
}

/** A thread that a request selects. `thread` is undefined if the thread does not exist or does not match the filters. */
interface SelectedThread {
  readonly annotationId: string;
  readonly thread: Stored<Thread> | undefined;
}

/** The current state of a thread that a request changes. `first` is the thread's first comment, if the change needs it. */
interface ThreadWithFirst {
  readonly thread: Stored<Thread> | undefined;
  readonly first: Comment | undefined;
}

const BUSY = 'Annotation is being changed by another request.';
const TOO_LARGE =
  'Annotation is too large for one call: send some of its comments with /v2/commentannotations/comments/add. A call takes 100 items and 3.8 MB of an annotation: 2 items for itself, 1 for each comment, and 1 for each user in a comment. Notifications, activities, an assignee and agents take more.';
const PARALLEL = 4;
/**
 * The number of threads that one call changes together. A changed thread and its events can have 2 MB in memory, and one call can
 * change 500 threads.
 */
const THREADS_PER_BATCH = 30;
/** The number of comments that one read returns while users are replaced. */
const COMMENTS_PER_PAGE = 20;

export class ThreadWriter {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Adds threads with their first comments. Each thread is written in one transaction with its event. Thread ids must be
   * distinct. Returns one result per thread.
   *
   * If a thread cannot be added, the other threads are added. The thread fails in its own result for one of these reasons:
   * - Its id exists already, and the service did not generate it.
   * - It does not fit into one transaction.
   * - It names an unknown agent.
   * - `verify` is true, and an author of its comments has no access to the document.
   */
  async add(
    context: DocumentContext,
    threads: readonly IdentifiedThread[],
    { verify, now, byUser }: { verify: boolean; now: number; byUser: boolean },
  ): Promise<ThreadAdded[]> {
    const comments = threads.flatMap(({ sent }) => sent.commentData);
    const authors = distinct(comments.map(({ from }) => from.userId));
    const logs = comments.some(({ triggerActivities }) => triggerActivities);
    const [logged, allowed] = await Promise.all([
      readLoggedVerbs(this.#table, context.scope.tenant, logs),
      verify ? findUsersWithAccess(this.#table, context, authors, now) : new Set(authors),
    ]);
    const results = new Map<string, ThreadAdded>();
    const drafts: ThreadDraft[] = [];
    for (const thread of threads) {
      const { annotationId, refused, sent } = thread;
      const isAllowed = sent.commentData.every(({ from }) => allowed.has(from.userId));
      const refusal = refused ?? (isAllowed ? undefined : 'User does not have access to document');
      const draft =
        refusal === undefined ? draftThread(context, thread, logged, { now, byUser }) : { refused: refusal };
      if ('refused' in draft) results.set(annotationId, notAddedResult(annotationId, draft.refused));
      else drafts.push(draft);
    }
    for (const result of await this.#addDrafts(context, drafts, now)) results.set(result.annotationId, result);
    return threads.map(({ annotationId }) => results.get(annotationId) as ThreadAdded);
  }

  async #addDrafts(context: DocumentContext, drafts: readonly ThreadDraft[], now: number): Promise<ThreadAdded[]> {
    const { scope, document } = context;
    const { tenant, organizationKey } = scope;
    const keyOf = (annotationId: string) => recordIdKey('thread', annotationId, document.documentId);
    const agentsIn = (threads: readonly ThreadDraft[]) => threads.flatMap(({ agents }) => agents);
    // The thread numbers are reserved once per request, during the first reads. A thread that fails leaves its number unused.
    const reserveNumbers = lazy(() => reserveThreadNumbers(this.#table, scope, drafts.length));
    let agents: AgentLookup;
    let numbers: ReadonlyMap<string, number>;
    return writeEach<ThreadDraft, Stored<RecordPosition> | undefined, ThreadAdded>({
      table: this.#table,
      items: drafts,
      read: async (items) => {
        const recordIds = items.map(({ annotationId }) => keyOf(annotationId));
        const [positions, foundAgents, firstNumber] = await Promise.all([
          findRecordIds(this.#table, { tenant, organizationKey }, recordIds),
          findAgents(this.#table, tenant, agentsIn(items)),
          reserveNumbers(),
        ]);
        agents = foundAgents;
        numbers = new Map(drafts.map(({ annotationId }, index) => [annotationId, firstNumber + index]));
        return positions;
      },
      decide: (draft, stored) => {
        const { annotationId } = draft;
        const refuse = (message: string) => ({ result: notAddedResult(annotationId, message), ops: [] });
        // If the id is stored with another document key, it belongs to a deleted document with the same document id, and the id
        // is free.
        if (stored?.documentKey === scope.documentKey)
          return draft.generated ? { result: draft.result, ops: [] } : refuse('Annotation already exists.');
        const missing = agents.findMissing(draft.agents);
        if (missing !== undefined) return refuse(agentNotFound(missing));
        const ops = [
          ...draft.toOps(numbers.get(annotationId) as number),
          claimRecordId(scope, keyOf(annotationId), draft.createdAt, stored, now),
        ];
        const isSmall = fitsTransaction([...ops, ...agents.recordRuns(draft.agents, now).ops]);
        return isSmall ? { result: draft.result, ops } : refuse(TOO_LARGE);
      },
      addToTransaction: (changing) => agents.recordRuns(agentsIn(changing.map(({ item }) => item)), now),
      conflicted: ({ annotationId }) => notAddedResult(annotationId, BUSY),
    });
  }

  /**
   * Updates the threads that match the filters. First replaces the users in `users`, wherever they are authors, assignees or
   * mentioned. Then applies `change`. Returns one result per thread. An unknown id fails in its own result only. Throws
   * INVALID_ARGUMENT if more than 500 threads match.
   */
  async update(
    context: DocumentContext,
    filters: ThreadFilters,
    { users = [], ...update }: ThreadsUpdate,
    options: ChangeOptions,
  ): Promise<ThreadWritten[]> {
    const [selected, logged] = await Promise.all([
      this.#select(context, filters),
      readLoggedVerbs(this.#table, context.scope.tenant, options.log),
    ]);
    const threads = selected.flatMap(({ thread }) => thread ?? []);
    const results = new Map<string, ThreadWritten>();
    if (users.length > 0) {
      await inParallel(threads, PARALLEL, async (thread) => {
        const refused = await this.#replaceUsers(context.scope, thread, users, options.now);
        if (refused) results.set(thread.annotationId, failedAnnotation(thread.annotationId, refused.refused));
      });
    }
    const changeable = threads.filter(({ annotationId }) => !results.has(annotationId));
    const isFresh = users.length === 0;
    const changed = await inSlices(changeable, THREADS_PER_BATCH, (batch) =>
      this.#change(context, batch, { ...update, isFresh }, options, logged),
    );
    for (const result of changed) results.set(result.annotationId, result);
    return selected.map(({ annotationId, thread }) => {
      if (!thread) return unknownResult(annotationId);
      return results.get(annotationId) ?? updatedResult(annotationId);
    });
  }

  async #change(
    context: DocumentContext,
    threads: readonly Stored<Thread>[],
    { change, reason, viewer, isFresh }: Omit<ThreadsUpdate, 'users'> & { readonly isFresh: boolean },
    options: ChangeOptions,
    logged: LoggedVerbs,
  ): Promise<ThreadWritten[]> {
    if (!change) return [];
    const readHeads = threadHeadReader(this.#table, context.scope, isFresh);
    const needsFirst = change.assignedTo !== undefined || reason !== undefined;
    return writeEach<Stored<Thread>, ThreadWithFirst, ThreadWritten>({
      table: this.#table,
      items: threads,
      read: async (items) => this.#readFirstComments(context.scope, await readHeads(items), needsFirst),
      decide: ({ annotationId }, state) =>
        state.thread
          ? decideChange(context, { ...state, thread: state.thread }, { change, reason, viewer }, options, logged)
          : { result: unknownResult(annotationId), ops: [] },
      conflicted: ({ annotationId }) => failedAnnotation(annotationId, BUSY),
    });
  }

  async #readFirstComments(
    scope: DocumentScope,
    threads: readonly (Stored<Thread> | undefined)[],
    needsFirst: boolean,
  ): Promise<ThreadWithFirst[]> {
    const keys = threads.flatMap((thread) =>
      thread && needsFirst ? [commentKey(scope, thread, thread.first.commentId)] : [],
    );
    const comments = (await this.#table.getMany(CommentEntity, keys)).values();
    return threads.map((thread) => ({
      thread,
      first: thread && needsFirst ? comments.next().value : undefined,
    }));
  }

  /**
   * Replaces users in a thread. Writes the head (the item of the thread itself) first, together with the involvements of the
   * first comment, which depend on the assignee. Then writes the comments. Returns why the replacement is refused, or undefined
   * if it succeeded.
   */
  async #replaceUsers(
    scope: DocumentScope,
    key: ThreadKey,
    users: readonly UserReplacement[],
    now: number,
  ): Promise<Refused | undefined> {
    const replacements = new Map(users.map(({ oldUser, newUser }) => [oldUser.userId, newUser]));
    const replacement = (userId: string) => replacements.get(userId);
    await retryOnConflict(() => this.#replaceHeadUsers(scope, key, replacement, now));
    const replacePage = (after: string | undefined) =>
      retryOnConflict(async () => {
        const [thread, { values, next }] = await Promise.all([
          this.#table.get(ThreadEntity, { ...scope, ...key }),
          new ThreadReader(this.#table).listComments(scope, key, { limit: COMMENTS_PER_PAGE, after }),
        ]);
        if (!thread) return { next: undefined };
        const changes = values
          .map((before) => ({ before, after: replaceCommentUsers(before, replacement), eventOps: [] }))
          .filter((change) => change.after !== change.before);
        // A comment can mention a user many times, and the new user can have a longer profile.
        if (changes.some(({ after: changed }) => isTooLarge(changed)))
          return { next: undefined, refused: COMMENT_TOO_LARGE };
        const written = await writeChanges(this.#table, scope, thread, changes, now);
        return written === 'conflict' ? written : { next: 'refused' in written ? undefined : next, ...written };
      });
    for await (const page of pages(replacePage)) if ('refused' in page) return page;
    return undefined;
  }

  async #replaceHeadUsers(
    scope: DocumentScope,
    key: ThreadKey,
    replacement: (userId: string) => ContentUser | undefined,
    now: number,
  ): Promise<'done' | 'conflict'> {
    const thread = await this.#table.get(ThreadEntity, { ...scope, ...key });
    if (!thread) return 'done';
    const [first] = await this.#table.getMany(CommentEntity, [commentKey(scope, thread, thread.first.commentId)]);
    const next = { ...replaceThreadUsers(thread, replacement), lastUpdated: now };
    if (next.from === thread.from && next.assignedTo === thread.assignedTo) return 'done';
    const ops = [
      replace(ThreadEntity, { ...scope, ...next }, thread._r),
      ...threadAccessOps(scope, thread, next, now),
      ...firstCommentOps(scope, thread, next, first, now),
    ];
    return this.#table.tryWrite(ops);
  }

  /**
   * Deletes the threads that match the filters, with their comments and reactions. Returns one result per thread. An unknown id
   * fails in its own result only. Throws INVALID_ARGUMENT if more than 500 threads match.
   */
  async delete(context: DocumentContext, filters: ThreadFilters, options: ChangeOptions): Promise<ThreadWritten[]> {
    const [selected, logged] = await Promise.all([
      this.#select(context, filters),
      readLoggedVerbs(this.#table, context.scope.tenant, options.log),
    ]);
    const threads = selected.flatMap(({ thread }) => thread ?? []);
    const eventOps = (thread: DeletableThread) =>
      changeEventOps(context, [threadDeletedEvent(thread, options)], logged, options.now);
    const isSelected = (thread: Thread) => matchesFilters(thread, filters);
    const outcomes = (
      await deleteThreads(this.#table, context.scope, threads, options.now, { eventOps, isSelected })
    ).values();
    return selected.map(({ annotationId, thread }): ThreadWritten => {
      const outcome = thread ? outcomes.next().value : 'absent';
      if (outcome === 'absent') return unknownResult(annotationId);
      return outcome === 'deleted'
        ? { annotationId, success: true, message: 'Deleted Successfully' }
        : failedAnnotation(annotationId, BUSY);
    });
  }

  /** Returns the threads that match the filters. For a requested id that matches no thread, `thread` is undefined. */
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

function draftThread(
  context: DocumentContext,
  { annotationId, generated, sent }: IdentifiedThread,
  logged: LoggedVerbs,
  { now, byUser }: { now: number; byUser: boolean },
): ThreadDraft | Refused {
  const { scope, document } = context;
  const added = newThread(sent, { annotationId, documentId: document.documentId, now, byUser });
  if ('refused' in added) return added;
  const { thread, comments } = added;
  const change = {
    verb: 'newlyAdded',
    actor: thread.from,
    revision: 1,
    comment: comments[0],
    comments,
    notify: sent.commentData.some(({ triggerNotification }) => triggerNotification),
    log: sent.commentData.some(({ triggerActivities }) => triggerActivities),
  } as const;
  const commentOps = comments.flatMap((comment) => [
    insert(CommentEntity, { ...scope, ...comment }, now),
    ...commentInvolvementOps(scope, undefined, { thread, comment }),
  ]);
  const agent = readJson<Record<string, unknown>>(comments[0]?.agent);
  return {
    annotationId,
    generated,
    createdAt: thread.createdAt,
    agents: agentsOfComments(sent.commentData, { createdAt: thread.createdAt, now }),
    toOps: (annotationNumber) => [
      insert(ThreadEntity, { ...scope, ...thread, annotationNumber }, now),
      ...commentOps,
      ...changeEventOps(context, [{ ...change, thread: { ...thread, annotationNumber } }], logged, now),
    ],
    result: {
      success: true,
      annotationId,
      commentIds: comments.map(({ commentId }) => commentId),
      message: 'Added Successfully',
      findingId: agent && parseAgent(agent).reason.findingId,
    },
  };
}

function decideChange(
  context: DocumentContext,
  { thread, first }: ThreadWithFirst & { readonly thread: Stored<Thread> },
  { change, reason, viewer }: Omit<ThreadsUpdate, 'users'> & { readonly change: ThreadChange },
  options: ChangeOptions,
  logged: LoggedVerbs,
): Decision<ThreadWritten> {
  const { annotationId } = thread;
  const { actor, now, byUser } = options;
  const next = changeThread(thread, change, { actorId: actor?.userId, now, byUser });
  if ('refused' in next) return { result: failedAnnotation(annotationId, next.refused), ops: [] };
  const sameTime = { ...next, lastUpdated: change.lastUpdated ?? thread.lastUpdated };
  if (JSON.stringify(sameTime) === JSON.stringify(thread)) return { result: updatedResult(annotationId), ops: [] };
  const changed = { ...options, actor: actor ?? thread.from, thread: next, revision: thread._r + 1 };
  const events = detectThreadChanges(thread, next).map((field): ContentChange => ({ ...changed, ...field }));
  const judgment =
    reason !== undefined && actor && (!viewer || mayJudge(viewer, thread))
      ? judgmentFromThread(context, thread, next, first, { actor, reason, now, byUser: viewer !== undefined })
      : undefined;
  return {
    result: { ...updatedResult(annotationId), embedding: judgment?.notify },
    ops: [
      replace(ThreadEntity, { ...context.scope, ...next }, thread._r),
      ...threadAccessOps(context.scope, thread, next, now),
      ...(judgment?.ops ?? []),
      ...firstCommentOps(context.scope, thread, next, first, now),
      ...changeEventOps(context, events, logged, now),
    ],
  };
}

/** Returns the operations that move the involvement in the first comment from the former assignee to the new one. */
function firstCommentOps(
  scope: DocumentScope,
  before: Thread,
  after: Thread,
  comment: Comment | undefined,
  now: number,
): WriteOp[] {
  if (!comment) return [];
  return commentInvolvementOps(scope, { thread: before, comment }, { thread: after, comment }, now);
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
