import { addedAtOf, type Comment } from './comments.ts';
import { participantsOf, type Thread } from './threads.ts';

/** Of the threads in one item, by `annotationNumber`, epoch ms. */
export type ViewTimes = Readonly<Record<string, number>>;

/** 32 times and their keys stay below 1 KB, so a view costs one write unit. */
const THREADS_PER_PART = 32;

export function viewPart(annotationNumber: number): number {
  return Math.floor(annotationNumber / THREADS_PER_PART);
}

type ViewedThread = Pick<Thread, 'annotationNumber' | 'lastUpdated' | 'participants'>;

/**
 * Returns the same object if nothing changes. An older view never replaces a newer one. Neither does a view of a thread
 * that has not changed since the stored one: a page that reports a view at each hint would otherwise get another hint.
 */
export function withViews(stored: ViewTimes, threads: readonly ViewedThread[], viewedAt: number): ViewTimes {
  const added = threads.flatMap(({ annotationNumber, ...thread }) => {
    if (annotationNumber === undefined) return [];
    const before = stored[annotationNumber];
    const isNewer = before === undefined || (before < viewedAt && hasChangedSince(thread, before));
    return isNewer ? [[annotationNumber, viewedAt] as const] : [];
  });
  return added.length === 0 ? stored : { ...stored, ...Object.fromEntries(added) };
}

/** Requests can send an old `lastUpdated`. */
function hasChangedSince(thread: Pick<Thread, 'lastUpdated' | 'participants'>, at: number): boolean {
  return thread.lastUpdated > at || participantsOf(thread).some(([, , , addedAt = -1]) => addedAt > at);
}

export function viewsAfter(views: ViewTimes, removedAt: number): ViewTimes {
  return Object.fromEntries(Object.entries(views).filter(([, viewedAt]) => viewedAt > removedAt));
}

/**
 * Returns the later of the user's view and own last comment, epoch ms, or -1 if there is neither. Writing a comment
 * counts as a view. `thread` is the head as it is stored. The user's `comments` count too, because heads from before
 * `addedAt` do not have the time.
 */
export function lastSeenAt(
  thread: Pick<Thread, 'participants'>,
  userId: string,
  viewedAt: number | undefined,
  comments: readonly Comment[] = [],
): number {
  const [, , , addedAt = -1] = participantsOf(thread).find(([id]) => id === userId) ?? [];
  const own = comments.filter(({ from }) => from.userId === userId).map(addedAtOf);
  return Math.max(viewedAt ?? -1, addedAt, ...own);
}

/** Returns the comments of others that were added after `seenAt`, in the order of their ids. Edits do not count. */
export function unreadComments(comments: readonly Comment[], userId: string, seenAt: number): Comment[] {
  return comments
    .filter((comment) => comment.from.userId !== userId && addedAtOf(comment) > seenAt)
    .toSorted((a, b) => a.commentId - b.commentId);
}

/** False if the head shows that nobody else has added a comment after `seenAt`. */
export function mayBeUnread(thread: Pick<Thread, 'participants'>, userId: string, seenAt: number): boolean {
  return participantsOf(thread).some(
    ([id, wrote, , addedAt = Infinity]) => id !== userId && wrote > 0 && addedAt > seenAt,
  );
}
