import { distinct } from '../shared/collections.ts';
import type { ContentChange } from '../comments/rules/commentEvents.ts';
import type { Comment } from '../comments/rules/comments.ts';
import {
  type CommentReference,
  type ReactionRequest,
  type Reaction,
  addReactionUsers,
  type ReactionReference,
  toReactionResponse,
  addReference,
} from './rules.ts';
import type { Thread } from '../comments/rules/threads.ts';
import type { ContentUser } from '../content/rules/user.ts';
import type { Stored } from '../table/entity.ts';
import { insert, OPS_PER_TRANSACTION, replace, type Table, type WriteOp } from '../table/table.ts';
import { type Decision, writeEach } from '../table/writeEach.ts';
import { changeEventOps } from '../comments/changeEvents.ts';
import { addInvolvement } from '../content/involvements.ts';
import type { DocumentContext } from '../content/documentScope.ts';
import { reactionInvolvement, ReactionEntity, reactionDeletionOps } from './reactions.ts';
import { findRecordIds, claimRecordId, type RecordPosition } from '../content/recordIds.ts';
import { CommentEntity, ThreadEntity, ThreadReader } from '../comments/threads.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** What became of one reaction of a call. */
export interface ReactionResult {
  readonly success: boolean;
  readonly annotationId: string;
  readonly message: string;
}

/** A reaction by its id, and the comment that it is on as far as the call says. */
interface NamedReaction {
  readonly annotationId: string;
  readonly on?: CommentReference | undefined;
}

/** A reaction of a call, and those of its users who are added at a time. */
interface Step extends ReactionRequest {
  readonly some: readonly ContentUser[];
}

/** What is stored under a reaction's id, and of the comment that it is on, or is to be on. */
interface State {
  readonly name: Stored<RecordPosition> | undefined;
  readonly reaction: Stored<Reaction> | undefined;
  readonly target: { readonly thread: Stored<Thread>; readonly comment: Stored<Comment> } | undefined;
}

/** The most that one more user costs: reaction, id, edge, comment, and the two items of an event. */
const OPS_PER_USER = 6;
/** What a removal costs besides the edges of its users: reaction, id, comment, and an event. */
const OPS_PER_REMOVAL = 5;

export class ReactionWriter {
  readonly #table: Table;
  readonly #threads: ThreadReader;

  constructor(table: Table) {
    this.#table = table;
    this.#threads = new ThreadReader(table);
  }

  /**
   * Adds reactions, or users to those that are there already. A comment names the reactions on it, and each user's is told of
   * (`comment.reaction_add`), in the same transaction. One that cannot be fails alone.
   */
  async add(at: DocumentContext, reactions: readonly ReactionRequest[], now: number): Promise<ReactionResult[]> {
    const single = reactions.flatMap((reacting) => reacting.users.map((user): Step => ({ ...reacting, some: [user] })));
    const waves = inWaves(
      single,
      ({ annotationId, on }) => (on ? ['thread', on.annotationId] : ['reaction', annotationId]),
      () => OPS_PER_USER,
    );
    const results = new Map<string, ReactionResult>();
    for (const wave of waves) {
      await this.#write(
        wave.map(joined),
        results,
        (asked) => this.#read(at, asked),
        (asked, states) => addition(at, asked, states, now),
      );
    }
    return reactions.map(({ annotationId }) => results.get(annotationId) as ReactionResult);
  }

  /**
   * Removes reactions, and tells of those on comments (`comment.reaction_delete`): `actor` did it, or else who reacted first. One that is
   * not there fails alone. Ids are distinct.
   */
  async delete(
    at: DocumentContext,
    annotationIds: readonly string[],
    actor: ContentUser | undefined,
    now: number,
  ): Promise<ReactionResult[]> {
    const asked = annotationIds.map((annotationId) => ({ annotationId }));
    const states = await this.#read(at, asked);
    // What was read to find out what the reactions are on does for the first try of the first wave.
    const known = new Map(asked.map((one, index) => [one, states[index] as State]));
    const read = async (some: readonly NamedReaction[]) => {
      const before = some.map((one) => known.get(one));
      for (const one of some) known.delete(one);
      return before.every((state) => state !== undefined) ? before : this.#read(at, some);
    };
    const threadOf = (one: NamedReaction) => {
      const on = known.get(one)?.reaction?.on;
      return on ? ['thread', on.annotationId] : ['reaction', one.annotationId];
    };
    const waves = inWaves(
      asked,
      threadOf,
      (one) => OPS_PER_REMOVAL + (known.get(one)?.reaction?.fromUsers.length ?? 0),
    );
    const results = new Map<string, ReactionResult>();
    for (const wave of waves) {
      await this.#write(wave, results, read, (some, found) => removal(at, some, found, actor, now));
      known.clear();
    }
    return annotationIds.map((annotationId) => results.get(annotationId) as ReactionResult);
  }

  /** Writes what is decided on each group of reactions, and collects what became of them: of one that is in several waves its first failure. */
  async #write<N extends NamedReaction>(
    groups: readonly (readonly N[])[],
    results: Map<string, ReactionResult>,
    read: (reactions: readonly N[]) => Promise<readonly State[]>,
    decide: (reactions: readonly N[], states: readonly State[]) => Decision<ReactionResult[]>,
  ): Promise<void> {
    const written = await writeEach<readonly N[], readonly State[], ReactionResult[]>({
      table: this.#table,
      items: groups,
      read: async (some) => {
        const states = (await read(some.flat())).values();
        return some.map((group) => group.map(() => states.next().value as State));
      },
      decide,
      conflicted: (group) =>
        group.map(({ annotationId }) => failed(annotationId, 'Reaction is being changed by another request.')),
    });
    for (const result of written.flat())
      if (results.get(result.annotationId)?.success !== false) results.set(result.annotationId, result);
  }

  async #read({ scope: scope, document }: DocumentContext, asked: readonly NamedReaction[]): Promise<State[]> {
    const threadIds = distinct(asked.flatMap(({ on }) => on?.annotationId ?? []));
    const names = await findRecordIds(this.#table, { tenant: scope.tenant, organizationKey: scope.organizationKey }, [
      ...asked.map(
        ({ annotationId }) => ({ kind: 'reaction', id: annotationId, within: document.documentId }) as const,
      ),
      ...threadIds.map((id) => ({ kind: 'thread', id, within: document.documentId }) as const),
    ]);
    // A document that is gone may have left ids behind: in this one they lead to nothing.
    const threads = new Map(threadIds.map((id, index) => [id, names[asked.length + index]]));
    const reactions = await whereGiven(
      asked.map(({ annotationId }, index) => {
        const name = names[index];
        return name && { ...scope, annotationId, createdAt: name.createdAt };
      }),
      (keys) => this.#table.getMany(ReactionEntity, keys),
    );
    const targets = await whereGiven(
      asked.map(({ on }, index) => {
        const stored = reactions[index];
        const threadCreatedAt = stored ? stored.on?.threadCreatedAt : threads.get(on?.annotationId ?? '')?.createdAt;
        const comment = stored ? stored.on : on;
        return comment && threadCreatedAt !== undefined
          ? {
              documentKey: scope.documentKey,
              id: comment.annotationId,
              createdAt: threadCreatedAt,
              commentId: comment.commentId,
            }
          : undefined;
      }),
      (edges) => this.#threads.findInvolvedComments(scope, edges),
    );
    return asked.map((_one, index) => ({ name: names[index], reaction: reactions[index], target: targets[index] }));
  }
}

/** What happens when users react: to comments of one thread, or once to no comment. */
function addition(
  at: DocumentContext,
  steps: readonly Step[],
  states: readonly State[],
  now: number,
): Decision<ReactionResult[]> {
  const {
    scope: scope,
    document: { documentId },
  } = at;
  const comments = new ChangedComments();
  const ops: WriteOp[] = [];
  const result = steps.map((reacting, index): ReactionResult => {
    const { name, reaction: stored, target } = states[index] as State;
    const { annotationId } = reacting;
    if ((stored ?? reacting).on && !target) return failed(annotationId, 'Comment does not exist.');
    const on = target && {
      annotationId: target.comment.annotationId,
      commentId: target.comment.commentId,
      threadCreatedAt: target.thread.createdAt,
    };
    const outcome = addReactionUsers(
      stored,
      reacting,
      reacting.some,
      { documentId, on, threadLocation: target?.thread.location },
      now,
    );
    if ('refused' in outcome) return failed(annotationId, outcome.refused);
    const { reaction, added } = outcome;
    if (target && !comments.change(target.comment, (references) => addReference(references, reaction)))
      return failed(annotationId, 'Comment has too many reactions.');
    if (added.length > 0)
      ops.push(
        stored
          ? replace(ReactionEntity, { ...scope, ...reaction }, stored._r)
          : insert(ReactionEntity, { ...scope, ...reaction }),
      );
    if (!stored)
      ops.push(
        claimRecordId(scope, { kind: 'reaction', id: annotationId, within: documentId }, reaction.createdAt, name),
      );
    for (const user of added) {
      ops.push(
        addInvolvement(scope, { ...reactionInvolvement(scope, reaction), userId: user.userId, at: now, made: true }),
      );
      // Of the others they were told before.
      const own = { ...reaction, fromUsers: reaction.fromUsers.filter(({ from }) => from.userId === user.userId) };
      if (target)
        ops.push(
          ...tell(
            at,
            'reactionAdded',
            user,
            own,
            { thread: comments.touch(target.thread, now), comment: comments.now(target.comment) },
            now,
          ),
        );
    }
    return { success: true, annotationId, message: 'Reaction added.' };
  });
  return { result, ops: [...ops, ...comments.ops(at)] };
}

/** What happens when reactions are taken back. */
function removal(
  at: DocumentContext,
  asked: readonly NamedReaction[],
  states: readonly State[],
  by: ContentUser | undefined,
  now: number,
): Decision<ReactionResult[]> {
  const {
    scope: scope,
    document: { documentId },
  } = at;
  const comments = new ChangedComments();
  const ops: WriteOp[] = [];
  const result = asked.map(({ annotationId }, index): ReactionResult => {
    const { reaction, target } = states[index] as State;
    if (!reaction) return failed(annotationId, 'Reaction does not exist.');
    ops.push(...reactionDeletionOps(scope, documentId, [reaction]));
    const actor = by ?? reaction.fromUsers[0]?.from;
    if (target) comments.change(target.comment, (references) => references.filter(({ id }) => id !== annotationId));
    const thread = target && comments.touch(target.thread, now);
    if (target && thread && actor)
      ops.push(...tell(at, 'reactionDeleted', actor, reaction, { thread, comment: comments.now(target.comment) }, now));
    return { success: true, annotationId, message: 'Reaction deleted.' };
  });
  return { result, ops: [...ops, ...comments.ops(at)] };
}

/** The comments whose list of reactions a group changes, and their thread, whose `lastUpdated` moves so that a poller finds it. */
class ChangedComments {
  readonly #changed = new Map<string, Stored<Comment>>();
  #thread: Stored<Thread> | undefined;

  /** Moves the `lastUpdated` of the thread, and returns the thread after it. A group has one thread. */
  touch(thread: Stored<Thread>, now: number): Stored<Thread> {
    this.#thread ??= { ...thread, lastUpdated: Math.max(now, thread.lastUpdated) };
    return this.#thread;
  }

  /** A comment as it is by now. */
  now(comment: Stored<Comment>): Stored<Comment> {
    return this.#changed.get(keyOf(comment)) ?? comment;
  }

  /** Has a comment name other reactions; false when `change` says that it cannot. */
  change(
    comment: Stored<Comment>,
    change: (references: readonly ReactionReference[]) => readonly ReactionReference[] | undefined,
  ): boolean {
    const before = this.now(comment).reactions ?? [];
    const after = change(before);
    if (after && after !== before) this.#changed.set(keyOf(comment), { ...comment, reactions: [...after] });
    return after !== undefined;
  }

  ops({ scope: scope }: DocumentContext): WriteOp[] {
    const comments = [...this.#changed.values()].map((comment) =>
      replace(CommentEntity, { ...scope, ...comment }, comment._r),
    );
    return this.#thread
      ? [replace(ThreadEntity, { ...scope, ...this.#thread }, this.#thread._r), ...comments]
      : comments;
  }
}

function keyOf({ annotationId, commentId }: Comment): string {
  return JSON.stringify([annotationId, commentId]);
}

/** The operations that tell of a reaction to a comment; of each user's, and of its end, once. */
function tell(
  at: DocumentContext,
  verb: 'reactionAdded' | 'reactionDeleted',
  actor: ContentUser,
  reaction: Reaction,
  on: Pick<ContentChange, 'thread' | 'comment'>,
  now: number,
): WriteOp[] {
  const { scope: scope, organization } = at;
  const shown = toReactionResponse({ apiKey: scope.tenant, organizationId: organization.organizationId }, reaction);
  const revision = JSON.stringify([reaction.annotationId, actor.userId]);
  return changeEventOps(
    at,
    [{ verb, actor, ...on, revision, reaction: shown, notify: true, log: false }],
    () => false,
    now,
  );
}

function failed(annotationId: string, message: string): ReactionResult {
  return { success: false, annotationId, message };
}

/** Steps that are taken together, each reaction once. */
function joined(steps: readonly Step[]): Step[] {
  return [...Map.groupBy(steps, ({ annotationId }) => annotationId).values()].map((same) => ({
    ...(same[0] as Step),
    some: same.flatMap(({ some }) => some),
  }));
}

/**
 * What is written at the same time, wave by wave: those with the same key are one transaction, which takes so many of them as `weight`,
 * the operations of one, leaves room for; the others wait for the next wave, as they change the same thing.
 */
function inWaves<T>(items: readonly T[], key: (item: T) => unknown, weight: (item: T) => number): T[][][] {
  const waves: T[][][] = [];
  for (const same of Map.groupBy(items, (item) => JSON.stringify(key(item))).values()) {
    let [wave, room] = [-1, 0];
    for (const item of same) {
      if (wave < 0 || weight(item) > room) {
        wave += 1;
        // One for the thread.
        room = OPS_PER_TRANSACTION - 1;
        (waves[wave] ??= []).push([]);
      }
      waves[wave]?.at(-1)?.push(item);
      room -= weight(item);
    }
  }
  return waves;
}

/** Reads what some of the keys lead to; where there is no key there is nothing. */
async function whereGiven<K, V>(
  keys: readonly (K | undefined)[],
  read: (keys: K[]) => Promise<(V | undefined)[]>,
): Promise<(V | undefined)[]> {
  const found = (await read(keys.filter((key) => key !== undefined))).values();
  return keys.map((key) => (key === undefined ? undefined : found.next().value));
}

export const writeReactions = /* @__PURE__ */ storeCapability(ReactionWriter, [
  'BatchGetItem',
  'PutItem',
  'DeleteItem',
]);
