import type { Capability } from '../app/capability.ts';
import type { DocumentContext } from '../content/documentScope.ts';
import { addInvolvement } from '../content/involvements.ts';
import { claimRecordId, findRecordIds, recordIdKey, type RecordPosition } from '../content/recordIds.ts';
import type { ContentUser } from '../content/rules/contentUser.ts';
import {
  reactionDeletionOps,
  ReactionEntity,
  reactionInvolvement,
  reactionUserRemovalOps,
} from '../reactions/reactions.ts';
import {
  addReactionUsers,
  addReference,
  type CommentReference,
  type Reaction,
  type ReactionReference,
  type ReactionRequest,
  toReactionResponse,
} from '../reactions/rules.ts';
import { distinct } from '../shared/collections.ts';
import { readDefined } from '../shared/readDefined.ts';
import { type AnnotationResult, failedAnnotation } from '../shared/results.ts';
import type { Stored } from '../table/entity.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insertOrReplace, OPS_PER_TRANSACTION, replace, type Table, type WriteOp } from '../table/table.ts';
import { type Decision, writeEach } from '../table/writeEach.ts';
import { changeEventOps } from './changeEvents.ts';
import type { Comment } from './rules/comments.ts';
import type { Thread } from './rules/threads.ts';
import { CommentEntity, ThreadEntity, ThreadReader } from './threads.ts';

/** The id of a reaction. `on` is the reaction's comment, if the request names it. */
interface ReactionKey {
  readonly annotationId: string;
  readonly on?: CommentReference | undefined;
}

/** A reaction of a request. `stepUsers` are the users whom one transaction adds to it. */
interface ReactionStep extends ReactionRequest {
  readonly stepUsers: readonly ContentUser[];
}

interface Target {
  readonly thread: Stored<Thread>;
  readonly comment: Stored<Comment>;
}

/**
 * What is stored for a reaction. `position` says where its id is stored. `target` is the comment that the reaction is on, or will
 * be on.
 */
interface ReactionState {
  readonly position: Stored<RecordPosition> | undefined;
  readonly reaction: Stored<Reaction> | undefined;
  readonly target: Target | undefined;
}

interface AdditionOptions {
  /** Whether the caller may read a comment. */
  readonly isReadable: (comment: Comment) => boolean;
  readonly now: number;
}

/**
 * `actor` is the actor of the events. `onlyOf` is the id of a user. If it is given, only this user is removed from the reactions.
 * A reaction is then deleted only if it has no other user.
 */
interface DeletionOptions {
  readonly actor: ContentUser | undefined;
  readonly onlyOf?: string | undefined;
  readonly now: number;
}

/**
 * The number of operations for each added user. They write the reaction, its id, the involvement (the item which says that the
 * user reacted), the comment, and the two items of an event.
 */
const OPS_PER_USER = 6;
/**
 * The number of operations of one deletion, without one per user for the involvement. They write the reaction, its id, the
 * comment, and the two items of an event.
 */
const OPS_PER_DELETION = 5;

export class ReactionWriter {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Adds reactions, or adds users to existing reactions. The same transaction writes the comment of the reaction, and emits
   * `comment.reaction_add` for each user. Returns one result per reaction. A refused reaction fails in its own result only. The
   * others are added. A comment for which `isReadable` returns false is treated like one that does not exist.
   */
  async add(
    context: DocumentContext,
    reactions: readonly ReactionRequest[],
    options: AdditionOptions,
  ): Promise<AnnotationResult[]> {
    // A request without a comment can be about an existing reaction on a comment.
    const firstRead = await this.#readById(
      context,
      reactions.filter(({ on }) => !on),
    );
    const steps = reactions.flatMap((request) =>
      request.users.map((user): ReactionStep => ({ ...request, stepUsers: [user] })),
    );
    const waves = groupIntoWaves(
      steps,
      ({ annotationId, on }) => lockOf(annotationId, on ?? firstRead.get(annotationId)?.reaction?.on),
      () => OPS_PER_USER,
    );
    const merged = waves.map((wave) => wave.map(mergeSteps));
    const results = await this.#writeWaves(context, merged, firstRead, (steps, states) =>
      decideAddition(context, steps, states, options),
    );
    return reactions.map(({ annotationId }) => results.get(annotationId) as AnnotationResult);
  }

  /**
   * Deletes reactions. Ids must be distinct. Emits `comment.reaction_delete` for each reaction on a comment. The actor of the
   * event is `actor`, or the first user of the reaction if `actor` is undefined.
   *
   * Returns one result per reaction. An unknown reaction fails in its own result only.
   */
  async delete(
    context: DocumentContext,
    annotationIds: readonly string[],
    options: DeletionOptions,
  ): Promise<AnnotationResult[]> {
    const keys = annotationIds.map((annotationId) => ({ annotationId }));
    const firstRead = await this.#readById(context, keys);
    const waves = groupIntoWaves(
      keys,
      ({ annotationId }) => lockOf(annotationId, firstRead.get(annotationId)?.reaction?.on),
      ({ annotationId }) => OPS_PER_DELETION + (firstRead.get(annotationId)?.reaction?.fromUsers.length ?? 0),
    );
    const results = await this.#writeWaves(context, waves, firstRead, (group, states) =>
      decideDeletion(context, group, states, options),
    );
    return annotationIds.map((annotationId) => results.get(annotationId) as AnnotationResult);
  }

  /**
   * Writes the waves one after another, and each group of a wave in one transaction. The first wave uses the states in
   * `firstRead`. Returns the result of each reaction, by id. If several transactions write the same reaction, the result is its
   * first failure.
   */
  async #writeWaves<K extends ReactionKey>(
    context: DocumentContext,
    waves: readonly (readonly (readonly K[])[])[],
    firstRead: Map<string, ReactionState>,
    decide: (reactions: readonly K[], states: readonly ReactionState[]) => Decision<AnnotationResult[]>,
  ): Promise<ReadonlyMap<string, AnnotationResult>> {
    const results = new Map<string, AnnotationResult>();
    for (const wave of waves) {
      const written = await writeEach<readonly K[], readonly ReactionState[], AnnotationResult[]>({
        table: this.#table,
        items: wave,
        read: async (unread) => {
          const states = (await this.#takeOrRead(context, unread.flat(), firstRead)).values();
          return unread.map((group) => group.map(() => states.next().value as ReactionState));
        },
        decide,
        conflicted: (group) =>
          group.map(({ annotationId }) =>
            failedAnnotation(annotationId, 'Reaction is being changed by another request.'),
          ),
      });
      for (const result of written.flat())
        if (results.get(result.annotationId)?.success !== false) results.set(result.annotationId, result);
      firstRead.clear();
    }
    return results;
  }

  async #readById(context: DocumentContext, keys: readonly ReactionKey[]): Promise<Map<string, ReactionState>> {
    const states = keys.length > 0 ? await this.#read(context, keys) : [];
    return new Map(keys.map(({ annotationId }, index) => [annotationId, states[index] as ReactionState]));
  }

  /**
   * Returns the states of reactions with distinct ids. Takes states out of `firstRead`, and reads the others. A retry therefore
   * reads all of them again.
   */
  async #takeOrRead(
    context: DocumentContext,
    keys: readonly ReactionKey[],
    firstRead: Map<string, ReactionState>,
  ): Promise<readonly ReactionState[]> {
    const rest = keys.filter(({ annotationId }) => !firstRead.has(annotationId));
    const states = new Map([...firstRead, ...(await this.#readById(context, rest))]);
    for (const { annotationId } of keys) firstRead.delete(annotationId);
    return keys.map(({ annotationId }) => states.get(annotationId) as ReactionState);
  }

  async #read({ scope, document }: DocumentContext, keys: readonly ReactionKey[]): Promise<ReactionState[]> {
    const { tenant, organizationKey } = scope;
    const within = document.documentId;
    const threadIds = distinct(keys.flatMap(({ on }) => on?.annotationId ?? []));
    // The stored position can be that of a reaction in a deleted document with the same id. No reaction is then found in this
    // document.
    const positions = await findRecordIds(this.#table, { tenant, organizationKey }, [
      ...keys.map(({ annotationId }) => recordIdKey('reaction', annotationId, within)),
      ...threadIds.map((id) => recordIdKey('thread', id, within)),
    ]);
    const threads = new Map(threadIds.map((id, index) => [id, positions[keys.length + index]]));
    const reactions = await readDefined(
      keys.map(({ annotationId }, index) => {
        const position = positions[index];
        return position && { ...scope, annotationId, createdAt: position.createdAt };
      }),
      (defined) => this.#table.getMany(ReactionEntity, defined),
    );
    const targets = await readDefined(
      keys.map(({ on }, index) => {
        const reaction = reactions[index];
        const comment = reaction ? reaction.on : on;
        const createdAt = reaction ? reaction.on?.threadCreatedAt : threads.get(on?.annotationId ?? '')?.createdAt;
        if (!comment || createdAt === undefined) return undefined;
        return { documentKey: scope.documentKey, id: comment.annotationId, createdAt, commentId: comment.commentId };
      }),
      (defined) => new ThreadReader(this.#table).findInvolvedComments(scope, defined),
    );
    return keys.map((_key, index) => ({
      position: positions[index],
      reaction: reactions[index],
      target: targets[index],
    }));
  }
}

/**
 * Returns the results and operations of one transaction. All its steps write the same record: a thread, or one reaction to the
 * document.
 */
function decideAddition(
  context: DocumentContext,
  steps: readonly ReactionStep[],
  states: readonly ReactionState[],
  { isReadable, now }: AdditionOptions,
): Decision<AnnotationResult[]> {
  const { scope } = context;
  const { documentId } = context.document;
  const targets = new ChangedTargets();
  const ops: WriteOp[] = [];
  const result = steps.map((step, index): AnnotationResult => {
    const { position, reaction: stored, target } = states[index] as ReactionState;
    const { annotationId } = step;
    if ((stored ?? step).on && !(target && isReadable(target.comment)))
      return failedAnnotation(annotationId, 'Comment does not exist.');
    const on = target && {
      annotationId: target.comment.annotationId,
      commentId: target.comment.commentId,
      threadCreatedAt: target.thread.createdAt,
    };
    const reactionContext = { documentId, on, threadLocation: target?.thread.location };
    const outcome = addReactionUsers(stored, step, step.stepUsers, reactionContext, now);
    if ('refused' in outcome) return failedAnnotation(annotationId, outcome.refused);
    const { reaction, added } = outcome;
    const success = { success: true, annotationId, message: 'Reaction added.' };
    // The comment must stay as it is: if another request has deleted the reaction, a new reference would have no reaction.
    if (added.length === 0) return success;
    if (target && !targets.changeReferences(target.comment, (references) => addReference(references, reaction)))
      return failedAnnotation(annotationId, 'Comment has too many reactions.');
    const value = { ...scope, ...reaction };
    ops.push(insertOrReplace(ReactionEntity, value, stored));
    if (!stored) {
      const recordId = recordIdKey('reaction', annotationId, documentId);
      ops.push(claimRecordId(scope, recordId, reaction.createdAt, position));
    }
    for (const user of added) {
      const involvement = { ...reactionInvolvement(scope, reaction), userId: user.userId, at: now, made: true };
      ops.push(addInvolvement(scope, involvement));
      if (!target) continue;
      // The event names only the new user, because earlier events named the other users.
      const fromUsers = reaction.fromUsers.filter(({ from }) => from.userId === user.userId);
      const changed = targets.touch(target, now);
      ops.push(
        ...reactionEventOps(
          context,
          'reactionAdded',
          user,
          { reaction: { ...reaction, fromUsers }, target: changed },
          now,
        ),
      );
    }
    return success;
  });
  return { result, ops: [...ops, ...targets.ops(context)] };
}

function decideDeletion(
  context: DocumentContext,
  keys: readonly ReactionKey[],
  states: readonly ReactionState[],
  { actor: sentActor, onlyOf, now }: DeletionOptions,
): Decision<AnnotationResult[]> {
  const { scope, document } = context;
  const targets = new ChangedTargets();
  const ops: WriteOp[] = [];
  const result = keys.map(({ annotationId }, index): AnnotationResult => {
    const { reaction, target } = states[index] as ReactionState;
    if (!reaction) return failedAnnotation(annotationId, 'Reaction does not exist.');
    const fromUsers = reaction.fromUsers.filter(({ from }) => onlyOf === undefined || from.userId === onlyOf);
    if (fromUsers.length < reaction.fromUsers.length)
      ops.push(...reactionUserRemovalOps(scope, reaction, fromUsers, now));
    else {
      ops.push(...reactionDeletionOps(scope, document.documentId, [reaction]));
      if (target)
        targets.changeReferences(target.comment, (references) => references.filter(({ id }) => id !== annotationId));
    }
    const actor = sentActor ?? fromUsers[0]?.from;
    if (target && actor && fromUsers.length > 0) {
      // The event names only the users who are removed.
      const changed = { reaction: { ...reaction, fromUsers }, target: targets.touch(target, now) };
      ops.push(...reactionEventOps(context, 'reactionDeleted', actor, changed, now));
    }
    return { success: true, annotationId, message: 'Reaction deleted.' };
  });
  return { result, ops: [...ops, ...targets.ops(context)] };
}

/** The comments whose reactions one transaction changes, and the thread of these comments. */
class ChangedTargets {
  readonly #comments = new Map<string, Stored<Comment>>();
  #thread: Stored<Thread> | undefined;

  /**
   * Gives the thread a new `lastUpdated`, so that clients that poll for changes find the thread. A transaction changes only one
   * thread. Returns the thread, and the comment with the changes that this object has recorded for it.
   */
  touch({ thread, comment }: Target, now: number): Target {
    this.#thread ??= { ...thread, lastUpdated: Math.max(now, thread.lastUpdated) };
    return { thread: this.#thread, comment: this.#current(comment) };
  }

  /** Changes the reactions of a comment. If `change` returns undefined, changes nothing and returns false. */
  changeReferences(
    comment: Stored<Comment>,
    change: (references: readonly ReactionReference[]) => readonly ReactionReference[] | undefined,
  ): boolean {
    const before = this.#current(comment).reactions ?? [];
    const after = change(before);
    if (after && after !== before) this.#comments.set(keyOf(comment), { ...comment, reactions: [...after] });
    return after !== undefined;
  }

  #current(comment: Stored<Comment>): Stored<Comment> {
    return this.#comments.get(keyOf(comment)) ?? comment;
  }

  ops({ scope }: DocumentContext): WriteOp[] {
    const thread = this.#thread;
    return [
      ...(thread ? [replace(ThreadEntity, { ...scope, ...thread }, thread._r)] : []),
      ...[...this.#comments.values()].map((comment) => replace(CommentEntity, { ...scope, ...comment }, comment._r)),
    ];
  }
}

function keyOf({ annotationId, commentId }: Comment): string {
  return JSON.stringify([annotationId, commentId]);
}

/** Returns the operations that emit the event of a reaction to a comment. */
function reactionEventOps(
  context: DocumentContext,
  verb: 'reactionAdded' | 'reactionDeleted',
  actor: ContentUser,
  { reaction, target }: { readonly reaction: Reaction; readonly target: Target },
  now: number,
): WriteOp[] {
  const names = { apiKey: context.scope.tenant, organizationId: context.organization.organizationId };
  const change = {
    verb,
    actor,
    ...target,
    revision: JSON.stringify([reaction.annotationId, actor.userId]),
    reaction: toReactionResponse(names, reaction),
    notify: true,
    log: false,
  };
  return changeEventOps(context, [change], () => false, now);
}

/** Merges all steps of the same reaction into one step with all their users. */
function mergeSteps(steps: readonly ReactionStep[]): ReactionStep[] {
  return [...Map.groupBy(steps, ({ annotationId }) => annotationId).values()].map((stepsOfReaction) => ({
    ...(stepsOfReaction[0] as ReactionStep),
    stepUsers: stepsOfReaction.flatMap(({ stepUsers }) => stepUsers),
  }));
}

/** Returns a key for the record that every change of a reaction writes: the thread of its comment, or the reaction itself. */
function lockOf(annotationId: string, on: CommentReference | undefined): string {
  return JSON.stringify(on ? ['thread', on.annotationId] : ['reaction', annotationId]);
}

/**
 * Divides items into waves of transactions, which are written one wave after another. Items with the same lock write the same
 * record, so a wave has only one transaction for them. If they have too many operations for one transaction (`countOps`), the
 * remaining items are in later waves.
 */
function groupIntoWaves<T>(items: readonly T[], lock: (item: T) => string, countOps: (item: T) => number): T[][][] {
  const waves: T[][][] = [];
  for (const itemsOfLock of Map.groupBy(items, lock).values()) {
    let [wave, room] = [-1, 0];
    for (const item of itemsOfLock) {
      if (wave < 0 || countOps(item) > room) {
        wave += 1;
        // One operation is reserved for the thread.
        room = OPS_PER_TRANSACTION - 1;
        (waves[wave] ??= []).push([]);
      }
      waves[wave]?.at(-1)?.push(item);
      room -= countOps(item);
    }
  }
  return waves;
}

export const addReactions: Capability<Pick<ReactionWriter, 'add'>> = /* @__PURE__ */ storeCapability(ReactionWriter, [
  'BatchGetItem',
  'PutItem',
]);

export const deleteReactions: Capability<Pick<ReactionWriter, 'delete'>> = /* @__PURE__ */ storeCapability(
  ReactionWriter,
  ['BatchGetItem', 'PutItem', 'DeleteItem'],
);
