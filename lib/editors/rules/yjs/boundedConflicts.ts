import * as Y from 'yjs';
import { crdtLimits } from './values.ts';

/** There are more concurrent changes in one place than Yjs can put in order in bounded time. */
export class TooManyConflicts extends Error {}

/**
 * Runs `work`, which opens documents, and bounds the steps that its conflicts take together. To find the position of
 * a struct, Yjs passes everything that others inserted between its neighbours: n structs can take n * n steps. Throws
 * TooManyConflicts. Discard the documents then.
 */
export function withBoundedConflicts<T>(work: () => T): T {
  let steps: number = crdtLimits.conflictSteps;
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is called with the item as `this`
  const { integrate } = Y.Item.prototype;
  Y.Item.prototype.integrate = function integrateBounded(transaction, offset) {
    if (offset === 0) steps -= countConflicts(this, steps);
    if (steps < 0) throw new TooManyConflicts();
    integrate.call(this, transaction, offset);
  };
  try {
    return work();
  } catch (error) {
    // `openDocument` turns this error into another one.
    throw steps < 0 ? new TooManyConflicts() : error;
  } finally {
    Y.Item.prototype.integrate = integrate;
  }
}

/** Returns how many structs Yjs passes to find the position of an item. The count stops just above `most`. */
function countConflicts({ id, parent, parentSub, left, right, origin, rightOrigin }: Y.Item, most: number): number {
  if (!(parent instanceof Y.AbstractType)) return 0;
  let steps = 0;
  let next = left ? left.right : firstItem(parent, parentSub);
  if (!left && parentSub !== null) for (; next?.left && steps <= most; steps++) next = next.left;
  for (; next && next !== right && steps <= most; steps++) {
    const isSamePlace = Y.compareIDs(next.origin, origin) && Y.compareIDs(next.rightOrigin, rightOrigin);
    // Yjs stops here too.
    if (next.id.client >= id.client && isSamePlace) return steps + 1;
    next = next.right;
  }
  return steps;
}

function firstItem(parent: Y.AbstractType<unknown>, key: string | null): Y.Item | null {
  return key === null ? parent._start : (parent._map.get(key) ?? null);
}
