import * as Y from 'yjs';
import { crdtLimits } from './values.ts';

export class TooManyConflicts extends Error {}

/**
 * To place a struct (a piece of content), Yjs passes all structs that other clients inserted at the same position: n
 * structs can take n²/2 steps. Documents that `work` opened must be discarded after TooManyConflicts.
 */
export function withBoundedConflicts<T>(work: () => T): T {
  let steps: number = crdtLimits.conflictSteps;

  // oxlint-disable-next-line typescript/unbound-method -- it is called with the item as `this`
  const { integrate } = Y.Item.prototype;
  Y.Item.prototype.integrate = function integrateBounded(transaction, offset) {
    if (offset === 0) steps -= countConflicts(this, steps);
    if (steps < 0) throw new TooManyConflicts();
    integrate.call(this, transaction, offset);
  };
  try {
    return work();
  } catch (error) {
    // `openDocument` and `readUpdate` turn TooManyConflicts into MalformedUpdate, so the class of the error does not
    // show why `work` ended.
    throw steps < 0 ? new TooManyConflicts() : error;
  } finally {
    Y.Item.prototype.integrate = integrate;
  }
}

/** Stops just above `limit`. */
function countConflicts({ id, parent, parentSub, left, right, origin, rightOrigin }: Y.Item, limit: number): number {
  if (!(parent instanceof Y.AbstractType)) return 0;
  let steps = 0;
  let next = left ? left.right : firstItem(parent, parentSub);
  if (!left && parentSub !== null) for (; next?.left && steps <= limit; steps++) next = next.left;
  for (; next && next !== right && steps <= limit; steps++) {
    const hasSameOrigins = Y.compareIDs(next.origin, origin) && Y.compareIDs(next.rightOrigin, rightOrigin);
    if (next.id.client >= id.client && hasSameOrigins) return steps + 1;
    next = next.right;
  }
  return steps;
}

function firstItem(parent: Y.AbstractType<unknown>, key: string | null): Y.Item | null {
  return key === null ? parent._start : (parent._map.get(key) ?? null);
}
