import type { ContentUser } from '../../content/rules/contentUser.ts';
import type { ResponseNames } from '../../content/rules/eventMetadata.ts';
import {
  addReactionUsers,
  addReference,
  type CommentReference,
  type Reaction,
  type ReactionReference,
  type ReactionRequest,
  toReactionResponse,
} from '../../reactions/rules.ts';
import { pickFields } from '../../shared/jsonFields.ts';
import type { Comment } from './comments.ts';
import {
  type Change,
  type Decided,
  decideEach,
  type Refusals,
  type StoredParts,
  type ThreadParts,
} from './threadParts.ts';

export interface ReactionStep extends ReactionRequest {
  readonly user: ContentUser;
}

interface ReactionOptions {
  readonly names: ResponseNames & { readonly documentId: string };
  readonly now: number;
}

export const REACTION_BUSY = 'Reaction is being changed by another request.';

/** The reactions are on comments of one thread or on the document. */
export function decideReactionAddition(
  before: StoredParts,
  steps: readonly ReactionStep[],
  { isReadable, ...options }: ReactionOptions & { readonly isReadable: (comment: Comment) => boolean },
): Decided<Refusals> {
  return decideEach(before, steps, (current, step) => {
    const { annotationId, user } = step;
    const stored = current.reactions.find((reaction) => reaction.annotationId === annotationId);
    const requested = (stored ?? step).on;
    const comment = findTarget(current, requested);
    if (requested && !(comment && isReadable(comment))) return 'Comment does not exist.';
    const context = {
      documentId: options.names.documentId,
      on: comment && pickFields(comment, ['annotationId', 'commentId', 'threadCreatedAt']),
      threadLocation: comment && before.thread?.location,
    };
    const outcome = addReactionUsers(stored, step, [user], context, options.now);
    if ('refused' in outcome) return outcome.refused;
    if (isOnOtherThread(before, comment)) return REACTION_BUSY;
    const { reaction, added } = outcome;
    // Without a new user, no write checks the revision of the reaction, so a new reference in the comment could outlive
    // the reaction.
    if (added.length === 0) return { after: current, events: [] };
    const references = addReference(comment?.reactions ?? [], reaction);
    if (!references) return 'Comment has too many reactions.';
    // The event names only the new user, because earlier events named the other users.
    const fromUsers = reaction.fromUsers.filter(({ from }) => from.userId === user.userId);
    const after = withReaction(current, stored, reaction, references);
    return withEvent(after, 'reactionAdded', user, { ...reaction, fromUsers }, options);
  });
}

/** The default actor of an event is the first removed user. */
export function decideReactionDeletion(
  before: StoredParts,
  keys: readonly { readonly annotationId: string }[],
  {
    actor,
    onlyOf,
    ...options
  }: ReactionOptions & { readonly actor: ContentUser | undefined; readonly onlyOf?: string | undefined },
): Decided<Refusals> {
  return decideEach(before, keys, (current, { annotationId }) => {
    const reaction = current.reactions.find((stored) => stored.annotationId === annotationId);
    if (!reaction) return 'Reaction does not exist.';
    if (isOnOtherThread(before, findTarget(current, reaction.on))) return REACTION_BUSY;
    const removed = reaction.fromUsers.filter(({ from }) => onlyOf === undefined || from.userId === onlyOf);
    const fromUsers = reaction.fromUsers.filter((user) => !removed.includes(user));
    const next = fromUsers.length > 0 ? { ...reaction, fromUsers, lastUpdated: options.now } : undefined;
    const after = withReaction(current, reaction, next);
    const [first] = removed;
    if (!first) return { after, events: [] };
    return withEvent(after, 'reactionDeleted', actor ?? first.from, { ...reaction, fromUsers: removed }, options);
  });
}

/** Replaces, adds or deletes a reaction. By default, only a deletion changes the references in its comment. */
export function withReaction(
  parts: ThreadParts,
  before: Reaction | undefined,
  after: Reaction | undefined,
  references?: readonly ReactionReference[],
): ThreadParts {
  const target = findTarget(parts, (after ?? before)?.on);
  const stored = target?.reactions ?? [];
  const reactions = references ?? (after ? stored : stored.filter(({ id }) => id !== before?.annotationId));
  const others = parts.reactions.filter((reaction) => reaction !== before);
  return {
    ...parts,
    reactions: after ? [...others, after] : others,
    comments:
      reactions.length === stored.length
        ? parts.comments
        : parts.comments.map((comment) => (comment === target ? { ...comment, reactions: [...reactions] } : comment)),
  };
}

/** The thread gets a new `lastUpdated`, so that clients that poll find it. */
function withEvent(
  parts: ThreadParts,
  verb: 'reactionAdded' | 'reactionDeleted',
  actor: ContentUser,
  reaction: Reaction,
  { names, now }: ReactionOptions,
): Change {
  const comment = findTarget(parts, reaction.on);
  if (!comment || !parts.thread) return { after: parts, events: [] };
  const thread = { ...parts.thread, lastUpdated: Math.max(now, parts.thread.lastUpdated) };
  const event = {
    verb,
    actor,
    thread,
    comment,
    revision: JSON.stringify([reaction.annotationId, actor.userId]),
    reaction: toReactionResponse(names, reaction),
    notify: true,
    log: false,
  };
  return { after: { ...parts, thread }, events: [event] };
}

function findTarget(
  { comments }: ThreadParts,
  on: (CommentReference & { readonly threadCreatedAt?: number }) | undefined,
): Comment | undefined {
  return comments.find(
    ({ annotationId, commentId, threadCreatedAt }) =>
      annotationId === on?.annotationId &&
      commentId === on.commentId &&
      threadCreatedAt === (on.threadCreatedAt ?? threadCreatedAt),
  );
}

/** Another request has deleted the reaction and added it again on another thread. */
function isOnOtherThread({ thread }: ThreadParts, comment: Comment | undefined): boolean {
  return comment !== undefined && comment.annotationId !== thread?.annotationId;
}
