import { building, type Capability } from '../app/capability.ts';
import { distinct } from '../shared/collections.ts';
import { agentsOfComments, type CommentAgent } from './rules/commentAgents.ts';
import { detectThreadChanges, type ContentChange } from './rules/commentEvents.ts';
import { type Comment, parseAgent, readJson, replaceCommentUsers } from './rules/comments.ts';
import { matchesFilters, type ThreadFilters } from './rules/threadFilters.ts';
import {
  changeThread,
  type NewThread,
  newThread,
  type Refused,
  type Thread,
  type ThreadChange,
  type UserReplacement,
  replaceThreadUsers,
} from './rules/threads.ts';
import { ApiError, invalid } from '../shared/errors.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { ItemOutcome } from '../shared/results.ts';
import { limits } from '../shared/schema.ts';
import { readActivityConfig } from '../workspaces/configs/activityConfig.ts';
import { findAgents, type FoundAgents, agentNotFound } from '../agents/agentRuns.ts';
import type { Stored } from '../table/entity.ts';
import { judgmentFromThread } from '../memory/judgmentFromThread.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { insert, openTable, replace, type WriteOp } from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';
import { fitsTransaction, writeChanges } from './commentChanges.ts';
import {
  type ChangeOptions,
  changeEventOps,
  type LoggedVerbs,
  readLoggedVerbs,
  threadDeletedEvent,
} from './changeEvents.ts';
import type { DocumentContext, DocumentScope } from '../content/documentScope.ts';
import { findRecordIds, claimRecordId, type RecordPosition } from '../content/recordIds.ts';
import { type DeletableThread, deleteThreads } from './deleteThreads.ts';
import { commentInvolvementOps } from './commentInvolvements.ts';
import { reserveThreadNumbers } from './threadNumbers.ts';
import { CommentEntity, threadHeadReader, readThreads, ThreadEntity, type ThreadKey, ThreadReader } from './threads.ts';
import { usersWithAccess } from '../content/accessChecks.ts';

/** A thread to add, with its id. */
export interface IdentifiedThread {
  readonly annotationId: string;
  readonly sent: NewThread;
}

/** What became of one thread of a call. */
export interface ThreadAdded {
  readonly success: boolean;
  readonly annotationId: string;
  readonly commentIds: number[];
  readonly message: string;
  /** The finding of an agent that it is about. */
  readonly findingId?: string | undefined;
}

export interface ThreadWritten extends ItemOutcome {
  readonly annotationId: string;
  /** The job that makes the vectors of the judgment which the change was. */
  readonly embedding?: string | undefined;
}

/** What an update does to threads. */
export interface ThreadsUpdate {
  readonly change?: ThreadChange | undefined;
  readonly users?: readonly UserReplacement[] | undefined;
  /** Why; a change that decides something becomes a judgment by it. */
  readonly reason?: string | undefined;
}

/** A thread that is about to be added: what is written besides its id, and the answer then. */
interface Draft {
  readonly createdAt: number;
  /** The service's own agents that its comments are of. */
  readonly agents: readonly CommentAgent[];
  readonly ops: (annotationNumber: number) => readonly WriteOp[];
  readonly result: ThreadAdded;
}

const BUSY = 'Annotation is being changed by another request.';
const TOO_LARGE =
  'Annotation is too large for one call: send some of its comments with /v2/commentannotations/comments/add.';
const PARALLEL = 4;
/** How many comments are read at a time to replace users in them. */
const COMMENTS_AT_ONCE = 20;

export class ThreadWriter extends ThreadReader {
  /**
   * Adds threads with their first comments, each in one transaction: who is told that a thread was added finds it so. One whose id is
   * taken, that is more than a transaction takes, that is of an agent that does not exist, or with `verify` one with an author who has no
   * access to the document, fails alone, and nothing of it is written. Ids are distinct.
   */
  async add(
    found: DocumentContext,
    threads: readonly IdentifiedThread[],
    { verify, now }: { verify: boolean; now: number },
  ): Promise<ThreadAdded[]> {
    const {
      scope: scope,
      document: { documentId },
    } = found;
    const authors = distinct(threads.flatMap(({ sent }) => sent.commentData.map(({ from }) => from.userId)));
    const [logged, allowed] = await Promise.all([
      readLoggedVerbs(
        this.table,
        scope.tenant,
        threads.some(({ sent }) => sent.commentData.some(({ triggerActivities }) => triggerActivities)),
      ),
      verify ? usersWithAccess(this.table, found, authors, { now }) : new Set(authors),
    ]);
    const drafts = new Map(
      threads.map(({ annotationId, sent }) => {
        const denied = !sent.commentData.every(({ from }) => allowed.has(from.userId));
        return [
          annotationId,
          denied
            ? { refused: 'User does not have access to document' }
            : this.#draft(found, annotationId, sent, logged, now),
        ] as const;
      }),
    );
    const agentsIn = (items: readonly IdentifiedThread[]) =>
      items.flatMap(({ annotationId }) => (drafts.get(annotationId) as Partial<Draft>).agents ?? []);
    let agents: FoundAgents;
    // Reserved once in a call, beside the first reads. An item that fails leaves a gap.
    const numbered = threads.filter(
      ({ annotationId }) => !('refused' in (drafts.get(annotationId) as Draft | Refused)),
    );
    let numbers: ReadonlyMap<string, number> | undefined;
    const reserve = async () => {
      const first = numbered.length > 0 ? await reserveThreadNumbers(this.table, scope, numbered.length) : 1;
      return new Map(numbered.map(({ annotationId }, index) => [annotationId, first + index]));
    };
    return writeEach<IdentifiedThread, Stored<RecordPosition> | undefined, ThreadAdded>({
      table: this.table,
      items: threads,
      read: async (items) => {
        const [positions, named, reserved] = await Promise.all([
          this.#positions(
            found,
            items.map(({ annotationId }) => annotationId),
          ),
          findAgents(this.table, scope.tenant, agentsIn(items)),
          numbers ?? reserve(),
        ]);
        [agents, numbers] = [named, reserved];
        return positions;
      },
      decide: ({ annotationId }, stored) => {
        const draft = drafts.get(annotationId) as Draft | Refused;
        if ('refused' in draft) return { result: notAdded(annotationId, draft.refused), ops: [] };
        // What a document that is gone left behind does not count.
        if (stored?.documentKey === scope.documentKey)
          return { result: notAdded(annotationId, 'Annotation already exists.'), ops: [] };
        const missing = agents.findMissing(draft.agents);
        if (missing !== undefined) return { result: notAdded(annotationId, agentNotFound(missing)), ops: [] };
        const ops = [
          ...draft.ops(numbers?.get(annotationId) as number),
          claimRecordId(scope, { kind: 'thread', id: annotationId, within: documentId }, draft.createdAt, stored),
        ];
        return fitsTransaction([...ops, ...agents.recordRuns(draft.agents, now).ops])
          ? { result: draft.result, ops }
          : { result: notAdded(annotationId, TOO_LARGE), ops: [] };
      },
      together: (changing) => agents.recordRuns(agentsIn(changing.map(({ item }) => item)), now),
      conflicted: ({ annotationId }) => notAdded(annotationId, BUSY),
    });
  }

  #draft(
    found: DocumentContext,
    annotationId: string,
    sent: NewThread,
    logged: LoggedVerbs,
    now: number,
  ): Draft | Refused {
    const made = newThread(sent, { annotationId, documentId: found.document.documentId, now });
    if ('refused' in made) return made;
    const { thread, comments } = made;
    const asks = (what: 'triggerNotification' | 'triggerActivities') =>
      sent.commentData.some((comment) => comment[what] === true);
    const [comment] = comments;
    const [notify, log] = [asks('triggerNotification'), asks('triggerActivities')];
    const happening = { verb: 'newlyAdded', actor: thread.from, revision: 1, comment, comments, notify, log } as const;
    return {
      createdAt: thread.createdAt,
      agents: agentsOfComments(sent.commentData, { createdAt: thread.createdAt, now }),
      ops: (annotationNumber) => [
        insert(ThreadEntity, { ...found.scope, ...thread, annotationNumber }),
        ...comments.flatMap((one) => [
          insert(CommentEntity, { ...found.scope, ...one }),
          ...commentInvolvementOps(found.scope, undefined, { thread, comment: one }),
        ]),
        ...changeEventOps(found, [{ ...happening, thread: { ...thread, annotationNumber } }], logged, now),
      ],
      result: added(annotationId, comments),
    };
  }

  async #positions(
    { scope: { tenant, organizationKey }, document: { documentId } }: DocumentContext,
    annotationIds: readonly string[],
  ) {
    return findRecordIds(
      this.table,
      { tenant, organizationKey },
      annotationIds.map((id) => ({ kind: 'thread', id, within: documentId })),
    );
  }

  /**
   * Changes the threads that meet the filters: `users` takes the place of others as author, assignee and among those mentioned, in the
   * comments too; then `change`. One that is named and not there fails alone. INVALID_ARGUMENT when more than 500 meet the filters.
   */
  async update(
    found: DocumentContext,
    filters: ThreadFilters,
    { change, users = [], reason }: ThreadsUpdate,
    acting: ChangeOptions,
  ): Promise<ThreadWritten[]> {
    const [selected, logged] = await Promise.all([
      this.#select(found, filters),
      readLoggedVerbs(this.table, found.scope.tenant, acting.log),
    ]);
    const threads = selected.flatMap(({ thread }) => thread ?? []);
    const refused = new Map<string, Refused>();
    if (users.length > 0) {
      await inParallel(threads, PARALLEL, async (thread) => {
        const outcome = await this.#replaceUsers(found.scope, thread, users, acting.now);
        if (outcome) refused.set(thread.annotationId, outcome);
      });
    }
    const heads = threadHeadReader(this.table, found.scope, users.length === 0);
    const changed = change
      ? await this.#change(
          found,
          threads.filter(({ annotationId }) => !refused.has(annotationId)),
          heads,
          change,
          reason,
          acting,
          logged,
        )
      : [];
    const results = new Map(changed.map((result) => [result.annotationId, result]));
    return selected.map(({ annotationId, thread }) => {
      const failure = refused.get(annotationId);
      if (failure) return { annotationId, success: false, message: failure.refused };
      return results.get(annotationId) ?? (thread ? updated(annotationId) : unknown(annotationId));
    });
  }

  async #change(
    found: DocumentContext,
    threads: readonly Stored<Thread>[],
    heads: ReturnType<typeof threadHeadReader>,
    change: ThreadChange,
    reason: string | undefined,
    acting: ChangeOptions,
    logged: LoggedVerbs,
  ): Promise<ThreadWritten[]> {
    const { scope: scope } = found;
    const { now } = acting;
    return writeEach<Stored<Thread>, { thread: Stored<Thread> | undefined; first: Comment | undefined }, ThreadWritten>(
      {
        table: this.table,
        items: threads,
        read: async (items) =>
          this.#withFirst(scope, await heads(items), change.assignedTo !== undefined || reason !== undefined),
        decide: ({ annotationId }, { thread, first }) => {
          if (!thread) return { result: unknown(annotationId), ops: [] };
          const next = changeThread(thread, change, { actorId: acting.actor?.userId, now });
          if ('refused' in next) return { result: { annotationId, success: false, message: next.refused }, ops: [] };
          if (
            JSON.stringify({ ...next, lastUpdated: change.lastUpdated ?? thread.lastUpdated }) ===
            JSON.stringify(thread)
          )
            return { result: updated(annotationId), ops: [] };
          const after = { thread: next, revision: thread._r + 1, actor: acting.actor ?? thread.from };
          const told = detectThreadChanges(thread, next).map((difference): ContentChange => ({
            ...acting,
            ...difference,
            ...after,
          }));
          const judged =
            reason !== undefined && acting.actor
              ? judgmentFromThread(found, thread, next, first, { actor: acting.actor, reason, now })
              : undefined;
          return {
            result: { ...updated(annotationId), embedding: judged?.jobId },
            ops: [
              replace(ThreadEntity, { ...scope, ...next }, thread._r),
              ...(judged?.ops ?? []),
              ...(first
                ? commentInvolvementOps(scope, { thread, comment: first }, { thread: next, comment: first })
                : []),
              ...changeEventOps(found, told, logged, now),
            ],
          };
        },
        conflicted: ({ annotationId }) => ({ annotationId, success: false, message: BUSY }),
      },
    );
  }

  /** Threads with their first comments, when these are asked for: the assignee is involved in them. */
  async #withFirst(scope: DocumentScope, threads: readonly (Stored<Thread> | undefined)[], asked: boolean) {
    const comments = (
      await this.table.getMany(
        CommentEntity,
        asked ? threads.flatMap((thread) => (thread ? [firstOf(scope, thread)] : [])) : [],
      )
    ).values();
    return threads.map((thread) => ({ thread, first: thread && asked ? comments.next().value : undefined }));
  }

  /** Puts users in the place of others in a thread: in its head and first comment, with which the assignee is involved, then in the others. */
  async #replaceUsers(
    scope: DocumentScope,
    key: ThreadKey,
    users: readonly UserReplacement[],
    now: number,
  ): Promise<Refused | undefined> {
    const replacements = new Map(users.map(({ oldUser, newUser }) => [oldUser.userId, newUser]));
    const replaced = (userId: string) => replacements.get(userId);
    await retryOnConflict(async () => {
      const thread = await this.table.get(ThreadEntity, { ...scope, ...key });
      if (!thread) return 'done';
      const [first] = await this.table.getMany(CommentEntity, [firstOf(scope, thread)]);
      const next = { ...replaceThreadUsers(thread, replaced), lastUpdated: now };
      if (next.from === thread.from && next.assignedTo === thread.assignedTo) return 'done';
      const edges = first
        ? commentInvolvementOps(scope, { thread, comment: first }, { thread: next, comment: first })
        : [];
      return (await this.table.write([replace(ThreadEntity, { ...scope, ...next }, thread._r), ...edges])) === 'done'
        ? 'done'
        : 'conflict';
    });
    let after: string | undefined;
    do {
      const page = await retryOnConflict(async () => {
        const [thread, { values, next }] = await Promise.all([
          this.table.get(ThreadEntity, { ...scope, ...key }),
          this.listComments(scope, key, { limit: COMMENTS_AT_ONCE, after }),
        ]);
        if (!thread) return { next: undefined };
        const changed = values
          .map((before) => ({ before, after: replaceCommentUsers(before, replaced), told: [] }))
          .filter((one) => one.after !== one.before);
        const written = await writeChanges(this.table, scope, thread, changed, now);
        return written === 'conflict' || 'refused' in written ? written : { next };
      });
      if ('refused' in page) return page;
      after = page.next;
    } while (after !== undefined);
    return undefined;
  }

  /**
   * Removes the threads that meet the filters, with all that hangs on them. One that is named and not there fails alone. INVALID_ARGUMENT
   * when more than 500 meet the filters.
   */
  async delete(found: DocumentContext, filters: ThreadFilters, acting: ChangeOptions): Promise<ThreadWritten[]> {
    const [selected, logged] = await Promise.all([
      this.#select(found, filters),
      readLoggedVerbs(this.table, found.scope.tenant, acting.log),
    ]);
    const threads = selected.flatMap(({ thread }) => thread ?? []);
    const told = (removable: DeletableThread) =>
      changeEventOps(found, [threadDeletedEvent(removable, acting)], logged, acting.now);
    const outcomes = (await deleteThreads(this.table, found.scope, threads, acting.now, told)).values();
    return selected.map(({ annotationId, thread }): ThreadWritten => {
      const outcome = thread ? outcomes.next().value : 'absent';
      if (outcome === 'absent') return unknown(annotationId);
      return outcome === 'removed'
        ? { annotationId, success: true, message: 'Deleted Successfully' }
        : { annotationId, success: false, message: BUSY };
    });
  }

  /** The threads that meet the filters; of those that are named also the ones that are not there, or do not meet the others. */
  async #select(
    { scope: scope, document: { documentId } }: DocumentContext,
    filters: ThreadFilters,
  ): Promise<Selected[]> {
    if (filters.annotationIds) {
      const annotationIds = distinct(filters.annotationIds);
      const threads = await this.findByIds(scope, documentId, annotationIds);
      return annotationIds.map((annotationId, index) => ({
        annotationId,
        thread: threads[index] && matchesFilters(threads[index], filters) ? threads[index] : undefined,
      }));
    }
    const selected: Selected[] = [];
    let after: string | undefined;
    do {
      const { records, next } = await this.list(scope, {
        descending: false,
        filters,
        limit: limits.list + 1,
        after,
      });
      selected.push(...records.map(({ value: { thread } }) => ({ annotationId: thread.annotationId, thread })));
      if (selected.length > limits.list) throw tooMany();
      after = next;
    } while (after !== undefined);
    return selected;
  }
}

/** A thread that a call is about, as it was when it was looked for; undefined when there is none. */
interface Selected {
  readonly annotationId: string;
  readonly thread: Stored<Thread> | undefined;
}

function firstOf(scope: DocumentScope, { annotationId, createdAt, first }: Thread) {
  return { ...scope, annotationId, threadCreatedAt: createdAt, commentId: first.commentId };
}

function added(annotationId: string, comments: readonly Comment[]): ThreadAdded {
  const agent = readJson<Record<string, unknown>>(comments[0]?.agent);
  const commentIds = comments.map(({ commentId }) => commentId);
  return {
    success: true,
    annotationId,
    commentIds,
    message: 'Added Successfully',
    findingId: agent && parseAgent(agent).reason.findingId,
  };
}

function notAdded(annotationId: string, message: string): ThreadAdded {
  return { success: false, annotationId, commentIds: [], message };
}

function updated(annotationId: string): ThreadWritten {
  return { annotationId, success: true, message: 'Annotations updated successfully' };
}

function unknown(annotationId: string): ThreadWritten {
  return { annotationId, success: false, message: 'Annotation not found.' };
}

function tooMany(): ApiError {
  return invalid({
    path: [],
    code: 'too_big',
    message: `More than ${limits.list} annotations are selected: select fewer`,
  });
}

/** Add threads: their numbers come from a counter. */
export const addThreads: Capability<Pick<ThreadWriter, 'add'>> = /* @__PURE__ */ building(
  [readThreads, readActivityConfig],
  {
    grants: [{ resource: 'table', actions: ['PutItem', 'UpdateItem'] }],
    env: [],
    open: (env) => new ThreadWriter(openTable(env)),
  },
);

/** Change and remove threads. */
export const writeThreads: Capability<Pick<ThreadWriter, 'update' | 'delete'>> = /* @__PURE__ */ building(
  [readThreads, readActivityConfig],
  {
    grants: [{ resource: 'table', actions: ['PutItem', 'DeleteItem'] }],
    env: [],
    open: (env) => new ThreadWriter(openTable(env)),
  },
);
