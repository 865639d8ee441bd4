import * as Y from 'yjs';
import { isText } from './sharedTypes.ts';

/**
 * An item is misplaced if its parent cannot hold it, or if it is not between its origins. Yjs would keep such an item
 * when its parent is deleted, delete other content together with a replaced value, or order items differently after the
 * document was stored. `before` is the document without the update.
 */
export function hasMisplacedItem({ store }: Y.Doc, before: Y.Doc): boolean {
  const positions = new ListPositions();
  for (const [client, structs] of store.clients) {
    const known = Y.getState(before.store, client);
    for (const item of structs) {
      if (!(item instanceof Y.Item)) continue;
      if (!item.deleted && !fitsParent(item)) return true;
      const isNew = item.id.clock + item.length > known;
      if (isNew && !isBetweenOrigins(item, store, positions)) return true;
    }
  }
  return false;
}

function fitsParent(item: Y.Item): boolean {
  const { parent, parentSub, right, length } = item;
  // Of the items under a key, only the last one is not deleted. It has one value.
  if (parentSub !== null) return right === null && length === 1;
  return parent instanceof Y.Array ? !isText(item) : !(parent instanceof Y.Map);
}

function isBetweenOrigins(item: Y.Item, store: Y.Doc['store'], positions: ListPositions): boolean {
  const { origin, rightOrigin } = item;
  return (
    (!origin || positions.isBefore(Y.getItem(store, origin), item)) &&
    (!rightOrigin || positions.isBefore(item, Y.getItem(store, rightOrigin)))
  );
}

class ListPositions {
  readonly #positions = new Map<Y.Item, { readonly first: Y.Item; readonly index: number }>();

  isBefore(left: Y.GC | Y.Item, right: Y.GC | Y.Item): boolean {
    const [before, after] = [this.#positionOf(left), this.#positionOf(right)];
    return before !== undefined && before.first === after?.first && before.index < after.index;
  }

  #positionOf(struct: Y.GC | Y.Item): { readonly first: Y.Item; readonly index: number } | undefined {
    if (!(struct instanceof Y.Item)) return undefined;
    if (!this.#positions.has(struct)) {
      let first = struct;
      while (first.left) first = first.left;
      let index = 0;
      for (let item: Y.Item | null = first; item; item = item.right)
        this.#positions.set(item, { first, index: index++ });
    }
    return this.#positions.get(struct);
  }
}
