import * as Y from 'yjs';
import { crdtLimits } from './values.ts';

/** More changes in one place, made at the same time, than Yjs can put in order in bounded time. */
export class TooManyConflicts extends Error {}

/**
 * Does some work on documents, in which all conflicts together may take a bounded number of steps. To find the place of a struct, Yjs goes through
 * all that others inserted between its neighbours, so that n structs can take n * n steps. Throws TooManyConflicts; the documents
 * are then to be thrown away.
 */
export function withBoundedConflicts<T>(work: () => T): T {
  let steps: number = crdtLimits.conflictSteps;
  const { integrate } = Y.Item.prototype;
  Y.Item.prototype.integrate = function integrateBounded(transaction, offset) {
    if (offset === 0) steps -= conflictsOf(this, steps);
    if (steps < 0) throw new TooManyConflicts();
    return integrate.call(this, transaction, offset);
  };
  try {
    return work();
  } catch (error) {
    // Whoever opens a document makes another error of this one.
    throw steps < 0 ? new TooManyConflicts() : error;
  } finally {
    Y.Item.prototype.integrate = integrate;
  }
}

/** How many structs Yjs goes through to find the place of this one; just above `most` when there are more. */
function conflictsOf({ id, parent, parentSub, left, right, origin, rightOrigin }: Y.Item, most: number): number {
  if (!(parent instanceof Y.AbstractType)) return 0;
  let steps = 0;
  let next = left ? left.right : parentSub === null ? parent._start : (parent._map.get(parentSub) ?? null);
  if (!left && parentSub !== null) for (; next?.left && steps <= most; steps++) next = next.left;
  for (; next && next !== right && steps <= most; steps++) {
    // Here Yjs stops too.
    if (next.id.client >= id.client && Y.compareIDs(next.origin, origin) && Y.compareIDs(next.rightOrigin, rightOrigin))
      return steps + 1;
    next = next.right;
  }
  return steps;
}
