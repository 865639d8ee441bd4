import type { Capability } from '../app/capability.ts';
import type { DocumentContext } from '../content/documentScope.ts';
import { findRecordIds, recordIdKey, type RecordPosition } from '../content/recordIds.ts';
import type { ContentUser } from '../content/rules/contentUser.ts';
import { ReactionEntity } from '../reactions/reactions.ts';
import type { CommentReference, Reaction, ReactionRequest } from '../reactions/rules.ts';
import { distinct, distinctBy } from '../shared/collections.ts';
import { readDefined } from '../shared/readDefined.ts';
import { type AnnotationResult, failedAnnotation } from '../shared/results.ts';
import type { Stored } from '../table/entity.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { OPS_PER_TRANSACTION, type Table } from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';
import { openTarget } from './commitTarget.ts';
import { type LoadedParts, threadTransaction } from './commitThread.ts';
import type { Comment } from './rules/comments.ts';
import {
  decideReactionAddition,
  decideReactionDeletion,
  REACTION_BUSY,
  type ReactionStep,
} from './rules/decideReactions.ts';
import type { Decided, Refusals } from './rules/threadParts.ts';
import type { Thread } from './rules/threads.ts';
import { ThreadReader } from './threads.ts';

/** `on` is the comment, if the request names it. */
interface ReactionKey {
  readonly annotationId: string;
  readonly on?: CommentReference | undefined;
}

/** `target` is the comment that the reaction is on, or will be on. */
interface ReactionState {
  readonly position: Stored<RecordPosition> | undefined;
  readonly reaction: Stored<Reaction> | undefined;
  readonly target: { readonly thread: Stored<Thread>; readonly comment: Stored<Comment> } | undefined;
}

interface AdditionOptions {
  readonly isReadable: (comment: Comment) => boolean;
  readonly now: number;
}

/** If `onlyOf` is given, only this user is removed. A reaction is deleted only if it has no other user. */
interface DeletionOptions {
  readonly actor: ContentUser | undefined;
  readonly onlyOf?: string | undefined;
  readonly now: number;
}

/** Reaction, its id, involvement, comment, and the two items of an event. */
const OPS_PER_USER = 6;
/** Reaction, its id, comment, and the two items of an event. There is one more per user. */
const OPS_PER_DELETION = 5;

interface ReactionCommand<K> {
  readonly countOps: (stored: Reaction | undefined) => number;
  readonly decide: (before: LoadedParts, group: readonly K[]) => Decided<Refusals>;
}

export class ReactionWriter {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Adds reactions, or users to existing reactions. Returns one result per reaction. An unreadable comment is treated
   * like one that does not exist.
   */
  async add(
    context: DocumentContext,
    reactions: readonly ReactionRequest[],
    options: AdditionOptions,
  ): Promise<AnnotationResult[]> {
    const steps = reactions.flatMap((request) => request.users.map((user): ReactionStep => ({ ...request, user })));
    const decideOptions = { ...options, names: namesOf(context) };
    const refusals = await this.#write(context, steps, options.now, {
      countOps: () => OPS_PER_USER,
      decide: (before, group) => decideReactionAddition(before, group, decideOptions),
    });
    return reactions.map(({ annotationId }) => toResult(annotationId, refusals, 'Reaction added.'));
  }

  /** Deletes reactions with distinct ids. Returns one result per reaction. */
  async delete(
    context: DocumentContext,
    annotationIds: readonly string[],
    options: DeletionOptions,
  ): Promise<AnnotationResult[]> {
    const keys = annotationIds.map((annotationId) => ({ annotationId }));
    const decideOptions = { ...options, names: namesOf(context) };
    const refusals = await this.#write(context, keys, options.now, {
      countOps: (reaction) => OPS_PER_DELETION + (reaction?.fromUsers.length ?? 0),
      decide: (before, group) => decideReactionDeletion(before, group, decideOptions),
    });
    return annotationIds.map((annotationId) => toResult(annotationId, refusals, 'Reaction deleted.'));
  }

  /** Returns the first reason why a reaction is refused, by id. */
  async #write<K extends ReactionKey>(
    context: DocumentContext,
    steps: readonly K[],
    now: number,
    { countOps, decide }: ReactionCommand<K>,
  ): Promise<ReadonlyMap<string, string>> {
    const target = await openTarget(this.#table, context, { log: false, now });
    const firstRead = await this.#read(context, steps);
    const waves = groupIntoWaves(
      steps,
      ({ annotationId, on }) => lockOf(annotationId, on ?? firstRead.get(annotationId)?.reaction?.on),
      ({ annotationId }) => countOps(firstRead.get(annotationId)?.reaction),
    );
    const refusals = new Map<string, string>();
    let known: typeof firstRead | undefined = firstRead;
    for (const wave of waves) {
      const written = await writeEach<readonly K[], LoadedParts, Refusals>({
        table: this.#table,
        items: wave,
        read: async (groups) => {
          const states = known ?? (await this.#read(context, groups.flat()));
          known = undefined;
          return groups.map((group) => partsOf(group, states));
        },
        decide: (group, before) => {
          const decided = decide(before, group);
          return { result: decided.result, ops: threadTransaction(target, before, decided).ops };
        },
        conflicted: (group) => group.map(() => REACTION_BUSY),
      });
      for (const [index, { annotationId }] of wave.flat().entries()) {
        const refused = written.flat()[index];
        if (refused !== undefined && !refusals.has(annotationId)) refusals.set(annotationId, refused);
      }
    }
    return refusals;
  }

  async #read(
    { scope, document }: DocumentContext,
    steps: readonly ReactionKey[],
  ): Promise<ReadonlyMap<string, ReactionState>> {
    const keys = distinctBy(steps, ({ annotationId }) => annotationId);
    const { tenant, organizationKey } = scope;
    const within = document.documentId;
    const threadIds = distinct(keys.flatMap(({ on }) => on?.annotationId ?? []));
    // The position can belong to a deleted document with the same id. No reaction is then found.
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
    return new Map(
      keys.map(({ annotationId }, index) => [
        annotationId,
        { position: positions[index], reaction: reactions[index], target: targets[index] },
      ]),
    );
  }
}

/** The steps change the same thread, or the same reaction to the document. */
function partsOf(steps: readonly ReactionKey[], stored: ReadonlyMap<string, ReactionState>): LoadedParts {
  const ids = distinct(steps.map(({ annotationId }) => annotationId));
  const states = ids.flatMap((id) => stored.get(id) ?? []);
  const targets = states.flatMap(({ target }) => target ?? []);
  const threadId = [...steps, ...states.map(({ reaction }) => reaction)].find((of) => of?.on)?.on?.annotationId;
  return {
    thread: targets.find(({ thread }) => thread.annotationId === threadId)?.thread,
    comments: distinctBy(
      targets.map(({ comment }) => comment),
      (comment) => JSON.stringify([comment.annotationId, comment.commentId]),
    ),
    reactions: states.flatMap(({ reaction }) => reaction ?? []),
    positions: new Map(ids.map((id) => [id, stored.get(id)?.position])),
  };
}

function toResult(annotationId: string, refusals: ReadonlyMap<string, string>, message: string): AnnotationResult {
  const refused = refusals.get(annotationId);
  return refused === undefined ? { success: true, annotationId, message } : failedAnnotation(annotationId, refused);
}

function namesOf({ scope, organization, document }: DocumentContext) {
  return { apiKey: scope.tenant, organizationId: organization.organizationId, documentId: document.documentId };
}

/** The record that every change of a reaction writes: the thread of its comment, or the reaction itself. */
function lockOf(annotationId: string, on: CommentReference | undefined): string {
  return JSON.stringify(on ? ['thread', on.annotationId] : ['reaction', annotationId]);
}

/**
 * Items with the same lock write the same record. A wave has one transaction for them, and later waves have what did
 * not fit (`countOps`).
 */
function groupIntoWaves<T>(items: readonly T[], lock: (item: T) => string, countOps: (item: T) => number): T[][][] {
  const waves: T[][][] = [];
  for (const itemsOfLock of Map.groupBy(items, lock).values()) {
    let [wave, room] = [-1, 0];
    for (const item of itemsOfLock) {
      if (wave < 0 || countOps(item) > room) {
        wave += 1;
        // One operation is for the thread.
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
