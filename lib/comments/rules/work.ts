import type { Work } from '../../app/rules/limits.ts';
import { limits } from '../../shared/schema.ts';
import type { NewComment } from './commentRequests.ts';
import type { NewThread } from './threadRequests.ts';

const ITEMS_PER_THREAD = 4;
const ITEMS_PER_COMMENT = 2;

interface Mentions {
  readonly to?: readonly unknown[] | undefined;
  readonly taggedUserContacts?: readonly unknown[] | undefined;
}

function itemsOfComment({ to = [], taggedUserContacts = [] }: Mentions): number {
  return ITEMS_PER_COMMENT + to.length + taggedUserContacts.length;
}

function itemsOfComments(comments: readonly Mentions[]): number {
  return comments.reduce((sum, comment) => sum + itemsOfComment(comment), 0);
}

const hasEvent = ({ triggerNotification }: { readonly triggerNotification?: boolean | undefined }) =>
  triggerNotification === true;

export function workOfThreads(threads: readonly Pick<NewThread, 'commentData'>[]): Work {
  return {
    items: threads.reduce((sum, { commentData }) => sum + ITEMS_PER_THREAD + itemsOfComments(commentData), 0),
    events: threads.filter(({ commentData }) => commentData.some(hasEvent)).length,
  };
}

export function workOfComments(comments: readonly NewComment[]): Work {
  return { items: ITEMS_PER_THREAD + itemsOfComments(comments), events: comments.filter(hasEvent).length };
}

interface Changes {
  /** Without ids, a call can change 500 records. */
  readonly ids: readonly unknown[] | undefined;
  readonly change?: Mentions | undefined;
  readonly triggerNotification?: boolean | undefined;
}

export function workOfChanges({ ids, change = {}, triggerNotification }: Changes): Work {
  const count = ids?.length ?? limits.list;
  return { items: count * itemsOfComment(change), events: hasEvent({ triggerNotification }) ? count : 0 };
}
