import * as Y from 'yjs';

/** A shared type. Its class does not matter, because clients can give a type another class. Readers therefore use its items. */
export type Shared = Y.AbstractType<unknown>;

/** Returns the root type with this name. Returns undefined if nothing was ever written to it. */
export function rootOf(doc: Y.Doc, name: string): Shared | undefined {
  return doc.share.get(name) as Shared | undefined;
}

/** Yields the items of a list in order, without deleted items. Formatting marks are items too. */
export function* itemsOf(list: Shared): Generator<Y.Item> {
  for (let item = list._start; item !== null; item = item.right) if (!item.deleted) yield item;
}

/**
 * Returns the keys of a map, or the attributes of an element, each with its item. Keys are in the order in which they
 * were first written.
 */
export function entriesOf(map: Shared): [string, Y.Item][] {
  return [...map._map]
    .filter(([, item]) => !item.deleted)
    .map(([key, item]) => ({ key, item, first: firstItemOf(item).id }))
    .sort((a, b) => a.first.client - b.first.client || a.first.clock - b.first.clock)
    .map(({ key, item }) => [key, item]);
}

/** Returns the oldest item that was stored under the same key as `item`. */
function firstItemOf(item: Y.Item): Y.Item {
  let first = item;
  while (first.left) first = first.left;
  return first;
}

/** Returns the value that an item of a map stores: a shared type or a plain value. Returns undefined for a deleted item. */
export function valueOf(item: Y.Item | undefined): unknown {
  if (!item || item.deleted) return undefined;
  return item.content instanceof Y.ContentType ? item.content.type : item.content.getContent()[item.length - 1];
}

/** Returns whether an item is content of a text: characters, a formatting mark or an embedded object. */
export function isText({ content }: Y.Item): boolean {
  return content instanceof Y.ContentString || content instanceof Y.ContentFormat || content instanceof Y.ContentEmbed;
}
