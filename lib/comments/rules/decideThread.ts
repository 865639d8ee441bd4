import { readJson } from '../../shared/jsonFields.ts';
import type { ChangeOptions } from './changeOptions.ts';
import { type ContentChange, detectThreadChanges } from './commentEvents.ts';
import { parseAgent } from './commentRequests.ts';
import { changeThread, newThread, type Refused } from './threadChanges.ts';
import { type Decided, type ExistingThread, NO_PARTS, unchanged } from './threadParts.ts';
import type { NewThread, ThreadChange } from './threadRequests.ts';
import type { Thread } from './threads.ts';

export interface ThreadAdded {
  readonly success: boolean;
  readonly annotationId: string;
  readonly commentIds: number[];
  readonly message: string;
  readonly findingId?: string | undefined;
}

/** Returns the addition of a thread that does not exist yet, or why it is refused. */
export function decideThreadAddition(
  sent: NewThread,
  context: {
    readonly annotationId: string;
    readonly documentId: string;
    readonly now: number;
    readonly byUser: boolean;
  },
): Decided<ThreadAdded> | Refused {
  const added = newThread(sent, context);
  if ('refused' in added) return added;
  const { thread, comments } = added;
  const agent = readJson<Record<string, unknown>>(comments[0]?.agent);
  const event: ContentChange = {
    verb: 'newlyAdded',
    actor: thread.from,
    thread,
    revision: 1,
    comment: comments[0],
    comments,
    notify: sent.commentData.some(({ triggerNotification }) => triggerNotification),
    log: sent.commentData.some(({ triggerActivities }) => triggerActivities),
  };
  return {
    after: { thread, comments, reactions: [] },
    events: [event],
    result: {
      success: true,
      annotationId: thread.annotationId,
      commentIds: comments.map(({ commentId }) => commentId),
      message: 'Added Successfully',
      findingId: agent && parseAgent(agent).reason.findingId,
    },
  };
}

/** The number is reserved later than the other fields are known. */
export function withNumber<R>({ after, events, result }: Decided<R>, annotationNumber: number): Decided<R> {
  const thread = { ...(after.thread as Thread), annotationNumber };
  return { after: { ...after, thread }, events: events.map((event) => ({ ...event, thread })), result };
}

/** `before` must have the first comment if `change` assigns, because this comment involves the assignee. */
export function decideThreadUpdate(
  before: ExistingThread,
  change: ThreadChange,
  options: ChangeOptions,
): Decided<undefined> | Refused {
  const { thread } = before;
  const { actor = thread.from, now, byUser } = options;
  const next = changeThread(thread, change, { actorId: options.actor?.userId, now, byUser });
  if ('refused' in next) return next;
  const sameTime = { ...next, lastUpdated: change.lastUpdated ?? thread.lastUpdated };
  if (JSON.stringify(sameTime) === JSON.stringify(thread)) return unchanged(before, undefined);
  const changed = { ...options, actor, thread: next, revision: thread._r + 1 };
  return {
    after: { ...before, thread: next },
    events: detectThreadChanges(thread, next).map((field): ContentChange => ({ ...changed, ...field })),
    result: undefined,
  };
}

export function decideThreadDeletion(
  { thread, comments }: ExistingThread,
  { actor = thread.from, notify, log }: Pick<ChangeOptions, 'actor' | 'notify' | 'log'>,
): Decided<undefined> {
  const comment = thread.commentCount === 1 ? comments[0] : undefined;
  const revision = thread._r;
  return {
    after: NO_PARTS,
    events: [{ verb: 'deleted', isThreadDeletion: true, actor, thread, revision, comment, comments, notify, log }],
    result: undefined,
  };
}
