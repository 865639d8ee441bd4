import type { Reaction } from '../../reactions/rules.ts';
import type { ContentChange } from './commentEvents.ts';
import type { Comment } from './comments.ts';
import type { Thread } from './threads.ts';

type Revised<T> = T & { readonly _r: number };

/** The comments and reactions are those that a command concerns. A reaction to a document has no thread. */
export interface ThreadParts {
  readonly thread?: Thread | undefined;
  readonly comments: readonly Comment[];
  readonly reactions: readonly Reaction[];
}

export interface StoredParts extends ThreadParts {
  readonly thread?: Revised<Thread> | undefined;
  readonly comments: readonly Revised<Comment>[];
  readonly reactions: readonly Revised<Reaction>[];
}

export interface ExistingThread extends StoredParts {
  readonly thread: Revised<Thread>;
}

/** A part that stays is the same object as before. A deleted part is missing. */
export interface Change {
  readonly after: ThreadParts;
  readonly events: readonly ContentChange[];
}

/**
 * What a command does to a thread. A decision is pure, because it is repeated with newly read parts after a conflict.
 */
export interface Decided<R> extends Change {
  readonly result: R;
}

export const NO_PARTS = { comments: [], reactions: [] } as const satisfies ThreadParts;

export function unchanged<R>(before: ThreadParts, result: R): Decided<R> {
  return { after: before, events: [], result };
}

/** For each step of a command, why it is refused, or undefined. A refused step changes nothing. */
export type Refusals = readonly (string | undefined)[];

export function decideEach<S>(
  before: ThreadParts,
  steps: readonly S[],
  decide: (current: ThreadParts, step: S) => Change | string,
): Decided<Refusals> {
  let after = before;
  const events: ContentChange[] = [];
  const result = steps.map((step) => {
    const change = decide(after, step);
    if (typeof change === 'string') return change;
    after = change.after;
    events.push(...change.events);
    return undefined;
  });
  return { after, events, result };
}
